use std::process::ExitCode;

use clap::{Args, Subcommand};
use operations::NoInput;
use strip::agents::AgentReport;
use strip::operations::ListAgents;

use crate::access::Access;
use crate::context::Context;
use crate::telemetry::Telemetry;
use terminal::table::{Cell, Table};
use terminal::{Style, Tone};

const EXAMPLES: &str = "\
Examples:
  powerstrip agents                   each agent, its skills, and the tools that it may call
  powerstrip agents --json            the same, for programs

It asks the gateway that runs on this data folder; where none runs, the servers are started to see what they offer.";

/// Show the agents, their skills and what each may call
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgentsCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the agents
    #[command(visible_alias = "list")]
    Ls,
}

impl AgentsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, None).await?;
        let Action::Ls = self.action.unwrap_or(Action::Ls);
        let agents = access.run::<ListAgents>(&NoInput {}).await;
        access.close().await;
        telemetry.flush().await;
        let agents = agents?;
        if context.global.json {
            terminal::record(&agents)?;
        } else {
            list(&agents, Style::stdout(&context.environment))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(agents: &[AgentReport], style: Style) -> anyhow::Result<()> {
    if agents.is_empty() {
        let advice = "no agents: name some under `agents` in powerstrip.yaml";
        return Ok(terminal::line(advice)?);
    }
    let mut table = Table::new(["AGENT", "DISCOVERY", "TOOLS", "SKILLS"]).right(["TOOLS"]);
    for agent in agents {
        table.row([
            Cell::new(&agent.name).tone(Tone::Strong),
            Cell::new(&agent.discovery),
            Cell::new(agent.tools.len()),
            Cell::maybe((!agent.skills.is_empty()).then(|| agent.skills.join(", "))),
        ]);
        for tool in &agent.tools {
            let gated = if agent.approval.contains(tool) { "  (approval)" } else { "" };
            table.detail(Cell::new(format_args!("{tool}{gated}")));
        }
    }
    Ok(table.print(style)?)
}
