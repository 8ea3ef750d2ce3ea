//! The command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::load::Plan;

/// Measures Powerstrip against the same work done without it.
#[derive(Debug, Parser)]
#[command(name = "powerstrip-bench", version, max_term_width = 120)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Strip(StripRun),
    Gateway(GatewayRun),
    Files(FilesRun),
    Chain(ChainRun),
    Scrape(ScrapeRun),
    Collections(CollectionsRun),
    Soak(SoakRun),
    Workflows(WorkflowsRun),
    Quality(crate::quality::QualityRun),
    /// The echo handler on axum alone.
    #[command(hide = true)]
    BareHttp,
    /// A file on axum alone.
    #[command(hide = true)]
    BareFiles(crate::bare::Copy),
    /// The echo tool on rmcp alone.
    #[command(hide = true)]
    BareMcp(crate::bare::McpServer),
}

/// Measure the strip: calls through its doors, Python tools, and catalogs of up to 10,000 tools.
#[derive(Debug, Args)]
#[command(after_help = "\
Build both first, in the same profile:
  cargo build --release -p powerstrip -p powerstrip-bench
  target/release/powerstrip-bench strip

Everything runs on loopback, in temporary folders, and is ended when the run ends. A missed target is a row of the \
table; the run fails only if a row cannot be measured.")]
pub(crate) struct StripRun {
    #[command(flatten)]
    pub(crate) how: How,
    /// Measure only these groups of rows.
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    only: Vec<Group>,
}

/// Measure the gateway: calls to a server behind it, against the server itself and against other gateways.
#[derive(Debug, Args)]
#[command(after_help = "\
Build both first, in the same profile:
  cargo build --release -p powerstrip -p powerstrip-bench
  target/release/powerstrip-bench gateway

Other gateways are measured if they are installed, and skipped with a word on how to install them if not. Everything \
runs on loopback, in temporary folders, and is ended when the run ends. A missed target is a row of the table; the run \
fails only if a row cannot be measured.")]
pub(crate) struct GatewayRun {
    #[command(flatten)]
    pub(crate) how: How,
    /// Measure only these groups of rows.
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    only: Vec<GatewayGroup>,
    /// Folders in which other gateways are looked for before PATH.
    #[arg(long, value_name = "FOLDER", value_delimiter = ',')]
    pub(crate) peers: Vec<PathBuf>,
}

/// Measure files: upload and download of a large one, against axum that copies it to the disk and back.
#[derive(Debug, Args)]
#[command(after_help = "\
Build both first, in the same profile:
  cargo build --release -p powerstrip -p powerstrip-bench
  target/release/powerstrip-bench files")]
pub(crate) struct FilesRun {
    #[command(flatten)]
    pub(crate) how: How,
}

/// Measure a chain: a large document through five tools of two servers, what an agent reads and the gateway's memory.
#[derive(Debug, Args)]
#[command(after_help = "\
Build all first, in the same profile:
  cargo build --release -p powerstrip -p fixture -p powerstrip-bench
  target/release/powerstrip-bench chain")]
pub(crate) struct ChainRun {
    #[command(flatten)]
    pub(crate) how: How,
}

/// Measure scraping of a site on loopback: time beyond fetching and reading, and memory.
#[derive(Debug, Args)]
#[command(after_help = "\
Build both first, in the same profile:
  cargo build --release -p powerstrip -p powerstrip-bench
  target/release/powerstrip-bench scrape")]
pub(crate) struct ScrapeRun {
    #[command(flatten)]
    pub(crate) how: How,
}

/// Measure searches in a collection of 100,000 chunks, against FTS5 by Python's sqlite3 and a product by numpy.
#[derive(Debug, Args)]
#[command(after_help = "\
Build both first, in the same profile, and install numpy in a virtual environment:
  cargo build --release -p powerstrip -p powerstrip-bench
  python3 -m venv rivals && rivals/bin/pip install numpy
  target/release/powerstrip-bench collections --python rivals/bin/python")]
pub(crate) struct CollectionsRun {
    #[command(flatten)]
    pub(crate) how: How,
    /// The interpreter that can import numpy.
    #[arg(long, value_name = "FILE", default_value = "python3")]
    pub(crate) python: PathBuf,
}

/// Load the gateway for a long time and sample its memory: 500 sessions call by turns, and others are abandoned.
#[derive(Debug, Args)]
#[command(after_help = "\
Build both first, in the same profile:
  cargo build --release -p powerstrip -p powerstrip-bench
  target/release/powerstrip-bench soak        for 30 minutes
  target/release/powerstrip-bench soak 2      for two minutes")]
pub(crate) struct SoakRun {
    /// How many minutes it lasts.
    #[arg(value_name = "MINUTES", default_value_t = 30.0, value_parser = minutes)]
    minutes: f64,
    #[command(flatten)]
    pub(crate) how: How,
}

impl SoakRun {
    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs_f64(self.minutes * 60.0)
    }
}

/// Measure durable workflows, side by side with LangGraph and DBOS on the same database engine.
#[derive(Debug, Args)]
#[command(after_help = "\
Build both first, in the same profile, and install the other engines in a virtual environment:
  cargo build --release -p powerstrip -p powerstrip-bench
  python3 -m venv rivals
  rivals/bin/pip install langgraph langgraph-checkpoint-sqlite langgraph-checkpoint-postgres 'psycopg[binary]' dbos
  scripts/postgres run target/release/powerstrip-bench workflows --python rivals/bin/python

