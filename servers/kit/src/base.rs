//! What all calls of a server share: the runner of programs and the readers of untrusted bytes, both started with the
//! first call that needs them.

use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;

use egress::process::Runner;
use reading::{Bounds, Readers};
use tokio::sync::{OnceCell, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::Fault;
use crate::fetch::{Fetched, Fetcher};
use crate::program::{self, Program, Ran, Task};

/// The most untrusted bytes of one call, which may be several documents. Each is checked when it is given.
const MAX_INPUT: u64 = 64 << 20;

/// The largest result that a reader gives back, in bytes; a prepared picture is larger than the one it was made of.
const MAX_RESULT: u64 = 64 << 20;

/// A program of a job may run for hours, and there are two jobs at once: neither must wait for the other.
const FEWEST_AT_ONCE: usize = 2;

#[derive(Debug, Default)]
pub(crate) struct Base {
    runner: OnceCell<Arc<Runner>>,
    readers: OnceCell<Readers>,
    /// One for each program that may run now; others wait.
    turns: OnceLock<Semaphore>,
    /// Set by servers that download files.
    pub(crate) fetcher: OnceLock<Fetcher>,
}

impl Base {
    pub(crate) async fn runner(&self) -> Result<&Arc<Runner>, Fault> {
        let start = || async {
            let runner = Runner::new().await.map_err(|error| {
                Fault::internal(format!("programs cannot be started here: {error}"))
            })?;
            runner.remove_leftovers().await;
            // Best effort: a panic was printed.
            let _ = tokio::task::spawn_blocking(program::remove_leftovers).await;
            Ok(Arc::new(runner))
        };
        self.runner.get_or_try_init(start).await
    }

    /// Runs a program to its end. Of many, as many run at once as there are processors: more would take each other's time
    /// until all of them miss their deadline.
    pub(crate) async fn run(
        &self,
        program: &Program,
        task: Task,
        cancel: &CancellationToken,
    ) -> Result<Ran, Fault> {
        let runner = self.runner().await?;
        let at_once = || available_parallelism().map_or(1, usize::from).max(FEWEST_AT_ONCE);
        let turns = self.turns.get_or_init(|| Semaphore::new(at_once()));
        let turn = turns.acquire().await;
        let _turn = turn.map_err(|error| Fault::internal(error.to_string()))?;
        program.run(runner, task, cancel).await
    }

    /// Downloads a file; `report` gets the part that has arrived.
    pub(crate) async fn fetch(
        &self,
        url: &str,
        report: impl Fn(f64) + Send,
    ) -> Result<Fetched, Fault> {
        match self.fetcher.get() {
            Some(fetcher) => fetcher.fetch(url, report).await,
            None => Err(Fault::unsupported("this server downloads nothing")),
        }
    }

    pub(crate) async fn readers(&self) -> Result<&Readers, Fault> {
        let start = || async {
            let runner = Arc::clone(self.runner().await?);
            // A server does not know whose documents it reads, so each has a reader of its own.
            let bounds =
                Bounds { input: MAX_INPUT, text: MAX_RESULT, documents: 1, ..Bounds::default() };
            Ok(Readers::new(runner, bounds))
        };
        self.readers.get_or_try_init(start).await
    }
}
