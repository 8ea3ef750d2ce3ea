//! Starts a launcher, and ends it with all its processes.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::process::Child;
use tokio::runtime::Handle;
use tokio::time::timeout;

#[cfg(target_os = "linux")]
use super::reset::Run;
use super::scratch::{Scratch, Watch};
use super::standby::{Launcher, Standbys};
use super::{Exit, RUN_MARK, RunError, tree};
use crate::sandbox::{FAILED, Failure, Orders, Program, Step, Tier};

/// A launcher reads its orders at once; a host under heavy load gets this long.
const LISTENING: Duration = Duration::from_secs(10);

/// From SIGTERM to SIGKILL. Together with the time the kernel needs it stays below the promised second.
const GRACE: Duration = Duration::from_millis(400);

/// How often the tree is walked again while its processes are dying.
const STEP: Duration = Duration::from_millis(15);

/// How many walks a supervisor gets to clean up before it is killed too.
const WALKS: usize = 30;

/// A program made ready: found, its confinement decided.
pub(super) struct Ready {
    pub(super) program: Program,
    pub(super) orders: Orders,
    pub(super) scratch: Option<Scratch>,
    pub(super) tier: Tier,
}

impl Ready {
    /// Has the program started by a standby launcher if there is one, otherwise by a new one.
    pub(super) async fn launch_soon(
        mut self,
        standbys: &Arc<Standbys>,
    ) -> Result<Launched, RunError> {
        let isolation = self.orders.isolation();
        while let Some(mut launcher) = standbys.take(isolation) {
            // A standby launcher that has just ended is replaced: the program has not begun.
            if self.order(&mut launcher).await? {
                standbys.replenish(isolation);
                return Ok(self.launched(launcher));
            }
        }
        let launched = self.launch(standbys.launcher()).await?;
        standbys.replenish(isolation);
        Ok(launched)
    }

    /// Has the program started by a new launcher.
    pub(super) async fn launch(mut self, launcher: &Path) -> Result<Launched, RunError> {
        let mut launcher = Launcher::start(launcher, self.orders.isolation()).await?;
        // A new launcher that does not listen could not prepare: stderr says why when it is read.
        let _ = self.order(&mut launcher).await?;
        Ok(self.launched(launcher))
    }

    /// Sends the orders; false if the launcher has ended.
    async fn order(&mut self, launcher: &mut Launcher) -> Result<bool, RunError> {
        self.program.environment.insert(RUN_MARK.into(), launcher.run.clone().into());
        let orders = self.orders.to_bytes(&self.program).map_err(|error| RunError::Exec {
            program: self.program.path.clone(),
            reason: error.to_string(),
        })?;
        match timeout(LISTENING, launcher.tell(&orders)).await {
            Ok(sent) => Ok(sent.is_ok()),
            Err(_) => Err(RunError::Launcher(io::ErrorKind::TimedOut.into())),
        }
    }

    fn launched(self, launcher: Launcher) -> Launched {
        let Launcher { child, run, token } = launcher;
        let supervisor = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        // In a mount namespace the kernel limits the private folder.
        let unlimited = self.scratch.as_ref().filter(|_| self.orders.isolation().is_none());
        let watch = unlimited.zip(supervisor).map(|(scratch, supervisor)| {
            Watch::start(scratch.path(), supervisor, self.orders.limits.private_folder)
        });
        let inner = Some(Inner { child, supervisor, run, scratch: self.scratch });
        let isolated = self.orders.isolation().is_some();
        Launched { inner, token, folder: self.program.folder, tier: self.tier, watch, isolated }
    }
}

/// A supervisor and all below it. Dropping it kills them.
pub(super) struct Launched {
    inner: Option<Inner>,
    token: String,
    folder: Option<PathBuf>,
    pub(super) tier: Tier,
    watch: Option<Watch>,
    /// Whether the program lives in namespaces of its own.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has them"))]
    isolated: bool,
}

struct Inner {
    child: Child,
    supervisor: Option<Pid>,
    run: String,
    scratch: Option<Scratch>,
}

impl Launched {
    pub(super) fn child(&mut self) -> io::Result<&mut Child> {
        let inner = self.inner.as_mut();
        inner.map(|inner| &mut inner.child).ok_or_else(|| io::Error::other("already ended"))
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.inner.as_ref().and_then(|inner| inner.child.id())
    }

    /// Waits for the end; whatever the program left running is dead then.
    pub(super) async fn wait(&mut self) -> io::Result<Exit> {
        let status = self.child()?.wait().await?;
        if let Some(watch) = &self.watch {
            watch.stop();
        }
        if let Some(inner) = &self.inner {
            inner.after(Exit::of(status)).await;
        }
        Ok(Exit::of(status))
    }

    /// Ends all processes: with SIGTERM first if `grace` is set, then with SIGKILL.
    pub(super) async fn end(&mut self, grace: bool) {
        if let Some(inner) = &mut self.inner {
            inner.end(grace).await;
        }
    }

    /// Ends all but the program itself, and empties what it could write; false if something is left.
    #[cfg(target_os = "linux")]
    pub(super) async fn reset(&self) -> bool {
        match self.run() {
            Some(run) => run.reset().await,
            None => false,
        }
    }

