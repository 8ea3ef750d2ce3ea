//! The program of a run, with its arguments, environment and limits.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::{Limits, Sha256};
use crate::sandbox::Policy;

/// Where stdin comes from.
#[derive(Debug, Clone)]
pub(super) enum Input {
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// One program to run. Nothing is inherited from the gateway but what is named here.
#[derive(Debug, Clone)]
pub struct Spec {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) folder: Option<PathBuf>,
    /// Whether a confined program may read its working folder.
    pub(super) reads_folder: bool,
    pub(super) stdin: Input,
    pub(super) stdout_cap: u64,
    pub(super) stderr_cap: usize,
    pub(super) deadline: Duration,
    pub(super) limits: Limits,
    pub(super) policy: Policy,
    /// The digest that the program's file must have.
    pub(super) digest: Option<Sha256>,
    /// Other programs whose installations the run reads.
    pub(super) installed: Vec<PathBuf>,
    /// Whether the program gets its pipes as descriptors 3 and 4.
    pub(super) moves_pipes: bool,
}

impl Spec {
    /// A program by path, or by name to be looked up in the gateway's `PATH`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: None,
            reads_folder: true,
            stdin: Input::Bytes(Vec::new()),
            stdout_cap: 262_144,
            stderr_cap: 65_536,
            deadline: Duration::from_secs(30),
            limits: Limits::default(),
            policy: Policy::default(),
            digest: None,
            installed: Vec::new(),
            moves_pipes: false,
        }
    }

    /// Adds one argument, which is passed unchanged: there is no shell.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets one variable in the otherwise empty environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Starts the program in this folder, which it may read, and write only if the policy says so.
    /// Without one it starts in a private folder that is its own to write and vanishes with the run.
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Self {
        self.folder = Some(path.into());
        self.reads_folder = true;
        self
    }

    /// Starts the program in this folder. A confined program may use nothing of it but what its policy says.
    pub fn start_in(mut self, path: impl Into<PathBuf>) -> Self {
        self.folder = Some(path.into());
        self.reads_folder = false;
        self
    }

    /// What the program reads from stdin.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Input::Bytes(bytes.into());
        self
    }

    /// Lets the program read this file from stdin. It is passed on piece by piece, and the program needs no right to
    /// open it.
    pub fn stdin_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.stdin = Input::File(path.into());
        self
    }

    /// More stdout than this kills the program.
    pub fn stdout_cap(mut self, bytes: u64) -> Self {
        self.stdout_cap = bytes;
        self
    }

    /// Of stderr, only the last bytes up to this many are kept.
    pub fn stderr_cap(mut self, bytes: usize) -> Self {
        self.stderr_cap = bytes;
        self
    }

    /// The program and all it started are dead at most one second after this time.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the resource limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Runs the program only if its file has this digest. The launcher computes it from the descriptor that it then
    /// executes, so that no other file can take its place in between. A script is executed by its path.
    pub fn digest(mut self, digest: Sha256) -> Self {
        self.digest = Some(digest);
        self
    }

    /// Lets the run read what belongs to the installation of another program, such as the script that an interpreter
    /// is to run.
    pub fn installed(mut self, program: impl Into<PathBuf>) -> Self {
        self.installed.push(program.into());
        self
    }

    /// Gives the program its input as descriptor 3 and its output as descriptor 4, with nothing to read from stdin and
    /// stdout discarded. Programs with a control pipe, such as Chromium, expect this.
    pub fn pipes_as_3_and_4(mut self) -> Self {
        self.moves_pipes = true;
        self
    }

    /// Sets the sandbox policy.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }
}
