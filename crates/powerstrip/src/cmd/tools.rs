mod quarantine;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use proto::Discovery;
use url::Url;

use crate::access::Access;
use crate::context::Context;
use crate::telemetry::Telemetry;
use remote::parse_url;
use terminal::table::{Cell, Table};
use terminal::{Style, Tone};

const EXAMPLES: &str = "\
Examples:
  powerstrip tools                    what can be called
  powerstrip tools show demo.echo     one tool: its input, its limits, an example call
  powerstrip tools --json             the same as GET /mcp/discover
  powerstrip tools quarantined        tools of servers that have changed and wait for your word
  powerstrip tools diff crm:search    what has changed in one of them
  powerstrip tools approve crm:search serve it as it is now";

/// List and show what can be called
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ToolsCommand {
    #[command(subcommand)]
    action: Option<Action>,
    /// Ask the gateway at this URL.
    #[arg(long, value_name = "URL", global = true, value_parser = parse_url)]
    url: Option<Url>,
    /// List what this agent of the config is shown.
    #[arg(long, value_name = "NAME", global = true)]
    agent: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List what can be called
    #[command(visible_alias = "list")]
    Ls,
    /// Show one tool with its input and output
    Show(show::Show),
    #[command(flatten)]
    Quarantine(quarantine::Action),
}

impl ToolsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let (url, agent) = (self.url.as_ref(), self.agent.as_deref());
        let access = Access::open_as(context, &loaded, url, agent).await?;
        let ended = match self.action.unwrap_or(Action::Ls) {
            Action::Ls => ls(&access, context).await,
            Action::Show(show) => show.run(&access, context).await,
            Action::Quarantine(action) => action.run(&access, context).await,
        };
        access.close().await;
        telemetry.flush().await;
        ended
    }
}

async fn ls(access: &Access, context: &Context) -> anyhow::Result<ExitCode> {
    let discovery = access.discovery().await?;
    if context.global.json {
        terminal::json(&discovery)?;
    } else {
        list(&discovery, Style::stdout(&context.environment))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list(discovery: &Discovery, style: Style) -> anyhow::Result<()> {
    let mut table = Table::new(["TOOL", "VERSION", "DESCRIPTION"]);
    for tool in &discovery.tools {
        let version = if tool.deprecated {
            Cell::new(format_args!("{} (deprecated)", tool.version)).tone(Tone::Doubtful)
        } else {
            Cell::new(&tool.version).tone(Tone::Faint)
        };
        let name = Cell::new(&tool.name).tone(Tone::Strong);
        table.row([name, version, Cell::new(first_sentence(&tool.description))]);
    }
    for held in &discovery.quarantined {
        let advice = format!("{}; see `powerstrip tools diff {}`", held.reason, held.name);
        let name = Cell::new(&held.name).tone(Tone::Strong);
        table.row([name, Cell::state("quarantined"), Cell::new(advice)]);
    }
    if table.is_empty() {
        terminal::line("no tools: `powerstrip new tool NAME` begins one")?
    } else {
        table.print(style)?
    }
    if !discovery.prompts.is_empty() {
        terminal::line("")?;
        super::prompts::list(&discovery.prompts, style)?;
    }
    Ok(())
}

/// The first sentence of a description, on one line.
pub(super) fn first_sentence(text: &str) -> String {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    text[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}
