use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use config::{Server, mcp_json};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::exit::Usage;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  powerstrip import ~/.cursor/mcp.json                        print the servers as YAML
  powerstrip import .vscode/mcp.json >> powerstrip.yaml       add them to a config that has none

It reads `mcpServers` (Claude Desktop, Cursor and others) or `servers` (VS Code). `${NAME}` becomes `{env: NAME}`.";

/// Print the servers of an `mcpServers` JSON as `servers` of powerstrip.yaml
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    /// The JSON file of a client.
    file: PathBuf,
}

impl Import {
    pub(crate) fn run(&self, context: &Context) -> anyhow::Result<ExitCode> {
        let imported = mcp_json::read(&self.file).map_err(|faults| {
            let lines = faults.iter().map(|fault| format!("{}: {fault}", self.file.display()));
            Usage(lines.collect::<Vec<_>>().join("\n"))
        })?;
        for note in &imported.notes {
            output::note(note);
        }
        let mut servers = Map::new();
        for (name, server) in &imported.servers {
            servers.insert(name.clone(), said(server)?);
        }
        let section = json!({"servers": servers});
        if context.global.json {
            output::json(&section)?;
        } else {
            output::text(schema::yaml::to_string(&section)?)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The keys that differ from what they are anyway.
fn said(server: &Server) -> anyhow::Result<Value> {
    let usual = serde_json::to_value(Server::default())?;
    let mut said = serde_json::to_value(server)?;
    if let Value::Object(keys) = &mut said {
        keys.retain(|key, value| usual.get(key) != Some(value));
    }
    Ok(said)
}
