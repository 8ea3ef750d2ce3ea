//! Programs of others that a server uses: found in `PATH` or where a flag says, run without a shell and without the network.

mod folder;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use egress::process::{Exit, Finished, Limits, RunError, Runner, Spec};
use egress::sandbox::{Policy, UnixSockets};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use self::folder::ProgramFolder;
use crate::Fault;
use crate::fetch::disk;

pub(crate) use self::folder::remove_leftovers;

/// How long a program may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// A program that is not part of the server. Clones share what is known about it.
#[derive(Debug, Clone)]
pub struct Program {
    name: &'static str,
    package: &'static str,
    path: Option<PathBuf>,
    file: Option<&'static str>,
    version_argument: &'static str,
    readable: &'static [&'static str],
    unix_sockets: UnixSockets,
    restart_code: Option<i32>,
    version: Arc<OnceCell<Option<String>>>,
}

/// The program that did a part of the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Engine {
    pub name: String,
    /// `null` if the program does not say.
    pub version: Option<String>,
}

/// One run of a program.
#[derive(Debug, Clone)]
pub struct Task {
    arguments: Vec<OsString>,
    environment: Vec<(&'static str, OsString)>,
    stdin: Bytes,
    files: Vec<(String, Bytes)>,
    in_folder: bool,
    readable: Vec<PathBuf>,
    deadline: Duration,
    max_stdout: u64,
    memory: u64,
    max_file: u64,
    max_folder: u64,
}

/// What a program has printed and written.
#[derive(Debug)]
pub struct Ran {
    pub stdout: Vec<u8>,
    /// The end of it. It may have content of the caller's files: it is for the log only.
    pub stderr: Vec<u8>,
    pub success: bool,
    folder: Option<ProgramFolder>,
}

impl Program {
    /// A program by its name in `PATH`, with the Debian package that has it.
    pub fn new(name: &'static str, package: &'static str) -> Self {
        let version = Arc::default();
        Self {
            name,
            package,
            path: None,
            file: None,
            version_argument: "--version",
            readable: &[],
            unix_sockets: UnixSockets::Denied,
            restart_code: None,
            version,
        }
    }

    /// Runs the file of this name in the program's folder, if there is one. For programs that are found by a script that
    /// does not work in a sandbox.
    pub(crate) fn file_in_folder(mut self, file: &'static str) -> Self {
        self.file = Some(file);
        self
    }

    /// Runs the program once more in the same folder when it ends with this code.
    pub(crate) fn restarts_after(mut self, code: i32) -> Self {
        self.restart_code = Some(code);
        self
    }

    /// Lets the program listen at sockets of its own, without which some do not start.
    pub(crate) fn listens(mut self) -> Self {
        self.unix_sockets = UnixSockets::Listening;
        self
    }

    /// Lets every run read these paths.
    pub(crate) fn reads(mut self, paths: &'static [&'static str]) -> Self {
        self.readable = paths;
        self
    }

    /// Uses the program at this path, if one is given.
    pub fn at(mut self, path: Option<PathBuf>) -> Self {
        self.path = path;
        self
    }

    /// The argument with which it prints its version; `--version` otherwise.
    pub fn version_argument(mut self, argument: &'static str) -> Self {
        self.version_argument = argument;
        self
    }