What is not installed is skipped, with a word on how to install it.")]
pub(crate) struct WorkflowsRun {
    #[command(flatten)]
    pub(crate) how: How,
    /// The interpreter that can import the other engines.
    #[arg(long, value_name = "FILE", default_value = "python3")]
    pub(crate) python: PathBuf,
    /// A PostgreSQL server, on which databases are created.
    #[arg(long, value_name = "URL", env = "TEST_POSTGRES")]
    pub(crate) postgres: Option<String>,
}

/// Options of every run.
#[derive(Debug, Args)]
pub(crate) struct How {
    /// The gateway's binary [default: `powerstrip` in the folder of this program].
    #[arg(long, value_name = "FILE")]
    powerstrip: Option<PathBuf>,
    /// How long each side of each row is under load.
    #[arg(long, value_name = "N", default_value_t = 6.0, value_parser = seconds)]
    seconds: f64,
    /// A quick run: short rounds, few repeats, at most 1,000 tools and 200 sessions.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print one line of JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Rows that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Group {
    /// Calls per second through the doors, against bare axum and bare rmcp.
    Calls,
    /// Warm workers and cold starts of Python tools.
    Python,
    /// Start, listing, calls and memory with 10 to 10,000 tools.
    Tools,
}

/// Rows about servers behind the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GatewayGroup {
    /// Calls of a server through the gateway, against the server itself.
    Calls,
    /// The same calls through other gateways.
    Peers,
    /// Calls of one server while another hangs.
    Hung,
    /// 1 to 2,000 sessions of clients before 2026-07-28.
    Sessions,
    /// A server of 10 to 10,000 tools.
    Tools,
}

impl StripRun {
    /// Whether a group was asked for.
    pub(crate) fn wants(&self, group: Group) -> bool {
        self.only.is_empty() || self.only.contains(&group)
    }
}

impl GatewayRun {
    /// Whether a group was asked for.
    pub(crate) fn wants(&self, group: GatewayGroup) -> bool {
        self.only.is_empty() || self.only.contains(&group)
    }
}

impl How {
    /// How long a side is under load at a time.
    pub(crate) fn time(&self) -> Duration {
        let seconds = if self.quick { self.seconds.min(1.0) } else { self.seconds };
        Duration::from_secs_f64(seconds)
    }

    /// How the load is cut into rounds.
    pub(crate) fn plan(&self) -> Plan {
        Plan::lasting(self.time())
    }

    /// The gateway to measure.
    pub(crate) fn binary(&self) -> anyhow::Result<PathBuf> {
        let binary = match &self.powerstrip {
            Some(binary) => binary.clone(),
            None => in_own_folder()?,
        };
        if !binary.is_file() {
            bail!(
                "there is no gateway at {}: build it, or name it with --powerstrip",
                binary.display()
            );
        }
        // Gateways are started in other folders, so a relative path would not be found.
        std::path::absolute(&binary).context("the path of the gateway cannot be used")
    }
}

fn in_own_folder() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("this program cannot find itself")?;
    let folder = own.parent().unwrap_or(Path::new("."));
    Ok(folder.join(format!("powerstrip{}", std::env::consts::EXE_SUFFIX)))
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds from 0.1 to 600 is expected".to_owned()),
    }
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if (0.1..=1440.0).contains(&minutes) => Ok(minutes),
        _ => Err("a number of minutes from 0.1 to 1440 is expected".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{Cli, Command, GatewayGroup, Group, Parser as _};

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn groups_can_be_chosen() {
        let Command::Strip(run) =
            Cli::parse_from(["powerstrip-bench", "strip", "--only", "calls,tools"]).command
        else {
            panic!("`strip` was asked for");
        };
        assert!(run.wants(Group::Calls) && run.wants(Group::Tools) && !run.wants(Group::Python));
    }

    #[test]
    fn groups_of_the_gateway_can_be_chosen() {
        let line = ["powerstrip-bench", "gateway", "--only", "hung", "--peers", "a,b/bin"];
        let Command::Gateway(run) = Cli::parse_from(line).command else {
            panic!("`gateway` was asked for");
        };
        assert!(run.wants(GatewayGroup::Hung) && !run.wants(GatewayGroup::Calls));
        assert_eq!(run.peers, ["a", "b/bin"].map(std::path::PathBuf::from));
    }

    #[test]
    fn nonsense_is_refused() {
        for seconds in ["0", "-1", "nan", "inf", "1e9", "soon"] {
            for command in ["strip", "gateway"] {
                let line = ["powerstrip-bench", command, "--seconds", seconds];
                assert!(Cli::try_parse_from(line).is_err(), "{command} {seconds}");
            }
        }
        assert!(Cli::try_parse_from(["powerstrip-bench", "gateway", "--only", "python"]).is_err());
        assert!(Cli::try_parse_from(["powerstrip-bench", "soak", "0"]).is_err());
    }

    #[test]
    fn a_soak_lasts_half_an_hour_by_default() {
        for (line, seconds) in
            [(&["powerstrip-bench", "soak"][..], 1_800), (&["powerstrip-bench", "soak", "2"], 120)]
        {
            let Command::Soak(run) = Cli::parse_from(line).command else { panic!("{line:?}") };
            assert_eq!(run.time().as_secs(), seconds);
        }
    }
}
