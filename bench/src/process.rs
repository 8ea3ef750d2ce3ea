//! Processes of servers under measurement: started, found by the address that they print, and stopped.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// The longest start of a server. (Unoptimised builds with 10,000 tools are slow.)
const TIMEOUT: Duration = Duration::from_secs(120);

/// How long a server may take to stop after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// The poll interval while a server starts, and so the error of its start time.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// A running server; dropping it ends it at once.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) begun: Instant,
}

impl Process {
    /// Starts a server and waits until it prints its address (`http://…`) on stderr.
    ///
    /// Stderr goes to a file: a pipe would have to be emptied by the process that makes the load.
    pub(crate) async fn start(mut command: Command, log: PathBuf) -> anyhow::Result<Self> {
        let stderr = File::create(&log).context("a log cannot be written")?;
        command.stdout(Stdio::null()).stderr(stderr);
        let (child, address, begun) = spawn(command, &log, async || printed_address(&log)).await?;
        Ok(Self { child, address, begun })
    }

    /// Starts a server with a given address, and waits until it listens there. Its output goes to the log.
    pub(crate) async fn start_at(
        mut command: Command,
        address: SocketAddr,
        log: PathBuf,
    ) -> anyhow::Result<Self> {
        let written = File::create(&log).context("a log cannot be written")?;
        command.stdout(written.try_clone()?).stderr(written);
        let listens = async || TcpStream::connect(address).await.ok().map(|_| address);
        let (child, address, begun) = spawn(command, &log, listens).await?;
        Ok(Self { child, address, begun })
    }

    /// The process id.
    pub(crate) fn id(&self) -> anyhow::Result<u32> {
        self.child.id().context("a server has ended by itself")
    }

    /// Stops it with SIGTERM, so that its files on disk are complete.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        let pid = Pid::from_raw(self.id()?.cast_signed()).context("a process without an id")?;
        kill_process(pid, Signal::TERM).context("a server cannot be signalled")?;
        if tokio::time::timeout(STOP_TIMEOUT, self.child.wait()).await.is_err() {
            self.child.kill().await.context("a server cannot be ended")?;
        }
        Ok(())
    }
}

/// Starts a program and waits until `seen` returns its address.
async fn spawn(
    mut command: Command,
    log: &Path,
    seen: impl AsyncFn() -> Option<SocketAddr>,
) -> anyhow::Result<(Child, SocketAddr, Instant)> {
    command.stdin(Stdio::null()).kill_on_drop(true);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("POWERSTRIP_") {
            command.env_remove(name);
        }
    }
    let begun = Instant::now();
    let mut child = command.spawn().context("a server cannot be started")?;
    loop {
        if let Some(address) = seen().await {
            return Ok((child, address, begun));
        }
        if let Some(status) = child.try_wait()? {
            bail!("a server ended early, {status}: {}", log_tail(log));
        }
        if begun.elapsed() > TIMEOUT {
            bail!("a server did not start in time: {}", log_tail(log));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// An address with a port that was just free, for servers that cannot choose one themselves.
pub(crate) fn free_address() -> anyhow::Result<SocketAddr> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").context("there is no free port")?;
    Ok(listener.local_addr()?)
}

fn printed_address(log: &Path) -> Option<SocketAddr> {
    address_in(&std::fs::read_to_string(log).ok()?)
}

/// The first address in a log whose line is whole.
fn address_in(log: &str) -> Option<SocketAddr> {
    let whole = &log[..=log.rfind('\n')?];
    let rest = whole.split("http://").nth(1)?;
    let end = rest.find(|c: char| !(c.is_ascii_hexdigit() || ".:[]".contains(c)))?;
    rest[..end].trim_end_matches('.').parse().ok()
}

fn log_tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(10)..].join(" / ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Command, Process, address_in};

    #[test]
    fn the_address_is_found_in_a_whole_line() {
        let address = Some(([127, 0, 0, 1], 4_321).into());
        assert_eq!(address_in("warming up\nlistening on http://127.0.0.1:4321\n"), address);
        assert_eq!(address_in("INFO at http://127.0.0.1:4321/mcp, tier T2\nmore"), address);
        assert_eq!(address_in("url=\"http://127.0.0.1:4321\"\n"), address);
        assert_eq!(address_in("listening on http://127.0.0.1:4321.\n"), address);
        assert_eq!(address_in("listening on http://127.0.0.1:43"), None);
        assert_eq!(address_in("nothing\n"), None);
        assert_eq!(address_in(""), None);
    }

    #[tokio::test]
    async fn a_server_that_ends_early_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo the port is taken >&2; exit 3"]);
        let error = Process::start(command, folder.path().join("log")).await.err().unwrap();
        let text = error.to_string();
        assert!(text.contains("the port is taken") && text.contains('3'), "{text}");
    }

    #[tokio::test]
    async fn a_server_with_a_given_address_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60"]);
        let log = folder.path().join("log");
        let process = Process::start_at(command, address, log.clone()).await.unwrap();
        assert_eq!(process.address, address);
        drop((process, listener));
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such option; exit 2"]);
        let error = Process::start_at(command, address, log).await.err().unwrap();
        assert!(error.to_string().contains("no such option"), "{error}");
    }

    #[tokio::test]
    async fn a_server_is_stopped_with_a_signal() {
        let folder = tempfile::tempdir().unwrap();
        let ended = folder.path().join("ended");
        let script = format!(
            "trap 'echo yes > {}; exit 0' TERM; echo http://127.0.0.1:1 >&2; while :; do sleep 0.01; done",
            ended.display()
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        let process = Process::start(command, folder.path().join("log")).await.unwrap();
        tokio::time::timeout(Duration::from_secs(10), process.stop()).await.unwrap().unwrap();
        assert!(ended.exists());
    }
}
