use std::net::TcpListener;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use config::Listen;
use egress::process::{Runner, Spec};
use egress::sandbox::{Host, Mode, Policy, Tier};
use serde::Serialize;
use store::{Claim, DataFolder};
use tokio_util::sync::CancellationToken;

use super::FAILED;
use crate::context::Context;
use crate::output::{self, Style};

/// See what this machine offers, and what each optional program unlocks
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the gateway can run here, 1 it cannot. Optional programs never fail it."
)]
pub(crate) struct Doctor {}

/// Programs that nobody has to install, how to ask for their version, and what each is good for.
const PROGRAMS: [(&str, &str, &str); 7] = [
    ("python3", "--version", "tools of kind `python`"),
    ("node", "--version", "tools of kind `node`"),
    ("php", "--version", "tools of kind `php`"),
    ("chromium", "--version", "pages that need a browser (a later version)"),
    ("ffmpeg", "-version", "audio and video (a later version)"),
    ("tesseract", "--version", "text in images (a later version)"),
    ("libreoffice", "--version", "office files of old kinds (a later version)"),
];

const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Serialize)]
struct Report {
    ok: bool,
    version: &'static str,
    checks: Vec<Found>,
    sandbox: Sandbox,
    programs: Vec<Program>,
}

#[derive(Serialize)]
struct Found {
    what: &'static str,
    ok: bool,
    detail: String,
}

#[derive(Serialize)]
struct Sandbox {
    tier: Tier,
    meaning: &'static str,
    #[serde(flatten)]
    host: Host,
}

#[derive(Clone, Serialize)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) version: Option<String>,
    pub(crate) unlocks: &'static str,
}

impl Doctor {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load();
        let runner = Runner::new().await?;
        let mut checks = Vec::new();
        match &loaded {
            Ok(loaded) => {
                let detail = loaded
                    .file
                    .as_ref()
                    .map_or("none: defaults".to_owned(), |file| file.display().to_string());
                checks.push(Found { what: "config", ok: true, detail });
                checks.push(data_folder(&loaded.config.data_dir));
                checks.push(port(loaded.config.listen));
            }
            Err(faults) => {
                checks.push(Found { what: "config", ok: false, detail: faults.to_string() })
            }
        }
        let programs = programs(&runner).await;
        let host = runner.host();
        let report = Report {
            ok: checks.iter().all(|found| found.ok),
            version: env!("CARGO_PKG_VERSION"),
            checks,
            sandbox: Sandbox { tier: host.tier(), meaning: meaning(host.tier()), host },
            programs,
        };
        if context.global.json {
            output::json(&report)?;
        } else {
            print(&report, Style::stdout(&context.environment))?;
        }
        Ok(if report.ok { ExitCode::SUCCESS } else { FAILED })
    }
}

/// What a rung means, in a few words.
pub(crate) fn meaning(tier: Tier) -> &'static str {
    match tier {
        Tier::T0 => "tools run with limits on time, memory and output, but see this user's files",
        Tier::T1 => "tools see only their own files, and no network unless they declare it",
        Tier::T2 => "tools run in namespaces of their own: own files, processes and network",
    }
}

fn data_folder(path: &Path) -> Found {
    let existed = path.exists();
    let (ok, detail) = match DataFolder::claim(path) {
        Ok(Claim::Owner(folder)) => {
            drop(folder);
            if !existed {
                // We only came to look.
                let _ = std::fs::remove_dir_all(path);
            }
            (true, format!("{} can be written", path.display()))
        }
        Ok(Claim::OwnedBy { pid }) => {
            let who = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
            (true, format!("{} is in use by {who}", path.display()))
        }
        Err(error) => (false, error.to_string()),
    };
    Found { what: "data folder", ok, detail }
}

fn port(listen: Listen) -> Found {
    let (ok, detail) = match TcpListener::bind(listen.0) {
        Ok(_) => (true, format!("{listen} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            (true, format!("{listen} is in use, by a running gateway or something else"))
        }
        Err(error) => (false, format!("{listen}: {error}")),
    };
    Found { what: "address", ok, detail }
}

/// Which of the programs are there.
pub(crate) async fn programs(runner: &Runner) -> Vec<Program> {
    futures_util::future::join_all(PROGRAMS.map(|program| probe(runner, program))).await
}

async fn probe(
    runner: &Runner,
    (name, flag, unlocks): (&'static str, &'static str, &'static str),
) -> Program {
    let spec = Spec::new(name).arg(flag).deadline(PATIENCE).policy(Policy::new().mode(Mode::Off));
    let version = match runner.run(spec, &CancellationToken::new()).await {
        Ok(finished) => {
            let text = String::from_utf8_lossy(&finished.stdout).into_owned();
            let text = if text.trim().is_empty() {
                String::from_utf8_lossy(&finished.stderr).into_owned()
            } else {
                text
            };
            Some(text.lines().next().unwrap_or("present").trim().chars().take(60).collect())
        }
        Err(_) => runner
            .locate(name)
            .await
            .ok()
            .map(|_| "present, but does not tell its version".to_owned()),
    };
    Program { name, version, unlocks }
}

fn print(report: &Report, style: Style) -> anyhow::Result<()> {
    output::line(format_args!("powerstrip {}", report.version))?;
    for found in &report.checks {
        let mark = if found.ok { style.good("ok  ") } else { style.bad("FAIL") };
        output::line(format_args!("{mark} {}: {}", found.what, found.detail))?;
    }
    let sandbox = &report.sandbox;
    output::line(format_args!(
        "{} sandbox {}: {}",
        style.good("ok  "),
        sandbox.tier,
        sandbox.meaning
    ))?;
    output::line("")?;
    for program in &report.programs {
        match &program.version {
            Some(version) => {
                output::line(format_args!("{} {:12} {version}", style.good("yes "), program.name))?;
            }
            None => {
                let unlocks = style.faint(format_args!("would unlock {}", program.unlocks));
                output::line(format_args!(
                    "{} {:12} {unlocks}",
                    style.doubtful("no  "),
                    program.name
                ))?;
            }
        }
    }
    Ok(())
}
