use std::net::TcpListener;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use config::Listen;
use egress::process::Runner;
use egress::sandbox::{Host, Tier};
use serde::Serialize;
use store::{Claim, DataFolder};

use crate::context::Context;
use crate::exit::FAILED;
use crate::output::{self, Style};
use crate::programs::{Program, describe_tier, find_programs};

/// See what this machine offers, and what each optional program unlocks
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the gateway can run here, 1 it cannot. Optional programs never fail it."
)]
pub(crate) struct Doctor {}

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
        let programs = find_programs(&runner).await;
        let host = runner.host();
        let report = Report {
            ok: checks.iter().all(|found| found.ok),
            version: env!("CARGO_PKG_VERSION"),
            checks,
            sandbox: Sandbox { tier: host.tier(), meaning: describe_tier(host.tier()), host },
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
