mod logs;
mod names;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use gateway::server_operations::{ListServers, RestartServer};
use operations::NoInput;
use operations::servers::{Health, LeaseView, ServerName, ServerSummary};
use proto::clean;
use upstream::operations::ListNames;

use crate::access::Access;
use crate::context::Context;
use crate::telemetry::Telemetry;
use logs::Logs;
use names::Release;
use terminal::table::{Cell, Table};
use terminal::{Style, Tone};

const EXAMPLES: &str = "\
Examples:
  powerstrip servers                  each server's state, tools and last error
  powerstrip servers show crm         one server: processes, log, tools, calls of the last hour
  powerstrip servers logs crm -f      what it writes to stderr, as it comes
  powerstrip servers restart crm      end its processes and sessions, and start it again
  powerstrip servers --json           the same and more, for programs
  powerstrip servers names            names of servers that registered themselves, and their holders
  powerstrip servers release words    let another token register a server `words`

It asks the gateway that runs on this data folder; where none runs, the servers are started to see how they do.";

/// How many lines of a server's stderr are shown in the list.
const STDERR_LINES: usize = 5;

/// Show, watch and restart the MCP servers behind the gateway
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServersCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the servers with their state and last error
    #[command(visible_alias = "list")]
    Ls,
    /// Show one server with its processes, log, tools and calls
    Show(NamedServer),
    /// Print what a server wrote to stderr, and when it went up and down
    Logs(Logs),
    /// End a server's processes and sessions, and start it again
    Restart(NamedServer),
    /// List the names of servers that registered themselves, and their holders
    Names,
    /// Release a name: its server is removed, and the first token to register the name holds it
    Release(Release),
}

#[derive(Debug, Args)]
struct NamedServer {
    /// The server's name.
    name: String,
}

impl ServersCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, None).await?;
        let done = self.action.unwrap_or(Action::Ls).run(&access, context).await;
        access.close().await;
        telemetry.flush().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Action {
    async fn run(self, access: &Access, context: &Context) -> anyhow::Result<()> {
        let (style, as_json) = (Style::stdout(&context.environment), context.global.json);
        match self {
            Self::Ls => {
                let servers = access.run::<ListServers>(&NoInput {}).await?.servers;
                if as_json {
                    return Ok(terminal::record(&servers)?);
                }
                let names = access.run::<ListNames>(&NoInput {}).await?;
                list(&servers, style)?;
                names::list_unused(&names)
            }
            Self::Show(NamedServer { name }) => show::run(access, name, style, as_json).await,
            Self::Logs(logs) => logs.run(access, style, as_json).await,
            Self::Restart(NamedServer { name }) => {
                let change = access.run::<RestartServer>(&ServerName { name }).await?;
                if as_json {
                    Ok(terminal::record(&change)?)
                } else {
                    Ok(terminal::line(terminal::shown(&change.message))?)
                }
            }
            Self::Names => names::run(access, style, as_json).await,
            Self::Release(release) => release.run(access, as_json).await,
        }
    }
}

/// One line about a server that registered itself.
fn lease(lease: &LeaseView) -> String {
    let ends = lease.replicas.iter().map(|replica| replica.expires_in_ms / 1000).min().unwrap_or(0);
    let (age, version) = (lease.age_ms / 1000, clean::line(&lease.version));
    let count = lease.replicas.len();
    format!("registered {age} s ago: version {version}, replicas {count}, lease ends in {ends} s")
}

fn list(servers: &[ServerSummary], style: Style) -> anyhow::Result<()> {
    if servers.is_empty() {
        terminal::line(
            "no servers: `powerstrip add NAME -- COMMAND` adds one, or name some under `servers` in powerstrip.yaml",
        )?;
        return Ok(());
    }
    let mut table = Table::new(["NAME", "STATE", "KIND", "ERA", "TOOLS"]).right(["TOOLS"]);
    for server in servers {
        table.row([
            Cell::new(&server.name).tone(Tone::Strong),
            Cell::state(server.state.as_str()),
            Cell::new(&server.kind),
            Cell::maybe(server.era.as_ref()),
            Cell::new(server.tools),
        ]);
        details(server, is_healthy(server)).into_iter().for_each(|detail| table.detail(detail));
    }
    Ok(table.print(style)?)
}

/// Whether the server works or waits to be used; what it wrote to stderr and earlier errors are shown by `show` and `logs`.
fn is_healthy(server: &ServerSummary) -> bool {
    matches!(server.state.health(), Health::Good | Health::Off)
}

/// What is to be said about a server below its row, briefly if it is healthy. Servers and the callers that register them choose much of it: `Cell`
/// removes characters that move the cursor.
fn details(server: &ServerSummary, brief: bool) -> Vec<Cell> {
    let mut details = Vec::new();
    if let Some(view) = &server.lease {
        details.push(Cell::new(lease(view)));
    }
    if let Some(reason) = &server.reason
        && server.last_error.as_ref() != Some(reason)
    {
        details.push(Cell::new(reason));
    }
    if let Some(error) = server.last_error.as_ref().filter(|_| !brief) {
        let when = server.last_error_unix_ms.map(terminal::time::ago);
        let when = when.map(|when| format!(" ({when})")).unwrap_or_default();
        details.push(Cell::new(format_args!("last error: {error}{when}")));
    }
    for fault in &server.faults {
        details.push(Cell::new(format_args!("not offered: {}: {}", fault.tool, fault.reason)));
    }
    for held in &server.quarantined {
        let (tool, reason) = (&held.tool, &held.reason);
        let advice = format!("see `powerstrip tools diff {tool}`");
        details.push(Cell::new(format_args!("quarantined: {tool}: {reason}; {advice}")));
    }
    for hidden in &server.hidden_characters {
        details.push(Cell::new(format_args!(
            "cleaned: {} invisible characters in the definition of {}",
            hidden.characters, hidden.tool
        )));
    }
    if brief {
        return details;
    }
    let stderr: Vec<_> = server.stderr_tail.as_deref().unwrap_or_default().lines().collect();
    for line in &stderr[stderr.len().saturating_sub(STDERR_LINES)..] {
        details.push(Cell::new(format_args!("stderr: {line}")).tone(Tone::Faint));
    }
    details
}
