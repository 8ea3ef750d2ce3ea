//! Starting a launcher, and ending all that came of it.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::time::timeout;
use uuid::Uuid;

use super::{Exit, Limits, RUN_MARK, RunError, spawner, tree};
use crate::sandbox::{Confinement, FAILED, Failure, LAUNCH, Orders, Step, Tier};

/// From SIGTERM to SIGKILL. Together with the time the kernel needs it stays below the promised second.
const GRACE: Duration = Duration::from_millis(400);

/// How often the tree is walked again while its processes are dying.
const STEP: Duration = Duration::from_millis(15);

/// How many walks a supervisor gets to clean up before it is killed too.
const WALKS: usize = 30;

/// A program made ready: found, its confinement decided.
pub(super) struct Ready<'a> {
    pub(super) launcher: &'a Path,
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [std::ffi::OsString],
    pub(super) environment: &'a [(std::ffi::OsString, std::ffi::OsString)],
    pub(super) folder: Option<&'a Path>,
    pub(super) scratch: Option<TempDir>,
    pub(super) limits: Limits,
    pub(super) confinement: Option<Confinement>,
    pub(super) tier: Tier,
    pub(super) probe: bool,
}

impl Ready<'_> {
    pub(super) async fn launch(self) -> Result<Launched, RunError> {
        let run = Uuid::new_v4().to_string();
        let orders = Orders {
            parent: std::process::id(),
            token: Uuid::new_v4().to_string(),
            probe: self.probe,
            limits: self.limits,
            confinement: self.confinement,
        };
        let text = serde_json::to_string(&orders)
            .map_err(|error| RunError::Sandbox { reason: error.to_string() })?;

        let mut command = Command::new(self.launcher);
        command.arg(LAUNCH).arg(text).arg(self.program).args(self.arguments);
        command.env_clear();
        if let Some(scratch) = &self.scratch {
            command.env("TMPDIR", scratch.path());
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env(RUN_MARK, &run);
        let scratch = self.scratch.as_ref().map(TempDir::path);
        if let Some(folder) = self.folder.or(scratch) {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());

        let child = spawner::spawn(command).await.map_err(RunError::Launcher)?;
        let supervisor = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let launched = Launched {
            inner: Some(Inner { child, supervisor, run, scratch: self.scratch }),
            token: orders.token,
            tier: self.tier,
        };
        Ok(launched)
    }
}

/// A supervisor and all below it. Dropping it kills them.
pub(super) struct Launched {
    inner: Option<Inner>,
    token: String,
    pub(super) tier: Tier,
}

struct Inner {
    child: Child,
    supervisor: Option<Pid>,
    run: String,
    scratch: Option<TempDir>,
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
        if let Some(inner) = &self.inner {
            inner.after(Exit::of(status)).await;
        }
        Ok(Exit::of(status))
    }

    /// Ends everything: politely first if `grace` is wanted, surely in any case.
    pub(super) async fn end(&mut self, grace: bool) {
        if let Some(inner) = &mut self.inner {
            inner.end(grace).await;
        }
    }

    /// What the launcher had to say about a program that it could not start.
    pub(super) fn failure(&self, exit: Exit, stderr: &[u8], program: &OsStr) -> Option<RunError> {
        let failure = self.launch_failure(exit, stderr)?;
        let program = program.to_owned();
        Some(match failure.step {
            Step::Exec if failure.not_found => RunError::NotFound { program },
            Step::Exec => RunError::Exec { program, reason: failure.reason },
            step => RunError::Sandbox { reason: format!("{step:?}: {}", failure.reason) },
        })
    }

    pub(super) fn launch_failure(&self, exit: Exit, stderr: &[u8]) -> Option<Failure> {
        (exit == Exit::Code(FAILED)).then(|| Failure::find(stderr, &self.token)).flatten()
    }

    /// Removes the private folder off the runtime's threads: the program chose what is in it.
    pub(super) async fn clear(mut self) {
        if let Some(scratch) = self.inner.take().and_then(|inner| inner.scratch) {
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
            // Without a runtime nobody can wait; the program dies with its supervisor.
            Err(_) => drop(inner.child.start_kill()),
        }
    }
}

/// A folder of its own for one run, readable by nobody else.
pub(super) async fn scratch(below: PathBuf) -> Result<TempDir, RunError> {
    let made = tokio::task::spawn_blocking(move || {
        std::fs::create_dir_all(&below)?;
        tempfile::Builder::new().prefix("powerstrip-").tempdir_in(below.canonicalize()?)
    });
    match made.await {
        Ok(folder) => folder.map_err(RunError::Scratch),
        Err(error) => Err(RunError::Scratch(io::Error::other(error))),
    }
}

/// The folder as an absolute path without links, so that the child sees the path it was granted.
pub(super) fn checked_folder(path: &Path) -> Result<PathBuf, RunError> {
    let missing = || RunError::WorkingFolder { path: path.to_owned() };
    let path = path.canonicalize().map_err(|_| missing())?;
    if path.is_dir() { Ok(path) } else { Err(missing()) }
}
