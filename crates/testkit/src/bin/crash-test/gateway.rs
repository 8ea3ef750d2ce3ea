//! The gateway process, and what it may leave behind.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use testkit::powerstrip_binary;
use tokio::process::{Child, Command};
use tokio::time::sleep;

/// How long a gateway may take to start.
const START: Duration = Duration::from_secs(60);

/// How long processes of a dead gateway may live.
const ORPHANS: Duration = Duration::from_secs(5);

/// What new workflows need.
const TOOLS: [&str; 2] = ["ledger:work", "local:work"];

/// One process of the gateway.
pub(crate) struct Gateway {
    child: Child,
    log: PathBuf,
}

impl Gateway {
    /// Starts it in a folder with a config. `generation` is the environment variable by which its calls and children
    /// are known.
    pub(crate) fn spawn(folder: &Path, generation: &str) -> Result<Self, String> {
        let log = folder.join(format!("{generation}.log"));
        let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let child = Command::new(powerstrip_binary())
            .args(["serve", "--config", "powerstrip.yaml"])
            .current_dir(folder)
            .env("GENERATION", generation)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("the gateway cannot be started: {error}"))?;
        Ok(Self { child, log })
    }

    /// Waits until it answers, and has the tools of both servers.
    pub(crate) async fn ready(&mut self, url: &str) -> Result<(), String> {
        let begun = Instant::now();
        let client = reqwest::Client::new();
        while begun.elapsed() < START {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("the gateway ended ({status}):\n{}", self.log()));
            }
            if let Ok(answer) = client.get(format!("{url}/mcp/discover")).send().await
                && let Ok(tools) = answer.text().await
                && TOOLS.iter().all(|tool| tools.contains(tool))
            {
                return Ok(());
            }
            sleep(Duration::from_millis(10)).await;
        }
        Err(format!("the gateway does not answer:\n{}", self.log()))
    }

    /// `kill -9`, and waits until it is gone.
    pub(crate) async fn kill(mut self) -> Result<(), String> {
        self.child.kill().await.map_err(|error| format!("the gateway cannot be killed: {error}"))
    }

    /// Stops it as an operator would.
    pub(crate) async fn stop(mut self) -> Result<(), String> {
        let pid = self.child.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed()));
        let pid = pid.ok_or("the gateway has ended by itself")?;
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)
            .map_err(|error| error.to_string())?;
        match tokio::time::timeout(START, self.child.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            ended => Err(format!("the gateway did not stop: {ended:?}\n{}", self.log())),
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

/// Waits until no process that a gateway started is left.
pub(crate) async fn orphans_end(generation: &str) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        let left = processes(generation);
        if left.is_empty() {
            return Ok(());
        }
        if begun.elapsed() > ORPHANS {
            return Err(format!("processes of a killed gateway are left: {}", left.join(", ")));
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// The processes with this generation in their environment.
fn processes(generation: &str) -> Vec<String> {
    let variable = format!("GENERATION={generation}");
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let found = entries.filter_map(Result::ok).filter_map(|entry| {
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|found| found == variable.as_bytes()).then(|| {
            let command = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            format!("{} {}", entry.file_name().to_string_lossy(), command.replace('\0', " "))
        })
    });
    found.collect()
}
