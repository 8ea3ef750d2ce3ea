use std::process::ExitCode;

use clap::Args;
use operations::NoInput;
use strip::agents::AgentReport;
use strip::operations::ListAgents;

use crate::access::Access;
use crate::context::Context;
use crate::output::{self, Style};
use crate::telemetry::Telemetry;

const EXAMPLES: &str = "\
Examples:
  powerstrip agents                   each agent, its skills, and the tools that it may call
  powerstrip agents --json            the same, for programs

It asks the gateway that runs on this data folder; where none runs, the servers are started to see what they offer.";

/// Show the agents, their skills and what each may call
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgentsCommand {}

impl AgentsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, None).await?;
        let agents = access.run::<ListAgents>(&NoInput {}).await;
        access.close().await;
        telemetry.flush().await;
        let agents = agents?;
        if context.global.json {
            output::json(&agents)?;
        } else {
            list(&agents, Style::stdout(&context.environment))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(agents: &[AgentReport], style: Style) -> anyhow::Result<()> {
    if agents.is_empty() {
        output::line("no agents: name some under `agents` in powerstrip.yaml")?;
    }
    for agent in agents {
        let skills = match agent.skills.is_empty() {
            true => "no skills".to_owned(),
            false => agent.skills.join(", "),
        };
        let facts = format!("{}  {skills}  {} tools", agent.discovery, agent.tools.len());
        output::line(format_args!("{}  {}", style.bold(&agent.name), style.faint(facts)))?;
        for tool in &agent.tools {
            let gated = if agent.approval.contains(tool) { "  (approval)" } else { "" };
            output::line(format_args!("  {tool}{gated}"))?;
        }
    }
    Ok(())
}
