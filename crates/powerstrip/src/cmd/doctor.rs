mod servers;
mod workflows;

use std::net::TcpListener;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use config::{Fault, Listen};
use egress::process::Runner;
use egress::sandbox::{Host, Tier};
use gateway::programs::{Program, describe_tier, find_programs};
use serde::Serialize;
use store::{Claim, DataFolder};

use crate::context::Context;
use crate::exit::FAILED;
use gateway::port::find_holder;
use terminal::table::wrap;
use terminal::{Style, shown};

/// See what this machine offers, and what each optional program unlocks
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the gateway can run here, 1 it cannot. Servers that fail and optional programs never fail it.\n\
        Servers are listed by the gateway that runs on this data folder; where none runs, they are started to see how they do."
)]
pub(crate) struct Doctor {}

#[derive(Serialize)]
struct Report {
    ok: bool,
    version: &'static str,
    checks: Vec<CheckResult>,
    sandbox: Sandbox,
    programs: Vec<Program>,
}

#[derive(Serialize)]
struct CheckResult {
    what: &'static str,
    ok: bool,
    /// Whether the gateway can run, but not all of it works.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    warning: bool,
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
                checks.push(CheckResult { what: "config", ok: true, warning: false, detail });
                checks.extend(loaded.invalid.iter().map(invalid_server));
                let (found, owner) = data_folder(&loaded.config.data_dir);
                let usable = found.ok;
                checks.push(found);
                checks.push(address(loaded.config.listen, owner));
                if usable {
                    checks.extend(workflows::check(loaded).await);
                    checks.extend(servers::check(context, loaded).await);
                }
            }
            Err(faults) => checks.push(CheckResult {
                what: "config",
                ok: false,
                warning: false,
                detail: faults.to_string(),
            }),
        }
        let browser = loaded.as_ref().map(|loaded| loaded.config.research.browser.clone());
        let programs = find_programs(&runner, &browser.unwrap_or_default()).await;
        let host = runner.host();
        let report = Report {
            ok: checks.iter().all(|found| found.ok),
            version: env!("CARGO_PKG_VERSION"),
            checks,
            sandbox: Sandbox { tier: host.tier(), meaning: describe_tier(host.tier()), host },
            programs,
        };
        if context.global.json {
            terminal::json(&report)?;
        } else {
            print(&report, Style::stdout(&context.environment))?;
        }
        Ok(if report.ok { ExitCode::SUCCESS } else { FAILED })
    }
}

/// A server whose entry is wrong. The gateway runs without it.
fn invalid_server((name, faults): (&String, &Vec<Fault>)) -> CheckResult {
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    let detail = format!("`{name}` is not used: {}", faults.join("; "));
    CheckResult { what: "server", ok: true, warning: true, detail }
}

/// Whether the data folder can be used, and the process that uses it now.
fn data_folder(path: &Path) -> (CheckResult, Option<u32>) {
    let existed = path.exists();
    let mut owner = None;
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
            owner = pid;
            let who = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
            (true, format!("{} is in use by {who}", path.display()))
        }
        Err(error) => (false, error.to_string()),
    };
    (CheckResult { what: "data folder", ok, warning: false, detail }, owner)
}

/// Whether the gateway can listen, or already does.
fn address(listen: Listen, owner: Option<u32>) -> CheckResult {
    let (ok, detail) = match TcpListener::bind(listen.0) {
        Ok(_) if listen.0.port() == 0 => (true, format!("{listen}: `serve` takes a free port")),
        Ok(_) => (true, format!("{listen} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let advice = format!(
                "stop it, or choose another address: `listen:` in the config or `serve --listen {}:0`",
                listen.0.ip()
            );
            match find_holder(listen.0) {
                Some(holder) if Some(holder.pid) == owner => {
                    (true, format!("{listen} is held by the gateway of this data folder"))
                }
                Some(holder) if holder.program == "powerstrip" => (
                    false,
                    format!(
                        "{listen} is held by a gateway on another data folder, {holder}: {advice}"
                    ),
                ),
                Some(holder) => (false, format!("{listen} is held by {holder}: {advice}")),
                None => (
                    false,
                    format!("{listen} is held by a process that this user may not see: {advice}"),
                ),
            }
        }
        Err(error) => (false, format!("{listen}: {error}")),
    };
    CheckResult { what: "address", ok, warning: false, detail }
}

/// The width of the column of names.
const NAMES: usize = 13;

fn print(report: &Report, style: Style) -> anyhow::Result<()> {
    terminal::line(format_args!("powerstrip {}", report.version))?;
    for found in &report.checks {
        let mark = match found {
            CheckResult { ok: false, .. } => style.bad("FAIL"),
            CheckResult { warning: true, .. } => style.doubtful("warn"),
            CheckResult { .. } => style.good("ok  "),
        };
        row(&mark, found.what, &found.detail, style)?;
    }
    let sandbox = &report.sandbox;
    let meaning = format!("{}: {}", sandbox.tier, sandbox.meaning);
    row(&style.good("ok  "), "sandbox", &meaning, style)?;
    terminal::line("")?;
    for program in &report.programs {
        match &program.version {
            Some(version) => {
                let note = program.note.iter().map(|note| format!(" {note}"));
                let detail: String = std::iter::once(version.clone()).chain(note).collect();
                row(&style.good("yes "), program.name, &detail, style)?;
            }
            None => {
                let unlocks = format!("would unlock {}", program.unlocks);
                row(&style.doubtful("no  "), program.name, &unlocks, style)?;
            }
        }
    }
    Ok(())
}

/// A mark, a name, and a detail that is wrapped on a terminal.
fn row(mark: &str, name: &str, detail: &str, style: Style) -> anyhow::Result<()> {
    let indent = "ok  ".len() + 1 + NAMES;
    let lines = wrap(&shown(detail), style.width().map(|width| width.saturating_sub(indent)));
    let mut head = format!("{mark} {name:NAMES$}");
    for line in lines {
        terminal::line(format_args!("{head}{line}"))?;
        head = " ".repeat(indent);
    }
    Ok(())
}