    /// Its name in `PATH`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The Debian package that has it.
    pub fn package(&self) -> &'static str {
        self.package
    }

    /// The command that installs it.
    pub fn fix(&self) -> String {
        format!("apt install {}", self.package)
    }

    pub(crate) async fn locate(&self, runner: &Runner) -> Result<PathBuf, Fault> {
        let located = match &self.path {
            Some(path) => runner.locate(path).await,
            None => runner.locate(self.name).await,
        };
        let located = located.map_err(|_| self.missing())?;
        let Some(file) = self.file else { return Ok(located) };
        // The command in `PATH` is a link to the script in the program's folder.
        let target = tokio::fs::canonicalize(&located).await.unwrap_or_else(|_| located.clone());
        let inner = target.with_file_name(file);
        let exists = tokio::fs::try_exists(&inner).await.unwrap_or(false);
        Ok(if exists { inner } else { located })
    }

    fn policy(&self) -> Policy {
        let policy = Policy::new().unix_sockets(self.unix_sockets);
        self.readable.iter().fold(policy, |policy, path| policy.read(path))
    }

    /// The fault of a call that cannot be answered without the program.
    pub fn missing(&self) -> Fault {
        let message = format!(
            "the program `{}` is needed and was not found: {}, or name it by --{} PATH",
            self.name,
            self.fix(),
            self.name
        );
        let details = json!({"program": self.name, "package": self.package, "fix": self.fix()});
        Fault::unsupported(message).details(details)
    }

    /// The program with its version, which is asked for once.
    pub(crate) async fn engine(&self, runner: &Runner) -> Result<Engine, Fault> {
        let program = self.locate(runner).await?;
        let ask = || async {
            let spec = Spec::new(program)
                .arg(self.version_argument)
                // Not the user's own folder, which the sandbox closes.
                .env("HOME", "/nonexistent")
                .deadline(VERSION_TIMEOUT)
                .policy(self.policy());
            let printed = runner.run(spec, &CancellationToken::new()).await.ok()?;
            let text = [printed.stdout, printed.stderr].concat();
            version_in(&String::from_utf8_lossy(&text))
        };
        let version = self.version.get_or_init(ask).await.clone();
        Ok(Engine { name: self.name.to_owned(), version })
    }

    pub(crate) async fn run(
        &self,
        runner: &Runner,
        task: Task,
        cancel: &CancellationToken,
    ) -> Result<Ran, Fault> {
        let program = self.locate(runner).await?;
        let folder = if task.in_folder { Some(folder_with(task.files).await?) } else { None };
        let room = Room { folder: folder.as_ref(), limit: task.max_folder.max(task.max_file) };
        let limits = Limits { memory: task.memory, file_size: task.max_file, ..Limits::default() };
        let policy =
            task.readable.into_iter().fold(self.policy(), |policy, path| policy.read(path));
        let mut spec = Spec::new(program)
            .args(task.arguments)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .stdin(task.stdin.to_vec())
            .stdout_cap(task.max_stdout)
            .deadline(task.deadline)
            .limits(limits);
        for (name, value) in task.environment {
            spec = spec.env(name, value);
        }
        let spec = match &folder {
            Some(folder) => spec
                .env("HOME", folder.path())
                .env("TMPDIR", folder.path())
                .folder(folder.path())
                .policy(policy.write(folder.path())),
            None => spec.policy(policy),
        };
        let again = self.restart_code.map(|_| spec.clone());
        let mut finished = self.run_within(room, runner, spec, cancel).await?;
        if let (Exit::Code(code), Some(spec)) = (finished.exit, again)
            && Some(code) == self.restart_code
        {
            finished = self.run_within(room, runner, spec, cancel).await?;
        }
        let success = finished.exit.success();
        if !success {
            let stderr = String::from_utf8_lossy(&finished.stderr);
            tracing::warn!(program = self.name, exit = ?finished.exit, %stderr, "a program failed");
        }
        Ok(Ran { stdout: finished.stdout, stderr: finished.stderr, success, folder })
    }

    /// Runs the program, and ends it when its folder outgrows its limit.
    async fn run_within(
        &self,
        room: Room<'_>,
        runner: &Runner,
        spec: Spec,
        cancel: &CancellationToken,
    ) -> Result<Finished, Fault> {
        let stop = cancel.child_token();
        let mut run = runner.run(spec, &stop);
        let outgrown = async {
            match room.folder {
                Some(folder) => folder.outgrows(room.limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            finished = &mut run => return finished.map_err(|error| self.fault(&error)),
            () = outgrown => stop.cancel(),
        }
        // Its end is waited for, so that it writes nothing while the folder is removed.
        let _ = run.await;
        tracing::warn!(program = self.name, limit = room.limit, "a program wrote too much");
        Err(Fault::invalid_input(format!(
            "{} writes more than {} bytes for this file; send it in smaller parts",
            self.name, room.limit
        )))
    }

    fn fault(&self, error: &RunError) -> Fault {
        tracing::warn!(program = self.name, %error, "a program did not run");
        let name = self.name;
        match error {
            RunError::NotFound { .. } => self.missing(),
            RunError::TimedOut { after, .. } => {
                let seconds = after.as_secs();
                let message = format!(
                    "{name} takes longer than {seconds} s for this file; send it in smaller parts"
                );
                Fault::new(crate::Code::Timeout, message).retryable(false)
            }
            RunError::TooMuchOutput { limit, .. } => Fault::invalid_input(format!(
                "{name} prints more than {limit} bytes for this file; send it in smaller parts"
            )),
            _ => Fault::internal(format!("{name} could not be run")),
        }
    }
}

impl Default for Task {
    fn default() -> Self {
        Self {
            arguments: Vec::new(),
            environment: Vec::new(),
            stdin: Bytes::new(),
            files: Vec::new(),
            in_folder: false,
            readable: Vec::new(),
            deadline: Duration::from_secs(100),
            max_stdout: 64 << 20,
            memory: 4 << 30,
            max_file: 64 << 20,
            max_folder: 512 << 20,
        }
    }
}

impl Task {
    /// A run with these arguments.
    pub fn new<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { arguments, ..Self::default() }
    }

    /// Sets a variable in the otherwise empty environment.
    pub fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// What the program reads from stdin.
    pub fn stdin(mut self, bytes: impl Into<Bytes>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Writes a file into the folder that the program starts in. The program may write further files there, which
    /// [`Ran::file`] reads. The name is the server's own, never a caller's.
    pub fn file(mut self, name: &str, bytes: impl Into<Bytes>) -> Self {
        self.files.push((name.to_owned(), bytes.into()));
        self.in_folder = true;
        self
    }

    /// Lets the program read a file or folder, such as its data.
    pub fn reads(mut self, path: impl Into<PathBuf>) -> Self {
        self.readable.push(path.into());
        self
    }

    /// Starts the program in a folder of its own, into which it may write; [`Ran::file`] reads what it has written.
    pub fn writes(mut self) -> Self {
        self.in_folder = true;
        self
    }

    /// The most memory of the program, in bytes; 4 GB otherwise.
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// The largest file that the program may write, in bytes; 64 MB otherwise.
    pub fn max_file(mut self, bytes: u64) -> Self {
        self.max_file = bytes;
        self
    }

    /// The program is ended after this time.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// More stdout than this ends the program.
    pub fn max_stdout(mut self, bytes: u64) -> Self {
        self.max_stdout = bytes;
        self
    }
}

impl Ran {
    /// Where a file is that the program has written into its folder, for other programs to read. It is removed with this
    /// value.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let path = self.folder.as_ref()?.path().join(name);
        path.is_file().then_some(path)
    }

    /// The names of all files that the program has written into its folder.
    pub fn names(&self) -> Result<Vec<String>, Fault> {
        let Some(folder) = &self.folder else { return Ok(Vec::new()) };
        let list = || -> std::io::Result<Vec<String>> {
            let entries = std::fs::read_dir(folder.path())?;
            entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
        };
        list().map_err(|error| Fault::internal(format!("the program's folder: {error}")))
    }

    /// A file that the program has written into its folder.
    pub async fn file(&self, name: &str, max_bytes: u64) -> Result<Vec<u8>, Fault> {
        let Some(folder) = &self.folder else {
            return Err(Fault::internal("the program had no folder"));
        };
        let path = folder.path().join(name);
        let read = tokio::task::spawn_blocking(move || userfiles::read(&path, max_bytes)).await;
        let read = read.map_err(|error| Fault::internal(error.to_string()))?;
        read.map_err(|error| {
            tracing::warn!(%error, "what a program should have written cannot be read");
            Fault::invalid_input("this file could not be converted; save it again and send that")
                .details(json!({"reason": "damaged"}))
        })
    }
}

/// The folder of a run, and how many bytes all its files may have.
#[derive(Clone, Copy)]
struct Room<'a> {
    folder: Option<&'a ProgramFolder>,
    limit: u64,
}

/// A private folder with these files.
async fn folder_with(files: Vec<(String, Bytes)>) -> Result<ProgramFolder, Fault> {
    let made = tokio::task::spawn_blocking(move || ProgramFolder::create(files)).await;
    made.map_err(|error| Fault::internal(error.to_string()))?.map_err(|error| disk(&error))
}

/// The first version number of a text, such as `5.3.0` of `tesseract 5.3.0`.
fn version_in(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    text.split(|c: char| !is_part(c))
        .map(|word| word.trim_start_matches('v').trim_end_matches('.'))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests;
