//! Child processes: the only place in Powerstrip that starts one.
//!
//! No shell, a cleared environment, a private folder, limits, caps on every pipe, and a
//! supervisor that leaves nothing running behind.

mod capture;
mod descriptors;
pub(crate) mod image;
mod launch;
mod limits;
mod locate;
mod piped;
#[cfg(target_os = "linux")]
mod reset;
mod runner;
mod scratch;
mod spawner;
mod spec;
mod standby;
pub(crate) mod tree;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::sandbox::{Tier, TierMissing};

pub use descriptors::room_for_connections;
pub use image::{Sha256, Shebang, copy_with_digest, open_regular};
pub use limits::Limits;
pub use piped::{Piped, Process};
pub use runner::Runner;
pub use spec::Spec;
pub use tree::become_subreaper;

/// Name of the environment variable that marks every process of a run.
pub const RUN_MARK: &str = "POWERSTRIP_RUN";

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl Exit {
    /// Whether the program returned 0.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }

    fn of(status: std::process::ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

/// The result of a program that ran to its end.
#[derive(Debug)]
pub struct Finished {
    /// All of stdout.
    pub stdout: Vec<u8>,
    /// The end of stderr, up to the cap.
    pub stderr: Vec<u8>,
    /// How many bytes of stderr came before the part that was kept.
    pub stderr_dropped: u64,
    /// How the program ended.
    pub exit: Exit,
    /// The sandbox rung that held.
    pub tier: Tier,
    /// From the start of the launcher to the end of the program.
    pub elapsed: Duration,
}

/// Why a run has no result. If the program was started, `stderr` has the end of its output.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program, or the interpreter its first line names, does not exist here.
    #[error("program `{}` was not found", program.display())]
    NotFound {
        /// The program as it was asked for.
        program: OsString,
    },
    /// The working folder does not exist or is no folder.
    #[error("working folder `{}` is not a folder", path.display())]
    WorkingFolder {
        /// The folder as it was asked for.
        path: PathBuf,
    },
    /// No private folder could be made for the run.
    #[error("the run's private folder could not be made: {0}")]
    Scratch(#[source] io::Error),
    /// The host cannot confine the program as strictly as required.
    #[error(transparent)]
    Tier(#[from] TierMissing),
    /// The program may read a folder that holds one which must stay hidden, and the host cannot hide it.
    #[error(
        "`{}` and `{}`, which must stay hidden, overlap, and sandbox tier {tier} cannot separate them: \
         move one of them out of the other",
        granted.display(), hidden.display()
    )]
    Exposed {
        /// The file or folder that the program may use.
        granted: PathBuf,
        /// The folder that must stay hidden, such as the gateway's data folder.
        hidden: PathBuf,
        /// The rung that the run would have had.
        tier: Tier,
    },
    /// A part of the sandbox that this host offers could not be applied, so nothing was started.
    #[error("the sandbox could not be applied: {reason}")]
    Sandbox {
        /// What the kernel said.
        reason: String,
    },
    /// The program exists but could not be started.
    #[error("`{}` could not be started: {reason}", program.display())]
    Exec {
        /// The program as it was asked for.
        program: OsString,
        /// What the kernel said.
        reason: String,
    },
    /// The program's file has another content than the caller asked for, so nothing was started.
    #[error("`{}` is not the file that was asked for: its content has changed", program.display())]
    Changed {
        /// The program as it was asked for.
        program: OsString,
    },
    /// The launcher itself could not be started.
    #[error("the launcher could not be started: {0}")]
    Launcher(#[source] io::Error),
    /// This executable's `main` does not call `maybe_run_launcher`, and no other launcher was named.
    #[error("this executable is no launcher: its main must call `maybe_run_launcher` first")]
    NoLauncher,
    /// The deadline passed; everything the program had started is dead.
    #[error("no result within {} ms", after.as_millis())]
    TimedOut {
        /// The time it was given.
        after: Duration,
        /// The end of stderr.
        stderr: Vec<u8>,
    },
    /// The caller no longer wants the result; everything the program had started is dead.
    #[error("cancelled")]
    Cancelled {
        /// The end of stderr.
        stderr: Vec<u8>,
    },
    /// The program printed more than its cap and was killed at once.
    #[error("stdout has more than {limit} bytes")]
    TooMuchOutput {
        /// Bytes read when the cap was passed; the program may have had more to say.
        size: u64,
        /// The cap.
        limit: u64,
        /// The end of stderr.
        stderr: Vec<u8>,
    },
    /// The private folder outgrew its limit; everything the program had started is dead.
    #[error("the private folder has more than {limit} bytes, or more files than it may hold")]
    FolderFull {
        /// The limit.
        limit: u64,
        /// The end of stderr.
        stderr: Vec<u8>,
    },
    /// A pipe to the program broke in a way that is not the program's end.
    #[error("the program's pipes failed: {0}")]
    Pipe(#[source] io::Error),
}

impl RunError {
    /// Whether the machine lacks descriptors, processes or memory at present, so that the same run may succeed later.
    pub fn is_exhausted(&self) -> bool {
        match self {
            Self::Scratch(error) | Self::Launcher(error) | Self::Pipe(error) => {
                descriptors::is_exhausted(error)
            }
            _ => false,
        }
    }
}
