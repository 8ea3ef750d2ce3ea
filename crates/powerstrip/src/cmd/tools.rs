mod quarantine;

use std::process::ExitCode;

use clap::Args;
use proto::Discovery;
use url::Url;

use crate::access::Access;
use crate::context::Context;
use crate::output::{self, Style};
use crate::telemetry::Telemetry;
use quarantine::Action;

const EXAMPLES: &str = "\
Examples:
  powerstrip tools                    what can be called
  powerstrip tools --json             the same as GET /mcp/discover
  powerstrip tools quarantined        tools of servers that have changed and wait for your word
  powerstrip tools diff crm:search    what has changed in one of them
  powerstrip tools approve crm:search serve it as it is now";

/// List what can be called
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct ToolsCommand {
    #[command(subcommand)]
    action: Option<Action>,
    /// List the tools of the gateway at this URL.
    #[arg(long, value_name = "URL")]
    url: Option<Url>,
    /// List what this agent of the config is shown.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

impl ToolsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let (url, agent) = (self.url.as_ref(), self.agent.as_deref());
        let access = Access::open_as(context, &loaded, url, agent).await?;
        if let Some(action) = self.action {
            let ended = action.run(&access, context).await;
            access.close().await;
            telemetry.flush().await;
            return ended;
        }
        let discovery = access.discovery().await;
        access.close().await;
        telemetry.flush().await;
        let discovery = discovery?;
        if context.global.json {
            output::json(&discovery)?;
        } else {
            list(&discovery, Style::stdout(&context.environment))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(discovery: &Discovery, style: Style) -> anyhow::Result<()> {
    let width = discovery.tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or(0);
    for tool in &discovery.tools {
        let name = format!("{:width$}", tool.name);
        let deprecated = if tool.deprecated { " (deprecated)" } else { "" };
        let version = style.faint(format_args!("{:>8}{deprecated}", tool.version));
        output::line(format_args!(
            "{} {version}  {}",
            style.bold(name),
            first_sentence(&tool.description)
        ))?;
    }
    for held in &discovery.quarantined {
        let advice = format!("see `powerstrip tools diff {}`", held.name);
        output::line(format_args!(
            "{} {}",
            style.bold(format_args!("{:width$}", held.name)),
            style.faint(format_args!("quarantined: {}; {advice}", held.reason)),
        ))?;
    }
    if !discovery.prompts.is_empty() {
        output::line("")?;
        super::prompts::list(&discovery.prompts, style)?;
    }
    Ok(())
}

/// As much of a description as fits a line.
pub(super) fn first_sentence(text: &str) -> String {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    let sentence = text[..end].split_whitespace().collect::<Vec<_>>().join(" ");
    match sentence.char_indices().nth(100) {
        Some((at, _)) => format!("{}…", &sentence[..at]),
        None => sentence,
    }
}