    /// Whether only the program itself is alive, and all that it could write is empty.
    #[cfg(target_os = "linux")]
    pub(super) fn is_untouched(&self) -> bool {
        self.run().is_some_and(|run| run.is_untouched())
    }

    #[cfg(target_os = "linux")]
    fn run(&self) -> Option<Run<'_>> {
        let inner = self.inner.as_ref()?;
        let private_folder = inner.scratch.as_ref().map(Scratch::path);
        Some(Run { supervisor: inner.supervisor?, isolated: self.isolated, private_folder })
    }

    /// Other systems cannot list the program's processes, so it never counts as clean.
    #[cfg(not(target_os = "linux"))]
    pub(super) async fn reset(&self) -> bool {
        false
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn is_untouched(&self) -> bool {
        false
    }

    /// The launcher's report about a program that it could not start.
    pub(super) fn failure(&self, exit: Exit, stderr: &[u8], program: &OsStr) -> Option<RunError> {
        let failure = self.launch_failure(exit, stderr)?;
        let program = program.to_owned();
        Some(match failure.step {
            Step::Exec if failure.not_found => RunError::NotFound { program },
            Step::Exec => RunError::Exec { program, reason: failure.reason },
            Step::Folder => {
                RunError::WorkingFolder { path: self.folder.clone().unwrap_or_default() }
            }
            Step::Digest => RunError::Changed { program },
            step => RunError::Sandbox { reason: format!("{step:?}: {}", failure.reason) },
        })
    }

    /// The limit of the private folder, if the program was ended for passing it.
    pub(super) fn folder_full(&self) -> Option<u64> {
        self.watch.as_ref().and_then(Watch::passed)
    }

    pub(super) fn launch_failure(&self, exit: Exit, stderr: &[u8]) -> Option<Failure> {
        (exit == Exit::Code(FAILED)).then(|| Failure::find(stderr, &self.token)).flatten()
    }

    /// Removes the private folder, off the runtime's threads unless it is empty: the program
    /// chose what is in it.
    pub(super) async fn clear(mut self) {
        drop(self.watch.take());
        let Some(scratch) = self.inner.take().and_then(|inner| inner.scratch) else { return };
        if let Some(scratch) = scratch.remove_empty() {
            let _ = tokio::task::spawn_blocking(move || drop(scratch)).await;
        }
    }
}

impl Inner {
    async fn end(&mut self, grace: bool) {
        if grace {
            self.signal(Signal::TERM);
            if let Ok(Ok(status)) = timeout(GRACE, self.child.wait()).await {
                return self.after(Exit::of(status)).await;
            }
        }
        for _ in 0..WALKS {
            self.signal(Signal::KILL);
            if let Ok(Ok(status)) = timeout(STEP, self.child.wait()).await {
                return self.after(Exit::of(status)).await;
            }
        }
        let _ = self.child.kill().await;
        self.after(Exit::Signal(Signal::KILL.as_raw())).await;
    }

    /// Signals all but the supervisor, which reaps and then ends by itself. One that has nothing
    /// below it has not started the program yet, or is just about to end.
    #[cfg(target_os = "linux")]
    fn signal(&self, signal: Signal) {
        let Some(supervisor) = self.supervisor else { return };
        let below = tree::descendants(supervisor);
        if below.is_empty() {
            tree::signal(&[supervisor], signal);
        } else {
            tree::signal(&below, signal);
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn signal(&self, signal: Signal) {
        let Some(leader) = self.supervisor else { return };
        // The leader first: before it has made its session there is no group to signal.
        tree::signal(&[leader], signal);
        let _ = rustix::process::kill_process_group(leader, signal);
    }

    /// A supervisor that was killed could not clean up; what carries the run's mark still can be found.
    #[cfg(target_os = "linux")]
    async fn after(&self, exit: Exit) {
        if exit == Exit::Signal(Signal::KILL.as_raw()) {
            let run = self.run.clone();
            let _ = tokio::task::spawn_blocking(move || tree::end_marked(&run)).await;
        }
    }

    #[cfg(not(target_os = "linux"))]
    async fn after(&self, _: Exit) {
        self.signal(Signal::KILL);
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        let Some(mut inner) = self.inner.take() else { return };
        if matches!(inner.child.try_wait(), Ok(Some(_))) {
            return;
        }
        inner.signal(Signal::KILL);
        match Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move {
                    inner.end(false).await;
                    let _ = tokio::task::spawn_blocking(move || drop(inner.scratch)).await;
                });
            }
            // Without a runtime there is no waiting; the program dies with its supervisor.
            Err(_) => drop(inner.child.start_kill()),
        }
    }
}

/// The folder as an absolute path without links, so that the child sees the path it was granted.
pub(super) fn checked_folder(path: &Path) -> Result<PathBuf, RunError> {
    let missing = || RunError::WorkingFolder { path: path.to_owned() };
    let path = path.canonicalize().map_err(|_| missing())?;
    if path.is_dir() { Ok(path) } else { Err(missing()) }
}
