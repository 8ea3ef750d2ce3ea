//! Programs that tests run: `powerstrip` commands and MCP servers.

use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use crate::{Gateway, powerstrip_binary};

/// The output of a command that has ended.
#[derive(Debug)]
pub struct CommandOutput {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl CommandOutput {
    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// Standard output as JSON, of a command that ended with this code.
    pub fn json_of(&self, code: i32) -> Value {
        assert_eq!(self.code, Some(code), "{self:?}");
        self.json()
    }

    /// Standard output of a command that succeeded.
    pub fn ok(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.stdout
    }

    /// Standard error of a command that ended with this code.
    pub fn failed(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{self:?}");
        &self.stderr
    }
}

impl Gateway {
    /// A `powerstrip` command with the config of this gateway, for a test that watches it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(powerstrip_binary());
        command.args(arguments).args(["--config", "powerstrip.yaml"]).current_dir(self.folder());
        command
    }

    /// Runs a `powerstrip` command with the config of this gateway.
    pub async fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.run_with(arguments, &[]).await
    }

    /// Runs a `powerstrip` command with this text on standard input.
    pub async fn run_with_input(&self, arguments: &[&str], input: &str) -> CommandOutput {
        let mut child = Command::new(powerstrip_binary())
            .args(arguments)
            .args(["--config", "powerstrip.yaml"])
            .current_dir(self.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        // A command that reads no input may have ended already.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        child.wait_with_output().await.expect("the command ends").into()
    }

    /// Runs a `powerstrip` command with these environment variables.
    pub async fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied()).stdin(Stdio::null());
        command.output().await.expect("the command runs").into()
    }
}

/// A program of this workspace that is built next to `powerstrip`.
pub fn sibling_program(name: &str) -> PathBuf {
    let program = powerstrip_binary().with_file_name(name);
    assert!(program.is_file(), "{} is missing: run `cargo build --workspace`", program.display());
    program
}

/// A server process that prints its URL once it listens; killed on drop.
pub struct ServerProcess {
    pub url: String,
    child: Child,
    _stdout: BufReader<ChildStdout>,
}

impl ServerProcess {
    /// Starts the program and waits for its URL.
    pub async fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the server starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut url = String::new();
        stdout.read_line(&mut url).await.expect("the server prints its URL");
        assert!(url.starts_with("http://"), "the server ended early: {url:?}");
        Self { url: url.trim().to_owned(), child, _stdout: stdout }
    }

    /// Sends SIGTERM and returns the exit code.
    pub async fn stop(mut self) -> Option<i32> {
        let pid = self.child.id().expect("the server runs").cast_signed();
        let pid = rustix::process::Pid::from_raw(pid).expect("a process id");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)
            .expect("it can be signalled");
        self.child.wait().await.expect("it ends").code()
    }

    /// Kills the process and waits until it is gone.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("it can be killed");
    }
}
