//! The runner: finds a program, decides its confinement, runs it within its bounds.

use std::ffi::OsStr;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, Either, select};
use tokio::fs::File;
use tokio_util::sync::CancellationToken;

use super::capture::{self, Stopped, Tail};
use super::launch::{self, Launched, Ready};
use super::locate::{self, Locator};
use super::piped::Piped;
use super::scratch::{Scratch, remove_leftovers};
use super::spec::Input;
use super::standby::{self, Standbys};
use super::{Finished, Limits, RunError, Spec};
use crate::sandbox::{self, Confinement, Host, Network, Orders, Program, Step, Tier, UnixSockets};

/// A launcher answers a probe in milliseconds; a host under heavy load gets this long.
const PROBE: Duration = Duration::from_secs(10);

/// Starts programs for the gateway. One is made when the gateway starts; clones are cheap and share what it learns.
#[derive(Debug, Clone)]
pub struct Runner {
    standbys: Arc<Standbys>,
    host: Host,
    scratch: PathBuf,
    hidden: Vec<PathBuf>,
    locator: Arc<Locator>,
}

impl Runner {
    /// A runner whose launcher is this very executable, with the host's abilities found by trying them.
    pub async fn new() -> Result<Self, RunError> {
        if !sandbox::is_launcher_ready() {
            return Err(RunError::NoLauncher);
        }
        // The link leads to the running image even after an upgrade has replaced the file.
        let own = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().map_err(RunError::Launcher)?
        };
        Self::with_launcher(own).await
    }

    /// A runner with another executable as launcher, whose `main` calls [`sandbox::maybe_run_launcher`].
    pub async fn with_launcher(launcher: impl Into<PathBuf>) -> Result<Self, RunError> {
        let locator = Arc::new(Locator::from_path(std::env::var_os("PATH")));
        let scratch = std::env::temp_dir();
        let launcher = std::path::absolute(launcher.into()).map_err(RunError::Launcher)?;
        let standbys = Standbys::new(launcher, standby::TIMEOUT);
        let mut runner = Self { standbys, host: Host::BARE, scratch, hidden: Vec::new(), locator };
        runner.host = runner.probe().await?;
        Ok(runner)
    }

    /// The same runner as on a host that offers nothing above `tier`.
    pub fn at_most(mut self, tier: Tier) -> Self {
        self.host = self.host.at_most(tier);
        self
    }

    /// The same runner with the private folders of its runs below this one instead of the
    /// system's.
    pub fn scratch_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.scratch = folder.into();
        self
    }

    /// Removes the private folders of gateways that were killed. Those of running ones stay.
    pub async fn remove_leftovers(&self) {
        let below = self.scratch.clone();
        match tokio::task::spawn_blocking(move || remove_leftovers(&below)).await {
            Ok(Ok(0)) | Err(_) => {}
            Ok(Ok(count)) => {
                tracing::info!("removed {count} private folders of a gateway that was killed");
            }
            Ok(Err(error)) => tracing::warn!(%error, "old private folders could not be looked for"),
        }
    }

    /// The same runner with this folder hidden from every confined program, whatever its policy lets
    /// it read. A folder that does not exist hides nothing.
    pub fn hiding(mut self, folder: impl AsRef<Path>) -> Self {
        self.hidden.extend(folder.as_ref().canonicalize());
        self
    }

    /// Sets how long a launcher is kept ready for the next run, once programs are being run. Zero
    /// disables standby launchers.
    pub fn standby_for(mut self, timeout: Duration) -> Self {
        self.standbys = Standbys::new(self.standbys.launcher().to_owned(), timeout);
        self
    }

    /// What this host offers, for health reports.
    pub fn host(&self) -> Host {
        self.host
    }

    /// Where a program lies: by path, or by name in the gateway's `PATH`, through the shims of version managers.
    pub async fn locate(&self, program: impl AsRef<OsStr>) -> Result<PathBuf, RunError> {
        self.locator.locate(program.as_ref()).await
    }

    /// Runs the program to its end. Whatever the outcome, nothing it started is left running;
    /// dropping the future ends it too.
    pub fn run<'a>(
        &'a self,
        spec: Spec,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Finished, RunError>> {
        // Boxed, so that it is compiled here and not again in every crate that runs programs.
        Box::pin(self.run_to_end(spec, cancel))
    }

    async fn run_to_end(
        &self,
        spec: Spec,
        cancel: &CancellationToken,
    ) -> Result<Finished, RunError> {
        let begun = Instant::now();
        let deadline = spec.deadline;
        let limits = spec.limits.within(deadline);
        let ready = self.ready(&spec, limits).await?;
        let mut launched = ready.launch_soon(&self.standbys).await?;
        let mut tail = Tail::new(spec.stderr_cap);

        let outcome = {
            let work = converse(&mut launched, &spec, &mut tail);
            tokio::select! {
                biased;
                outcome = work => outcome,
                () = cancel.cancelled() => Err(Broken::Cancelled),
                () = tokio::time::sleep_until((begun + deadline).into()) => Err(Broken::TimedOut),
            }
        };
        if let Err(broken) = &outcome {
            launched.end(!matches!(broken, Broken::Over { .. })).await;
        }
        let (stderr, stderr_dropped) = tail.into_parts();
        let failure = match &outcome {
            Ok((_, exit)) => launched.failure(*exit, &stderr, &spec.program),
            Err(_) => None,
        };
        let (tier, folder_full) = (launched.tier, launched.folder_full());
        launched.clear().await;
        if let Some(failure) = failure {
            return Err(failure);
        }
        if let Some(limit) = folder_full {
            return Err(RunError::FolderFull { limit, stderr });
        }
        match outcome {
            Ok((stdout, exit)) => {
                let elapsed = begun.elapsed();
                Ok(Finished { stdout, stderr, stderr_dropped, exit, tier, elapsed })
            }
            Err(Broken::Cancelled) => Err(RunError::Cancelled { stderr }),
            Err(Broken::TimedOut) => Err(RunError::TimedOut { after: deadline, stderr }),
            Err(Broken::Over { size }) => {
                Err(RunError::TooMuchOutput { size, limit: spec.stdout_cap, stderr })
            }
            Err(Broken::Pipe(error)) => Err(RunError::Pipe(error)),
        }
    }

    /// Starts a long-lived program, and returns its pipes. Its stdin bytes, caps and
    /// deadline are not used: the caller sets its own.
    pub fn spawn_piped(&self, spec: Spec) -> BoxFuture<'_, Result<Piped, RunError>> {
        Box::pin(async move {
            let ready = self.ready(&spec, spec.limits).await?;
            Piped::of(ready.launch(self.standbys.launcher()).await?)
        })
    }

    async fn ready(&self, spec: &Spec, limits: Limits) -> Result<Ready, RunError> {
        let program = self.locator.locate(&spec.program).await?;
        let folder = spec.folder.as_deref().map(launch::checked_folder).transpose()?;
        let (mut confinement, tier) = spec.policy.on(&self.host)?;
        if let Some(confinement) = &mut confinement {
            for program in iter::once(&program).chain(&spec.installed) {
                let mut installation = locate::installation(program, &self.locator);
                if !confinement.host.namespaces {
                    installation.retain(|part| !self.hidden.iter().any(|it| it.starts_with(part)));
                }
                confinement.read.extend(installation);
            }
            confinement.read.extend(folder.clone().filter(|_| spec.reads_folder));
            self.hide(confinement, tier)?;
        }
        let scratch = Scratch::create(&self.scratch).map_err(RunError::Scratch)?;
        if let Some(confinement) = &mut confinement {
            confinement.private = Some(scratch.path().to_owned());
        }
        let own = ("TMPDIR".into(), scratch.path().into());
        let program = Program {
            path: program.into(),
            folder: Some(folder.unwrap_or_else(|| scratch.path().to_owned())),
            arguments: spec.arguments.clone(),
            environment: iter::once(own).chain(spec.environment.iter().cloned()).collect(),
        };
        let orders = Orders {
            probe: false,
            limits,
            confinement,
            digest: spec.digest,
            moves_pipes: spec.moves_pipes,
        };
        Ok(Ready { program, orders, scratch: Some(scratch), tier })
    }

    /// Keeps the hidden folders out of what a program may use. A mount namespace covers them; Landlock
    /// has no rule that takes a folder out of a readable one, so there the program does not run.
    fn hide(&self, confinement: &mut Confinement, tier: Tier) -> Result<(), RunError> {
        if self.hidden.is_empty() {
            return Ok(());
        }
        // System files are hidden as well, such as a `resolv.conf` that is a link into `/run`.
        confinement.read.retain(|path| {
            let below = |real: PathBuf| self.hidden.iter().any(|hidden| real.starts_with(hidden));
            !(sandbox::is_system(path) && path.canonicalize().is_ok_and(below))
        });
        let covered = confinement.host.namespaces;
        for granted in confinement.read.iter().chain(&confinement.write) {
            let Ok(granted) = granted.canonicalize() else { continue };
            let exposes = |hidden: &&PathBuf| {
                granted.starts_with(hidden) || (!covered && hidden.starts_with(&granted))
            };
            if let Some(hidden) = self.hidden.iter().find(exposes) {
                return Err(RunError::Exposed { hidden: hidden.clone(), granted, tier });
            }
        }
        confinement.hidden.clone_from(&self.hidden);
        Ok(())
    }

    /// Probes all features at once, and drops those that the kernel refuses until the rest works.
    async fn probe(&self) -> Result<Host, RunError> {
        if !cfg!(target_os = "linux") {
            return Ok(Host::BARE);
        }
        let mut host = Host { landlock_abi: u8::MAX, seccomp: true, namespaces: true };
        loop {
            let broken = match self.try_out(host).await? {
                Ok(landlock_abi) => return Ok(Host { landlock_abi, ..host }),
                Err(step) => step,
            };
            match broken {
                Step::Namespaces if host.namespaces => host.namespaces = false,
                Step::Landlock if host.landlock_abi > 0 => host.landlock_abi = 0,
                Step::Seccomp if host.seccomp => host.seccomp = false,
                step => {
                    let reason = format!("the launcher fails at {step:?}");
                    return Err(RunError::Sandbox { reason });
                }
            }
            tracing::debug!(?broken, "this host lacks a part of the sandbox");
        }
    }

    /// The Landlock ABI that held, or the step that failed.
    async fn try_out(&self, host: Host) -> Result<Result<u8, Step>, RunError> {
        let confinement = (host != Host::BARE).then(|| Confinement {
            host,
            network: Network::Denied,
            unix_sockets: UnixSockets::Denied,
            read: Vec::new(),
            write: Vec::new(),
            // Used as the private folder of the probe: it exists on every host.
            private: Some(PathBuf::from("/proc")),
            hidden: Vec::new(),
        });
        let orders = Orders {
            probe: true,
            limits: Limits::default(),
            confinement,
            digest: None,
            moves_pipes: false,
        };
        let program = Program { path: "/".into(), ..Program::default() };
        let ready = Ready { program, orders, scratch: None, tier: Tier::T0 };
        let mut launched = ready.launch(self.standbys.launcher()).await?;
        let mut tail = Tail::new(65_536);
        let spec = Spec::new("");
        let answer = tokio::time::timeout(PROBE, converse(&mut launched, &spec, &mut tail)).await;
        let Ok(Ok((stdout, exit))) = answer else { return Err(RunError::NoLauncher) };
        if let Some(failure) = launched.launch_failure(exit, &tail.into_parts().0) {
            return Ok(Err(failure.step));
        }
        let abi = std::str::from_utf8(&stdout).ok().and_then(|text| text.parse().ok());
        abi.map(Ok).ok_or(RunError::NoLauncher)
    }
}

