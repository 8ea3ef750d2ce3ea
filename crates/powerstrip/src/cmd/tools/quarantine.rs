//! `tools quarantined`, `tools diff`, `tools approve`: tools whose definitions wait for approval.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use gateway::quarantine::{
    ApproveDefinitions, ApproveInput, ListQuarantined, QuarantineEntry, QuarantineQuery,
    ShownDefinition,
};

use crate::access::Access;
use crate::context::Context;
use crate::exit::Usage;
use terminal::table::{Cell, Table};
use terminal::{Style, Tone};

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List tools that are not served until they are approved
    Quarantined,
    /// Show what has changed in a quarantined tool
    Diff(Diff),
    /// Serve a quarantined tool as it is now
    Approve(Approve),
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The tool's id, such as `crm:search`.
    tool: String,
}

#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// The tool's id, such as `crm:search`; several may be given.
    #[arg(value_name = "TOOL", required_unless_present = "all_of")]
    ids: Vec<String>,
    /// Approve every quarantined tool of this server.
    #[arg(long, value_name = "SERVER", conflicts_with = "ids")]
    all_of: Option<String>,
    /// Approve it only if this is its definition, as `diff` showed it; the first digits are enough.
    #[arg(long, value_name = "DIGEST", conflicts_with = "all_of")]
    definition: Option<String>,
}

impl Action {
    pub(super) async fn run(self, access: &Access, context: &Context) -> anyhow::Result<ExitCode> {
        let style = Style::stdout(&context.environment);
        let as_json = context.global.json;
        match self {
            Self::Quarantined => {
                let entries = access.run::<ListQuarantined>(&QuarantineQuery::default()).await?;
                if as_json { terminal::record(&entries)? } else { list(&entries, style)? }
            }
            Self::Diff(Diff { tool }) => {
                let entry = one(access, tool).await?;
                if as_json { terminal::record(&entry)? } else { show(&entry, style)? }
            }
            Self::Approve(approve) => approve.run(access, (!as_json).then_some(style)).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Approve {
    /// Approves what was shown, here or by `diff`: a definition that changes in between is refused.
    async fn run(self, access: &Access, style: Option<Style>) -> anyhow::Result<()> {
        if self.definition.is_some() && self.ids.len() != 1 {
            let why = "--definition goes with one tool".to_owned();
            return Err(Usage(why).into());
        }
        let ids = match &self.all_of {
            None => self.ids,
            Some(server) => {
                let entries = access.run::<ListQuarantined>(&QuarantineQuery::default()).await?;
                let of_server = entries.into_iter().filter(|entry| entry.server == *server);
                let ids: Vec<_> = of_server.map(|entry| entry.name).collect();
                if ids.is_empty() {
                    bail!("no tool of server `{server}` is quarantined");
                }
                ids
            }
        };
        let mut tools = Vec::new();
        for id in ids {
            let entry = one(access, id.clone()).await?;
            let definition = entry.definition.to_string();
            if let Some(expected) = &self.definition
                && (expected.len() < 8 || !definition.starts_with(expected.as_str()))
            {
                bail!("`{id}` is {definition} now, not {expected}; nothing is approved");
            }
            if let Some(style) = style {
                show(&entry, style)?;
            }
            tools.push(ShownDefinition { tool: entry.name, definition: entry.definition });
        }
        let approved = access.run::<ApproveDefinitions>(&ApproveInput { tools }).await?;
        match style {
            None => terminal::json(&approved)?,
            Some(_) => {
                let count = approved.approved.len();
                terminal::line(format_args!("approved: {count} served from now on"))?;
            }
        }
        Ok(())
    }
}

/// One tool with its changes.
async fn one(access: &Access, tool: String) -> anyhow::Result<QuarantineEntry> {
    let query = QuarantineQuery { tool: Some(tool.clone()) };
    let found = access.run::<ListQuarantined>(&query).await?.pop();
    found.ok_or_else(|| anyhow::anyhow!("`{tool}` is not quarantined"))
}

fn list(waiting: &[QuarantineEntry], style: Style) -> anyhow::Result<()> {
    if waiting.is_empty() {
        return Ok(terminal::line("no tool is quarantined")?);
    }
    let mut table = Table::new(["TOOL", "CHANGED", "REASON"]);
    for held in waiting {
        table.row([
            Cell::new(&held.name).tone(Tone::Strong),
            Cell::maybe((!held.changed.is_empty()).then(|| held.changed.join(", "))),
            Cell::new(&held.reason),
        ]);
    }
    Ok(table.print(style)?)
}

fn show(held: &QuarantineEntry, style: Style) -> anyhow::Result<()> {
    terminal::line(format_args!("{}  {}", style.bold(&held.name), held.reason))?;
    terminal::line(style.faint(format_args!("  definition {}", held.definition)))?;
    for change in held.changes.iter().flatten() {
        terminal::line(format_args!("  {}", change.at))?;
        for (sign, text) in [('-', &change.before), ('+', &change.after)] {
            for line in text.iter().flat_map(|text| text.lines()) {
                terminal::line(format_args!("    {sign} {line}"))?;
            }
        }
        for (sign, words) in [("gone", &change.removed), ("new", &change.added)] {
            if !words.is_empty() {
                let words = words.join(" ");
                terminal::line(style.faint(format_args!("    {sign} words: {words}")))?;
            }
        }
    }
    if let Some(more @ 1..) = held.more_changes {
        terminal::line(format_args!("  … and {more} more"))?;
    }
    Ok(())
}
