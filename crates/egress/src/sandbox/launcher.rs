//! The launcher: our own executable, started anew as a single-threaded process that prepares
//! one run and then executes the program.
//!
//! Why not `pre_exec`: namespaces, Landlock rules and filters need allocation and several
//! processes, which is undefined behaviour between `fork` and `exec` of a threaded program.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, fmt, io, process};

use serde::{Deserialize, Serialize};

use super::{Host, Network};
use crate::process::Limits;

/// First argument that turns our executable into the launcher.
pub(crate) const LAUNCH: &str = "__launch";

/// Exit code of a launcher that could not start its program; the reason stands on stderr.
pub(crate) const FAILED: i32 = 125;

/// Set once `main` has shown that this executable can be its own launcher.
static READY: AtomicBool = AtomicBool::new(false);

/// What the gateway tells the launcher, as one JSON argument. It holds no secrets: arguments
/// are visible to other users, so the child's environment travels as the launcher's own.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    /// The gateway's process id: a launcher whose parent is another was orphaned before it could ask for a death signal.
    pub(crate) parent: u32,
    /// Proves to the gateway that a failure line is the launcher's and not the program's.
    pub(crate) token: String,
    /// Prepare everything, report the Landlock ABI and start nothing.
    pub(crate) probe: bool,
    pub(crate) limits: Limits,
    pub(crate) confinement: Option<Confinement>,
}

/// Everything the launcher must put in force; if any of it fails, nothing is started.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub(crate) host: Host,
    pub(crate) network: Network,
    pub(crate) unix_sockets: bool,
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
}

/// The step at which a launch failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    Session,
    Namespaces,
    Limits,
    Landlock,
    Seccomp,
    Exec,
}

/// Why the program was not started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) step: Step,
    pub(crate) not_found: bool,
    pub(crate) reason: String,
}

impl Failure {
    pub(crate) fn at<E: fmt::Display>(step: Step) -> impl FnOnce(E) -> Self {
        move |error| Self { step, not_found: false, reason: error.to_string() }
    }

    fn exec(error: &io::Error) -> Self {
        Self {
            step: Step::Exec,
            not_found: error.kind() == io::ErrorKind::NotFound,
            reason: error.to_string(),
        }
    }

    /// Finds the failure that a launcher with this token left on stderr.
    pub(crate) fn find(stderr: &[u8], token: &str) -> Option<Self> {
        let line = stderr.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty())?;
        let rest = line.strip_prefix(format!("{LAUNCH} {token} ").as_bytes())?;
        serde_json::from_slice(rest).ok()
    }

    /// Leaves the failure on stderr and ends the process.
    pub(super) fn report(&self, token: &str) -> ! {
        let text = serde_json::to_string(self).unwrap_or_default();
        // Nobody is left to tell when stderr is gone; the exit code still speaks.
        let _ = writeln!(io::stderr(), "{LAUNCH} {token} {text}");
        process::exit(FAILED)
    }
}

/// Becomes the launcher if this process was started as one, and does not return then.
///
/// The binary's `main` calls it before anything else: the launcher relies on being the only thread.
pub fn maybe_run_launcher() {
    let mut arguments = env::args_os().skip(1);
    if arguments.next().as_deref() == Some(OsStr::new(LAUNCH)) {
        launch(arguments);
    }
    READY.store(true, Ordering::Relaxed);
}

/// Whether `main` has called [`maybe_run_launcher`], so that this executable can launch children.
pub(crate) fn is_launcher_ready() -> bool {
    READY.load(Ordering::Relaxed)
}

/// The program to execute once everything is in force.
pub(super) struct Program {
    path: OsString,
    arguments: Vec<OsString>,
}

impl Program {
    /// Replaces this process by the program; the environment and the folder are already its own.
    #[cfg(target_os = "linux")]
    pub(super) fn exec(self) -> Failure {
        Failure::exec(&super::raw::exec(self.path, self.arguments))
    }

    /// Replaces this process by the program; the environment and the folder are already its own.
    #[cfg(not(target_os = "linux"))]
    fn exec(self) -> Failure {
        use std::os::unix::process::CommandExt;
        Failure::exec(&process::Command::new(&self.path).args(&self.arguments).exec())
    }
}

fn launch(mut arguments: impl Iterator<Item = OsString>) -> ! {
    let orders = arguments
        .next()
        .and_then(|orders| serde_json::from_slice::<Orders>(orders.as_encoded_bytes()).ok());
    let (Some(orders), Some(path)) = (orders, arguments.next()) else {
        let failure = Failure::at(Step::Session)("the launcher's orders cannot be read");
        failure.report("-")
    };
    let program = Program { path, arguments: arguments.collect() };
    let failure = run(&orders, program);
    failure.report(&orders.token)
}

#[cfg(target_os = "linux")]
fn run(orders: &Orders, program: Program) -> Failure {
    super::supervise::run(orders, program)
}

/// Elsewhere the ladder ends at T0: own session and limits, then the program in our place.
#[cfg(not(target_os = "linux"))]
fn run(orders: &Orders, program: Program) -> Failure {
    if orders.confinement.is_some() {
        return Failure::at(Step::Landlock)("this system has no sandbox");
    }
    if let Err(error) = rustix::process::setsid() {
        return Failure::at(Step::Session)(error);
    }
    if let Err(error) = orders.limits.apply(false) {
        return Failure::at(Step::Limits)(error);
    }
    if orders.probe {
        process::exit(0);
    }
    program.exec()
}

#[cfg(test)]
mod tests;
