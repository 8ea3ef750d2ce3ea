use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use config::client_files::{ClientFile, format_of};
use config::clients::{Client, ENTRY};
use serde_json::{Map, Value, json};

use super::connect::addresses::GatewayAddresses;
use super::connect::client::{disconnect_command, file_of};
use super::connect::moved::{ConnectRecord, MovedEntry};
use crate::context::Context;
use crate::installer::{Installer, note_narrowed};
use recipes::quoted;
use terminal::shown;

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

/// What a file says; an empty file and an empty list of servers are as good as none.
fn document(file: &ClientFile, client: Client) -> Option<Map<String, Value>> {
    let mut fields = match file.get(&[])? {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    if fields.get(client.section()) == Some(&json!({})) {
        fields.remove(client.section());
    }
    Some(fields)
}

impl Disconnect {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let client = self.client;
        let path = file_of(client, self.file.as_deref(), &context.environment)?;
        let installer = Installer::new(context);
        let data_dir = installer.load()?.config.data_dir;
        let named = |why: String| anyhow::anyhow!("{}: {why}", path.display());
        let before = ClientFile::read(&path).map_err(named)?;
        let mut record = ConnectRecord::read(&data_dir, &client.to_string(), &path)?;
        let addresses = GatewayAddresses::find(&installer).await?;
        let mut others = addresses.names_in(&before, client, &record);
        let is_gateway = others.contains(&self.name);
        others.retain(|name| *name != self.name);
        if !is_gateway && before.get(&[client.section(), &self.name]).is_some() {
            let name = shown(&self.name);
            let hint = name_hint(&others);
            return Err(named(format!("`{name}` is another server, nothing was changed; {hint}")));
        }
        // With another entry of the gateway, the client still uses the moved servers there.
        let servers = if others.is_empty() { &record.servers[..] } else { &[] };
        let edited = self.take_out(&before, servers);
        let restored_text = record.text_before(before.text()).map(str::to_owned);
        let whole = restored_text.map(|text| ClientFile::new(format_of(&path), text)).transpose();
        let edited = match (edited, whole.map_err(named)?) {
            // The text before says the same in the user's own form. It does not if it lacks another entry of the gateway.
            (Ok(edited), Some(whole))
                if document(&whole, client) == document(&edited.file, client) =>
            {
                Edited { file: whole, ..edited }
            }
            (edited, _) => edited.map_err(named)?,
        };
        let changed = edited.file != before;
        let backup = if changed {
            let written = edited.file.write(&path)?;
            if written.narrowed {
                note_narrowed(&path);
            }
            written.backup
        } else {
            None
        };
        if is_gateway && others.is_empty() && record.is_new() {
            terminal::note(format_args!(
                "no record of moved servers for this file in {}; if they were moved with another config, run this \
                 command again with `--config` and that config",
                std::path::absolute(&data_dir)?.display()
            ));
        }
        let stay_moved = !others.is_empty() && !record.servers.is_empty();
        if others.is_empty() {
            record.forget(&data_dir)?;
        } else if changed {
            record.remove(&self.name, before.text(), edited.file.text(), &data_dir)?;
        }
        if context.global.json {
            terminal::json(&json!({
                "client": client.to_string(), "file": path, "backup": backup, "changed": changed,
                "restored": edited.restored, "kept": edited.kept, "other_entries": others,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        if !changed {
            let name = shown(&self.name);
            let file = path.display();
            if others.is_empty() {
                terminal::line(format_args!("{client} was not connected ({file})"))?;
            } else {
                let hint = name_hint(&others);
                terminal::line(format_args!(
                    "{client} was not connected as `{name}` ({file}); {hint}"
                ))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        self.report(&path, &edited, backup.as_deref(), &others)?;
        if stay_moved {
            terminal::line("moved servers are put back when the last entry of the gateway goes")?;
        }
        terminal::line(format_args!("restart {client}, or reload its servers"))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Removes the gateway's entry, and puts these servers back.
    fn take_out(&self, before: &ClientFile, servers: &[MovedEntry]) -> Result<Edited, String> {
        let mut file = before.clone();
        file.remove(&[self.client.section(), &self.name])?;
        let (mut restored, mut kept) = (Vec::new(), Vec::new());
        for server in servers {
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

    /// Says what was changed, and which other entries of the gateway the file has.
    fn report(
        &self,
        path: &Path,
        edited: &Edited,
        backup: Option<&Path>,
        others: &[String],
    ) -> anyhow::Result<()> {
        let (client, file) = (self.client, path.display());
        if others.is_empty() {
            terminal::line(format_args!("disconnected {client} ({file})"))?;
        } else {
            terminal::line(format_args!("removed `{}` ({file})", shown(&self.name)))?;
        }
        if let Some(backup) = backup {
            terminal::line(format_args!("the file before: {}", backup.display()))?;
        }
        for name in &edited.restored {
            terminal::line(format_args!("put `{}` back", shown(name)))?;
        }
        for name in &edited.kept {
            let name = shown(name);
            terminal::line(format_args!(
                "left `{name}` as it is: the file has another server of this name"
            ))?;
        }
        for name in others {
            let command = disconnect_command(client, self.file.as_ref().map(|_| path), name);
            let (name, command) = (shown(name), shown(&command));
            terminal::line(format_args!(
                "{client} is still connected as `{name}`; undo that with `{command}`"
            ))?;
        }
        Ok(())
    }
}

/// How to name the gateway, by its entries in the file.
fn name_hint(gateways: &[String]) -> String {
    if gateways.is_empty() {
        return "the file has no entry of this gateway".to_owned();
    }
    let name = |name: &String| format!("`--name {}`", shown(&quoted(name)));
    let names: Vec<_> = gateways.iter().map(name).collect();
    format!("the gateway is connected there: use {}", names.join(" or "))
}
