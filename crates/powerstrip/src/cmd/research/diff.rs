//! `research diff`: what changed between the mind maps of two reports.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use flow::operations::{DiffInput, DiffResearch};
use serde_json::Value;
use terminal::{Style, line, shown};

use crate::access::Access;
use crate::cmd::workflows::resolve;
use crate::context::Context;

/// Names two reports.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The earlier research: its workflow's id, or the first characters.
    #[arg(value_name = "A")]
    a: String,
    /// The later research.
    #[arg(value_name = "B")]
    b: String,
    /// Draw both in one mind map, into a new file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Diff {
    pub(super) async fn run(self, access: &Access, context: &Context) -> anyhow::Result<ExitCode> {
        let a = resolve(access, workflow_id(self.a)).await?;
        let b = resolve(access, workflow_id(self.b)).await?;
        let answer = access.run::<DiffResearch>(&DiffInput { a, b }).await?;
        if let Some(file) = &self.svg {
            let Some(svg) = answer["svg"].as_str() else { bail!("the answer has no drawing") };
            userfiles::create_new(file, svg.as_bytes())
                .with_context(|| format!("{} cannot be written", file.display()))?;
        }
        if context.global.json {
            terminal::json(&answer)?;
        } else {
            print(&answer, Style::stdout(&context.environment))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The id of a workflow, given that of its run.
fn workflow_id(given: String) -> String {
    let Some(hex) = given.strip_prefix("run_").filter(|hex| hex.is_ascii()) else { return given };
    match hex.len() {
        32 => [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"),
        0..8 => hex.to_owned(),
        _ => hex[..8].to_owned(),
    }
}

fn print(answer: &Value, style: Style) -> std::io::Result<()> {
    let list = |name: &str| answer[name].as_array().into_iter().flatten();
    if ["added", "removed", "moved", "renamed"].iter().all(|name| list(name).next().is_none()) {
        return line("nothing changed");
    }
    for node in list("added") {
        line(style.good(format_args!("+ {}", label(node))))?;
    }
    for node in list("removed") {
        line(style.bad(format_args!("- {}", label(node))))?;
    }
    for node in list("moved") {
        let (from, to) = (place(node, "from"), place(node, "to"));
        line(style.doubtful(format_args!("~ {}: {from} → {to}", label(node))))?;
    }
    for node in list("renamed") {
        line(style.doubtful(format_args!("~ {} → {}", place(node, "from"), place(node, "to"))))?;
    }
    Ok(())
}

/// What a node is called, else its id.
fn label(node: &Value) -> String {
    let named = node["label"].as_str().or(node["id"].as_str()).or(node.as_str());
    shown(named.unwrap_or_default())
}

/// What a node was or is called, or its parent; its id if the answer has no more.
fn place(node: &Value, side: &str) -> String {
    let label = node[format!("{side}_label")].as_str().or(node[side].as_str());
    label.filter(|label| !label.is_empty()).map_or_else(|| "top".to_owned(), shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_nodes_are_named_by_what_people_read() {
        let node =
            serde_json::json!({"id": "q-1", "from": "p-cost", "to": "", "from_label": "Costs"});
        assert_eq!(
            (place(&node, "from"), place(&node, "to")),
            ("Costs".to_owned(), "top".to_owned())
        );
    }

    #[test]
    fn a_run_names_its_workflow() {
        let run = "run_550e8400e29b41d4a716446655440000".to_owned();
        assert_eq!(workflow_id(run), "550e8400-e29b-41d4-a716-446655440000");
        assert_eq!(workflow_id("run_550e8400e2".to_owned()), "550e8400");
        assert_eq!(workflow_id("550e".to_owned()), "550e");
        assert_eq!(workflow_id("run_é".to_owned()), "run_é");
    }
}
