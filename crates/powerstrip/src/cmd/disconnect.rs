use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use config::client_files::ClientFile;
use config::clients::{Client, ENTRY};
use serde_json::json;

use super::connect::client::file_of;
use super::connect::moved::MovedServers;
use crate::context::Context;
use crate::installer::{Installer, note_narrowed};

const EXAMPLES: &str = "\
Examples:
  powerstrip disconnect cursor          take the gateway out of Cursor's file, and put moved servers back

Servers that `connect --move` took out of the file are put back as they were, with their secrets. The gateway keeps its \
own entries; `powerstrip remove NAME` removes one.";

/// Undo `connect`: remove the gateway from an MCP client and put moved servers back
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Disconnect {
    /// The client.
    client: Client,
    /// The client's configuration file [default: where the client keeps it].
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The name of the gateway in the client.
    #[arg(long, default_value = ENTRY)]
    name: String,
}

impl Disconnect {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let client = self.client;
        let path = file_of(client, self.file.as_deref(), &context.environment)?;
        let data_dir = Installer::new(context).load()?.config.data_dir;
        let named = |why: String| anyhow::anyhow!("{}: {why}", path.display());
        let before = ClientFile::read(&path).map_err(named)?;
        let moved = MovedServers::read(&data_dir, &client.to_string(), &path)?;
        let mut file = match moved.text_before(before.text()) {
            Some(text) => ClientFile::new(client.format(), text.to_owned()).map_err(named)?,
            None => before.clone(),
        };
        file.remove(&[client.section(), &self.name]).map_err(named)?;
        let (mut restored, mut kept) = (Vec::new(), Vec::new());
        for server in &moved.servers {
            let keys: Vec<_> = server.keys.iter().map(String::as_str).collect();
            let name = keys.last().copied().unwrap_or_default().to_owned();
            match file.get(&keys) {
                // A server of this name came since; it stays.
                Some(now) if now != server.entry => kept.push(name),
                _ => {
                    file.set(&keys, &server.entry).map_err(named)?;
                    restored.push(name);
                }
            }
        }
        let changed = file != before;
        let backup = if changed {
            let written = file.write(&path)?;
            if written.narrowed {
                note_narrowed(&path);
            }
            written.backup
        } else {
            None
        };
        moved.forget(&data_dir)?;
        if context.global.json {
            terminal::json(&json!({
                "client": client.to_string(), "file": path, "backup": backup, "changed": changed,
                "restored": restored, "kept": kept,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let shown = path.display();
        if !changed {
            terminal::line(format_args!("{client} was not connected ({shown})"))?;
            return Ok(ExitCode::SUCCESS);
        }
        terminal::line(format_args!("disconnected {client} ({shown})"))?;
        if let Some(backup) = backup {
            terminal::line(format_args!("the file before: {}", backup.display()))?;
        }
        for name in &restored {
            terminal::line(format_args!("put `{name}` back"))?;
        }
        for name in &kept {
            terminal::line(format_args!(
                "left `{name}` as it is: the file has another server of this name"
            ))?;
        }
        terminal::line(format_args!("restart {client}, or reload its servers"))?;
        Ok(ExitCode::SUCCESS)
    }
}
