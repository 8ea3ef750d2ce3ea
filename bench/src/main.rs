//! Side-by-side speed runs: the gateway against the same work done without it, in one run on one machine, so that
//! only ratios are compared.

mod bare;
mod cli;
mod gateway;
mod load;
mod machine;
mod peers;
mod process;
mod quality;
mod rivals;
mod rows;
mod stats;
mod table;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use clap::Parser as _;
use tokio::runtime::{Builder, Runtime};

use cli::{Cli, Command, How};
use machine::Machine;
use rows::Report;

/// The gateway's own, since quality runs measure its code in this process.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let ended = match Cli::parse().command {
        Command::Strip(run) => measure(&run.how, async |binary| rows::measure(&run, binary).await),
        Command::Gateway(run) => {
            measure(&run.how, async |binary| rows::gateway::measure(&run, binary).await)
        }
        Command::Files(run) => {
            measure(&run.how, async |binary| rows::files::measure(&run, binary).await)
        }
        Command::Chain(run) => {
            measure(&run.how, async |binary| rows::chain::measure(&run, binary).await)
        }
        Command::Scrape(run) => {
            measure(&run.how, async |binary| rows::scrape::measure(&run, binary).await)
        }
        Command::Collections(run) => {
            measure(&run.how, async |_| rows::collections::measure(&run).await)
        }
        Command::Soak(run) => {
            measure(&run.how, async |binary| rows::gateway::soak::measure(&run, binary).await)
        }
        Command::Workflows(run) => {
            measure(&run.how, async |binary| rows::workflows::measure(&run, binary).await)
        }
        Command::Quality(run) => quality::run(&run),
        Command::BareHttp => serve(bare::http()),
        Command::BareFiles(copy) => serve(bare::files(copy)),
        Command::BareMcp(server) => serve(bare::mcp(server)),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            rows::say(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// A bare server has the same runtime as the gateway: a thread for every core.
fn serve(server: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    Builder::new_multi_thread().enable_all().build()?.block_on(server)
}

fn measure(how: &How, rows: impl AsyncFnOnce(&Path) -> Report) -> anyhow::Result<()> {
    let binary = how.binary()?;
    let machine = Machine::look(&binary)?;
    let report = client_runtime()?.block_on(async {
        tokio::select! {
            report = rows(&binary) => Ok(report),
            // Dropping the other future kills every process that it has started.
            _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted"),
        }
    })?;
    print(&machine, &report, how.json).context("the figures cannot be written")?;
    ensure!(report.is_whole(), "not every row could be measured");
    Ok(())
}

/// One thread, so that the load takes little of the cores that it shares with the measured servers.
fn client_runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

fn print(machine: &Machine, report: &Report, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        let line = serde_json::json!({"machine": machine, "rows": report.rows});
        writeln!(out, "{line}")?;
    } else {
        writeln!(out, "{machine}\n\n{}", table::markdown(&report.rows))?;
    }
    Ok(())
}
