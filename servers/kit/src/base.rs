//! What all calls of a server share: the runner of programs and the readers of untrusted bytes, both started with the
//! first call that needs them.

use std::sync::{Arc, OnceLock};

use egress::process::Runner;
use reading::{Bounds, Readers};
use tokio::sync::OnceCell;

use crate::Fault;
use crate::fetch::{Fetched, Fetcher};

/// The most untrusted bytes of one call, which may be several documents. Each is checked when it is given.
const MAX_INPUT: u64 = 64 << 20;

/// The largest result that a reader gives back, in bytes; a prepared picture is larger than the one it was made of.
const MAX_RESULT: u64 = 64 << 20;

#[derive(Debug, Default)]
pub(crate) struct Base {
    runner: OnceCell<Arc<Runner>>,
    readers: OnceCell<Readers>,
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
            Ok(Arc::new(runner))
        };
        self.runner.get_or_try_init(start).await
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
