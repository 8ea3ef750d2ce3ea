use std::process::ExitCode;

use clap::Args;
use proto::Discovery;
use url::Url;

use crate::access::Access;
use crate::context::Context;
use crate::output::{self, Style};
use crate::telemetry::Telemetry;

const EXAMPLES: &str = "\
Examples:
  powerstrip tools                    what can be called
  powerstrip tools --json             the same as GET /mcp/discover";

/// List what can be called
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ToolsCommand {
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
