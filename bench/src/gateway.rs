//! A real gateway: its folder, its start and its memory.

use std::net::SocketAddr;
use std::ops::Add as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use tokio::process::Command;

use crate::load::Connection;
use crate::process::Process;

/// The gateway's data folder, below its folder.
const DATA: &str = ".powerstrip";

/// The longest wait for memory to settle.
const RESTLESS: Duration = Duration::from_secs(8);

/// The folder of a gateway; removed on drop.
pub(crate) struct Home(TempDir);

impl Home {
    /// A folder with a config, a place for tools, and every other setting at its default.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let home = Self(tempfile::tempdir().context("a temporary folder cannot be made")?);
        home.write("powerstrip.yaml", "listen: 127.0.0.1:0\n")?;
        std::fs::create_dir_all(home.tools())?;
        std::fs::create_dir_all(home.scratch())?;
        Ok(home)
    }

    /// The folder of tools.
    pub(crate) fn tools(&self) -> PathBuf {
        self.path().join("tools")
    }

    /// The gateway's folder for temporary files, so that an interrupted run leaves none behind.
    fn scratch(&self) -> PathBuf {
        self.path().join("scratch")
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file below this folder.
    pub(crate) fn write(&self, path: &str, text: &str) -> anyhow::Result<()> {
        let path = self.path().join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
    }

    /// Removes the data, so that the next start is a first start.
    pub(crate) fn forget_data(&self) -> anyhow::Result<()> {
        let data = self.path().join(DATA);
        if data.exists() {
            std::fs::remove_dir_all(data).context("the data of a gateway cannot be removed")?;
        }
        Ok(())
    }
}

/// A gateway that is ready for calls.
pub(crate) struct Gateway {
    process: Process,
    /// The time from the start of the process until it reports that it is ready.
    pub(crate) ready_after: Duration,
}

impl Gateway {
    /// Starts a gateway and waits until it reports that it is ready.
    pub(crate) async fn start(binary: &Path, home: &Home) -> anyhow::Result<Self> {
        let mut command = Command::new(binary);
        command.args(["serve", "--config", "powerstrip.yaml"]).current_dir(home.path());
        command.env("TMPDIR", home.scratch());
        let process = Process::start(command, home.path().join("stderr.log")).await?;
        let request = format!("GET /readyz HTTP/1.1\r\nhost: {}\r\n\r\n", process.address);
        let mut connection = Connection::open(process.address).await?;
        let answer = connection.ask(request.as_bytes()).await?;
        ensure!(answer.status == 200, "the gateway listens but is not ready: {answer}");
        let ready_after = process.begun.elapsed();
        Ok(Self { process, ready_after })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.process.address
    }

    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        self.process.stop().await
    }

    /// The resident memory of the gateway itself in MB, now.
    pub(crate) fn memory(&self) -> anyhow::Result<f64> {
        Ok(Memory::of(self.process.id()?)?.own_mb)
    }

    /// The resident memory of the gateway and of its child processes in MB, now.
    pub(crate) fn memory_with_children(&self) -> anyhow::Result<Memory> {
        Memory::of(self.process.id()?)
    }

    /// The resident memory in MB once it has settled: of the gateway, and of its child processes.
    pub(crate) async fn memory_at_rest(&self) -> anyhow::Result<Memory> {
        let pid = self.process.id()?;
        let begun = tokio::time::Instant::now();
        let mut last = Memory::of(pid)?;
        let mut calm = 0;
        while calm < 4 && begun.elapsed() < RESTLESS {
            tokio::time::sleep(Duration::from_millis(250)).await;
            let now = Memory::of(pid)?;
            let moved = (now.own_mb - last.own_mb).abs() > last.own_mb * 0.005;
            calm = if moved { 0 } else { calm + 1 };
            last = now;
        }
        Ok(last)
    }
}

/// Resident memory in MB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) own_mb: f64,
    /// The part of `own_mb` that no file backs: heap and stacks. The rest is program text, which the system may take back.
    pub(crate) private_mb: f64,
    pub(crate) children_mb: f64,
}

impl Memory {
    /// The memory of a process and of its descendants.
    pub(crate) fn of(pid: u32) -> anyhow::Result<Self> {
        let of = |field| status_mb(pid, field);
        let (own_mb, private_mb) = of("VmRSS:")
            .zip(of("RssAnon:"))
            .context("the system does not tell how much memory a process holds")?;
        let resident = |child| status_mb(child, "VmRSS:");
        let children_mb = children(pid).into_iter().filter_map(resident).fold(0.0, f64::add);
        Ok(Self { own_mb, private_mb, children_mb })
    }
}

fn status_mb(pid: u32, field: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1_024.0)
}

/// All processes below one. A process may start children from any of its threads.
fn children(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let direct: Vec<u32> = threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|line| {
            line.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()
        })
        .collect();
    direct.into_iter().flat_map(|child| std::iter::once(child).chain(children(child))).collect()
}
