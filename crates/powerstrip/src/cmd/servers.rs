mod names;

use std::process::ExitCode;

use clap::Args;
use operations::NoInput;
use proto::clean;
use serde_json::Value;
use upstream::operations::ListNames;

use crate::access::Access;
use crate::context::Context;
use crate::gateway::server_operations::ListServers;
use crate::output::{self, Style};
use crate::telemetry::Telemetry;
use names::Action;

const EXAMPLES: &str = "\
Examples:
  powerstrip servers                  each server's state, tools and last error
  powerstrip servers --json           the same and more, for programs
  powerstrip servers names            names of servers that registered themselves, and their holders
  powerstrip servers release words    let another token register a server `words`

It asks the gateway that runs on this data folder; where none runs, the servers are started to see how they do.";

/// How many lines of a server's stderr are shown.
const STDERR_LINES: usize = 5;

/// Show how the MCP servers behind the gateway are
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServersCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

impl ServersCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, None).await?;
        if let Some(action) = self.action {
            let ended = action.run(&access, context).await;
            access.close().await;
            telemetry.flush().await;
            return ended;
        }
        let servers = access.run::<ListServers>(&NoInput {}).await;
        let names = access.run::<ListNames>(&NoInput {}).await;
        access.close().await;
        telemetry.flush().await;
        let servers = servers?.servers;
        if context.global.json {
            output::json(&servers)?;
        } else {
            list(&servers, Style::stdout(&context.environment))?;
            names::list_unused(&names?)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// One line about a server that registered itself.
fn lease(lease: &Value) -> String {
    let secs = |ms: &Value| ms.as_u64().unwrap_or_default() / 1000;
    let replicas = lease["replicas"].as_array().map_or(&[][..], Vec::as_slice);
    let ends = replicas.iter().map(|replica| secs(&replica["expiresInMs"])).min().unwrap_or(0);
    let version = clean::line(lease["version"].as_str().unwrap_or("-"));
    let (age, count) = (secs(&lease["ageMs"]), replicas.len());
    format!("  registered {age} s ago: version {version}, replicas {count}, lease ends in {ends} s")
}

fn list(servers: &[Value], style: Style) -> anyhow::Result<()> {
    if servers.is_empty() {
        output::line("no servers: name some under `servers` in powerstrip.yaml")?;
    }
    // Servers and the callers that register them choose this text: it must not move the cursor or begin a line.
    let text = |server: &Value, key: &str| clean::line(server[key].as_str().unwrap_or("-"));
    let width =
        servers.iter().map(|server| text(server, "name").chars().count()).max().unwrap_or(0);
    for server in servers {
        let name = format!("{:width$}", text(server, "name"));
        output::line(format_args!(
            "{}  {:8}  {:5}  {:6}  {} tools",
            style.bold(name),
            text(server, "state"),
            text(server, "transport"),
            text(server, "era"),
            server["tools"],
        ))?;
        if server["lease"].is_object() {
            output::line(lease(&server["lease"]))?;
        }
        if let Some(error) = server["lastError"].as_str() {
            output::line(format_args!("  last error: {}", clean::line(error)))?;
        }
        for fault in server["faults"].as_array().into_iter().flatten() {
            output::line(format_args!(
                "  not offered: {}: {}",
                text(fault, "tool"),
                text(fault, "reason")
            ))?;
        }
        for held in server["quarantined"].as_array().into_iter().flatten() {
            let tool = text(held, "tool");
            let advice = format!("see `powerstrip tools diff {tool}`");
            output::line(format_args!(
                "  quarantined: {tool}: {}; {advice}",
                text(held, "reason")
            ))?;
        }
        for hiding in server["hiddenCharacters"].as_array().into_iter().flatten() {
            output::line(format_args!(
                "  cleaned: {} invisible characters in the definition of {}",
                hiding["characters"],
                text(hiding, "tool")
            ))?;
        }
        let stderr: Vec<_> = server["stderrTail"].as_str().unwrap_or_default().lines().collect();
        for line in &stderr[stderr.len().saturating_sub(STDERR_LINES)..] {
            output::line(style.faint(format_args!("  stderr: {}", clean::line(line))))?;
        }
    }
    Ok(())
}
