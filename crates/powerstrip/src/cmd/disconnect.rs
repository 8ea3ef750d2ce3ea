use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use config::client_files::ClientFile;
use config::clients::{Client, ENTRY};
use serde_json::{Value, json};

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

/// A client's file without the gateway, and the names of moved servers that are back, or were replaced since.
struct Edited {
    file: ClientFile,
    restored: Vec<String>,
    kept: Vec<String>,
}

/// What a file says; an empty list of servers is as good as none.
fn document(file: &ClientFile, client: Client) -> Option<Value> {
    let mut document = file.get(&[])?;
    if document[client.section()] == json!({})
        && let Some(fields) = document.as_object_mut()
    {
        fields.remove(client.section());
    }
    Some(document)
}

impl Disconnect {
    /// Removes the gateway's entry, and puts moved servers back.
    fn take_out(&self, before: &ClientFile, moved: &MovedServers) -> Result<Edited, String> {
        let mut file = before.clone();
        file.remove(&[self.client.section(), &self.name])?;
        let (mut restored, mut kept) = (Vec::new(), Vec::new());
        for server in &moved.servers {
            let keys: Vec<_> = server.keys.iter().map(String::as_str).collect();
            let name = keys.last().copied().unwrap_or_default().to_owned();
            match file.get(&keys) {
                // A server of this name came since; it stays.
                Some(now) if now != server.entry => kept.push(name),
                _ => {
                    file.set(&keys, &server.entry)?;
                    restored.push(name);
                }
            }
        }
        Ok(Edited { file, restored, kept })
    }

    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let client = self.client;
        let path = file_of(client, self.file.as_deref(), &context.environment)?;
        let data_dir = Installer::new(context).load()?.config.data_dir;
        let named = |why: String| anyhow::anyhow!("{}: {why}", path.display());
        let before = ClientFile::read(&path).map_err(named)?;
        let moved = MovedServers::read(&data_dir, &client.to_string(), &path)?;
        let edited = self.take_out(&before, &moved);
        let restored_text = moved.text_before(before.text()).map(str::to_owned);
        let whole = restored_text.map(|text| ClientFile::new(client.format(), text)).transpose();
        let Edited { file, restored, kept } = match (edited, whole.map_err(named)?) {
            // The text before says the same in the user's own form. It does not if it lacks another entry of the gateway.
            (Ok(edited), Some(whole))
                if document(&whole, client) == document(&edited.file, client) =>
            {
                Edited { file: whole, ..edited }
            }
            (edited, _) => edited.map_err(named)?,
        };
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
