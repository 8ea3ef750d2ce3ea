//! `tools quarantined`, `tools diff`, `tools approve`: what waits for a person, and the person's word.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::access::Access;
use crate::cmd::Usage;
use crate::context::Context;
use crate::gateway::{APPROVE, QUARANTINE};
use crate::output::{self, Style};

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List tools that are not served until somebody has approved them
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
    #[arg(long, value_name = "SUM", conflicts_with = "all_of")]
    definition: Option<String>,
}

/// A tool that waits.
#[derive(Deserialize)]
struct Held {
    name: String,
    server: String,
    reason: String,
    changed: Vec<String>,
    definition: String,
    #[serde(default)]
    changes: Vec<Change>,
    #[serde(default, rename = "moreChanges")]
    more_changes: usize,
}

#[derive(Deserialize)]
struct Change {
    at: String,
    before: Option<String>,
    after: Option<String>,
    #[serde(default)]
    removed: Vec<String>,
    #[serde(default)]
    added: Vec<String>,
}

impl Action {
    pub(super) async fn run(self, access: &Access, context: &Context) -> anyhow::Result<ExitCode> {
        let style = Style::stdout(&context.environment);
        let as_json = context.global.json;
        match self {
            Self::Quarantined => {
                let waiting = access.operate(QUARANTINE, json!({})).await?;
                if as_json {
                    output::json(&waiting)?;
                } else {
                    list(&serde_json::from_value::<Vec<Held>>(waiting)?, style)?;
                }
            }
            Self::Diff(Diff { tool }) => {
                let held = access.operate(QUARANTINE, json!({"tool": tool})).await?;
                if as_json {
                    output::json(&held[0])?;
                } else {
                    show(&one(held)?, style)?;
                }
            }
            Self::Approve(approve) => {
                let approved = approve.run(access, (!as_json).then_some(style)).await?;
                if as_json {
                    output::json(&approved)?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Approve {
    /// What is approved is what was shown, here or by `diff`: a definition that changes in between is refused.
    async fn run(self, access: &Access, style: Option<Style>) -> anyhow::Result<Value> {
        if self.definition.is_some() && self.ids.len() != 1 {
            let why = "--definition goes with one tool".to_owned();
            return Err(Usage(why).into());
        }
        let tools = match &self.all_of {
            None => self.ids,
            Some(server) => {
                let waiting = access.operate(QUARANTINE, json!({})).await?;
                let waiting: Vec<Held> = serde_json::from_value(waiting)?;
                let theirs = waiting.into_iter().filter(|held| held.server == *server);
                let tools: Vec<_> = theirs.map(|held| held.name).collect();
                if tools.is_empty() {
                    bail!("no tool of server `{server}` is quarantined");
                }
                tools
            }
        };
        let mut seen = Vec::new();
        for tool in &tools {
            let held = one(access.operate(QUARANTINE, json!({"tool": tool})).await?)?;
            if let Some(expected) = &self.definition
                && (expected.len() < 8 || !held.definition.starts_with(expected.as_str()))
            {
                bail!("`{tool}` is {} now, not {expected}; nothing is approved", held.definition);
            }
            if let Some(style) = style {
                show(&held, style)?;
            }
            seen.push(json!({"tool": held.name, "definition": held.definition}));
        }
        let approved = access.operate(APPROVE, json!({"tools": seen})).await?;
        if style.is_some() {
            let count = approved["approved"].as_array().map_or(0, Vec::len);
            output::line(format_args!("approved: {count} served from now on"))?;
        }
        Ok(approved)
    }
}

fn one(held: Value) -> anyhow::Result<Held> {
    let [held]: [Held; 1] = serde_json::from_value(held)?;
    Ok(held)
}

fn list(waiting: &[Held], style: Style) -> anyhow::Result<()> {
    if waiting.is_empty() {
        output::line("no tool is quarantined")?;
    }
    let width = waiting.iter().map(|held| held.name.chars().count()).max().unwrap_or(0);
    for held in waiting {
        let name = format!("{:width$}", held.name);
        let changed = match held.changed.is_empty() {
            true => String::new(),
            false => format!(" ({})", held.changed.join(", ")),
        };
        output::line(format_args!("{}  {}{changed}", style.bold(name), held.reason))?;
    }
    Ok(())
}

fn show(held: &Held, style: Style) -> anyhow::Result<()> {
    output::line(format_args!("{}  {}", style.bold(&held.name), held.reason))?;
    output::line(style.faint(format_args!("  definition {}", held.definition)))?;
    for change in &held.changes {
        output::line(format_args!("  {}", change.at))?;
        for (sign, text) in [('-', &change.before), ('+', &change.after)] {
            for line in text.iter().flat_map(|text| text.lines()) {
                output::line(format_args!("    {sign} {line}"))?;
            }
        }
        for (sign, words) in [("gone", &change.removed), ("new", &change.added)] {
            if !words.is_empty() {
                let words = words.join(" ");
                output::line(style.faint(format_args!("    {sign} words: {words}")))?;
            }
        }
    }
    if held.more_changes > 0 {
        output::line(format_args!("  … and {} more", held.more_changes))?;
    }
    Ok(())
}
