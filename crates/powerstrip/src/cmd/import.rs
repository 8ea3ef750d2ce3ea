use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, json};

use super::add;
use crate::context::Context;
use crate::exit::Usage;
use crate::installer::{Installer, note_import};
use gateway::install::written_keys;

const EXAMPLES: &str = "\
Examples:
  powerstrip import ~/.cursor/mcp.json --write                add the servers to powerstrip.yaml
  powerstrip import .vscode/mcp.json                          print them as YAML
  powerstrip import ~/.codex/config.toml --write

It reads the files of Claude Code and Desktop, Cursor, VS Code, Windsurf, Zed, Cline, Codex, Gemini and others, with \
comments. `${NAME}` becomes `{env: NAME}`. With --write, secrets that the file contains are stored in the vault and \
written as `{secret: NAME}`; without it nothing is stored. An entry that cannot be used is reported; the others are taken.";

/// Import the servers of another MCP client
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    /// The configuration file of a client.
    file: PathBuf,
    /// Add the servers to the config file, instead of printing them.
    #[arg(long)]
    write: bool,
}

impl Import {
    pub(crate) async fn run(&self, context: &Context) -> anyhow::Result<ExitCode> {
        let installer = Installer::new(context);
        let importer = installer.importer(!self.write).await?;
        let named = |why: String| Usage(format!("{}: {why}", self.file.display()));
        let mut imported = importer.read(&self.file).map_err(named)?;
        imported.relative_to(&installer.folder());
        if imported.servers.is_empty() && !imported.refused.is_empty() {
            note_import(&imported);
            return Err(named("none of the servers can be used".to_owned()).into());
        }
        if self.write {
            return add::finish(context, &installer, imported).await;
        }
        if let Err(error) = installer.reuse_secrets(&mut imported).await {
            terminal::note(format_args!("the vault cannot be read: {error:#}"));
        }
        note_import(&imported);
        for name in imported.secrets.keys() {
            terminal::note(format_args!("with --write, the secret {name} is stored in the vault"));
        }
        for (name, how) in installer.missing_secrets(&imported).await {
            terminal::note(format_args!("missing secret {name}: {how}"));
        }
        let mut servers = Map::new();
        for (name, server) in &imported.servers {
            servers.insert(name.clone(), written_keys(server)?);
        }
        let section = json!({"servers": servers});
        if context.global.json {
            terminal::json(&section)?;
        } else {
            terminal::text(schema::yaml::to_string(&section)?)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
