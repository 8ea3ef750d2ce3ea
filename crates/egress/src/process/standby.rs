//! Launchers, and the few that are started ahead of their run.
//!
//! Executing and linking our own executable costs more than all that a launcher does. Once
//! programs are being run, one launcher per kind of preparation is therefore kept ready for the next.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::runtime::{Handle, Id};
use tokio::sync::{Semaphore, oneshot};
use uuid::Uuid;

use super::{RUN_MARK, RunError, spawner};
use crate::sandbox::{LAUNCH, Network, Preparation};

/// The most standby launchers of all kinds together.
const MOST: usize = 2;

/// How long a standby launcher is kept.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// A launcher that prepares, or has prepared, one run and waits for its orders. Dropping it ends it.
pub(super) struct Launcher {
    pub(super) child: Child,
    /// The mark of the run that it will be.
    pub(super) run: String,
    /// The token that its failure messages begin with.
    pub(super) token: String,
}

impl Launcher {
    pub(super) async fn start(path: &Path, isolation: Option<Network>) -> Result<Self, RunError> {
        let (run, token) = (Uuid::new_v4().to_string(), Uuid::new_v4().to_string());
        let preparation =
            Preparation { parent: std::process::id(), token: token.clone(), isolation };
        let preparation = preparation.to_bytes().map_err(RunError::Launcher)?;
        let mut command = Command::new(path);
        command.arg(LAUNCH).env_clear().env(RUN_MARK, &run).current_dir("/").kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = spawner::spawn(command).await.map_err(RunError::Launcher)?;
        let mut launcher = Self { child, run, token };
        // A closed pipe means that it has ended; its exit status says more than the pipe error.
        let _ = launcher.tell(&preparation).await;
        Ok(launcher)
    }

    /// Writes to the launcher's stdin, which is the program's stdin after the orders.
    pub(super) async fn tell(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.child.stdin {
            Some(stdin) => stdin.write_all(bytes).await,
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

/// The standby launchers.
pub(super) struct Standbys {
    launcher: PathBuf,
    timeout: Duration,
    waiting: Mutex<Vec<Waiting>>,
    /// Held while a launcher is started, so that concurrent runs start only one.
    starting: Arc<Semaphore>,
}

struct Waiting {
    launcher: Launcher,
    isolation: Option<Network>,
    /// The runtime that its pipes belong to.
    runtime: Id,
    /// Dropped when the launcher is taken, which ends its expiry timer.
    _taken: oneshot::Sender<()>,
}

impl Standbys {
    pub(super) fn new(launcher: PathBuf, timeout: Duration) -> Arc<Self> {
        let starting = Arc::new(Semaphore::new(1));
        Arc::new(Self { launcher, timeout, waiting: Mutex::default(), starting })
    }

    /// The executable that all launchers run.
    pub(super) fn launcher(&self) -> &Path {
        &self.launcher
    }

    /// A running standby launcher with this preparation, if there is one.
    pub(super) fn take(&self, isolation: Option<Network>) -> Option<Launcher> {
        let runtime = Handle::current().id();
        loop {
            let mut launcher = {
                let mut waiting = self.lock();
                let fits = |it: &Waiting| it.isolation == isolation && it.runtime == runtime;
                let place = waiting.iter().position(fits)?;
                waiting.remove(place).launcher
            };
            if launcher.is_alive() {
                return Some(launcher);
            }
        }
    }

    /// Starts a standby launcher with this preparation in the background.
    pub(super) fn replenish(self: &Arc<Self>, isolation: Option<Network>) {
        let runtime = Handle::current().id();
        let fits = |it: &Waiting| it.isolation == isolation && it.runtime == runtime;
        if self.timeout.is_zero() || self.lock().iter().any(fits) {
            return;
        }
        let Ok(turn) = Arc::clone(&self.starting).try_acquire_owned() else { return };
        let (path, timeout) = (self.launcher.clone(), self.timeout);
        let standbys = Arc::downgrade(self);
        tokio::spawn(async move {
            let launcher = match Launcher::start(&path, isolation).await {
                Ok(launcher) => launcher,
                Err(error) => {
                    return tracing::debug!(%error, "no standby launcher could be started");
                }
            };
            let (taken, when_taken) = oneshot::channel();
            let watch = Watch { standbys, run: launcher.run.clone() };
            let Some(standbys) = watch.standbys.upgrade() else { return };
            let surplus = standbys.add(Waiting { launcher, isolation, runtime, _taken: taken });
            drop((turn, standbys));
            if let Some(mut surplus) = surplus {
                let _ = surplus.child.kill().await;
            }
            if tokio::time::timeout(timeout, when_taken).await.is_err()
                && let Some(mut unused) = watch.remove()
            {
                let _ = unused.child.kill().await;
            }
        });
    }

    /// Adds a launcher, and returns the oldest if there are too many.
    fn add(&self, new: Waiting) -> Option<Launcher> {
        let mut waiting = self.lock();
        waiting.push(new);
        (waiting.len() > MOST).then(|| waiting.remove(0).launcher)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Standbys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Standbys").field("launcher", &self.launcher).finish_non_exhaustive()
    }
}

/// Ends an unused launcher, at the latest when its runtime ends.
struct Watch {
    standbys: Weak<Standbys>,
    run: String,
}

impl Watch {
    fn remove(&self) -> Option<Launcher> {
        let standbys = self.standbys.upgrade()?;
        let mut waiting = standbys.lock();
        let place = waiting.iter().position(|it| it.launcher.run == self.run)?;
        Some(waiting.remove(place).launcher)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.remove());
    }
}