enum Broken {
    Cancelled,
    TimedOut,
    Over { size: u64 },
    Pipe(std::io::Error),
}

/// Feeds stdin while stdout and stderr are read, until the program has ended.
async fn converse(
    launched: &mut Launched,
    spec: &Spec,
    tail: &mut Tail,
) -> Result<(Vec<u8>, super::Exit), Broken> {
    let file = match &spec.stdin {
        Input::File(path) => Some(File::open(path).await.map_err(Broken::Pipe)?),
        Input::Bytes(_) => None,
    };
    let child = launched.child().map_err(Broken::Pipe)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feeding = async {
        match (stdin, &spec.stdin, file) {
            (Some(stdin), _, Some(file)) => capture::feed_file(stdin, file).await,
            (Some(stdin), Input::Bytes(bytes), None) => capture::feed(stdin, bytes).await,
            (Some(_), Input::File(_), None) | (None, ..) => {}
        }
    };
    let reading = async {
        match stdout {
            Some(stdout) => capture::whole(stdout, spec.stdout_cap).await,
            None => Ok(Vec::new()),
        }
        .map_err(|stopped| match stopped {
            Stopped::Broken(error) => Broken::Pipe(error),
            Stopped::Over { size } => Broken::Over { size },
        })
    };
    let listening = async {
        if let Some(stderr) = stderr {
            tail.fill(stderr).await;
        }
        Ok(())
    };
    let ending = async { launched.wait().await.map_err(Broken::Pipe) };
    let rest = async { tokio::try_join!(reading, listening, ending) };

    // A program may end without reading its stdin, so the end of writing is not waited for.
    let (stdout, (), exit) = match select(Box::pin(rest), Box::pin(feeding)).await {
        Either::Left((rest, _)) => rest?,
        Either::Right(((), rest)) => rest.await?,
    };
    Ok((stdout, exit))
}
