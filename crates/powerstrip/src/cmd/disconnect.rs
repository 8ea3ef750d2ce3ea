use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use config::client_files::{ClientFile, Written, format_of};
use config::clients::{Client, ENTRY};
use gateway::connect_record::{ConnectRecord, MovedEntry};
use serde_json::{Map, Value, json};

use super::connect::addresses::{GatewayAddresses, starts_a_gateway};
use super::connect::client::{disconnect_command, file_of};
use super::connect::{MAX_TRIES, changing};
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

/// A client's file without the gateway.
struct Edited {
    file: ClientFile,
    /// The names of moved servers that are back.
    restored: Vec<String>,
    /// The keys of moved servers that were replaced since.
    kept: Vec<Vec<String>>,
}

/// What was undone.
struct Undone {
    edited: Edited,
    /// `None` if the file did not have to be changed.
    written: Option<Written>,
    /// The names of further entries of the gateway in the file.
    others: Vec<String>,
    record: ConnectRecord,
}

impl Edited {
    fn kept_names(&self) -> Vec<&str> {
        self.kept.iter().filter_map(|keys| keys.last()).map(String::as_str).collect()
    }

    /// Says which moved servers are not back, and where they are.
    fn report_kept(&self, record: &Path) -> anyhow::Result<()> {
        for name in self.kept_names() {
            let (name, record) = (shown(name), record.display());
            terminal::line(format_args!(
                "left `{name}` as it is: the file has another server of this name; the moved one is kept in {record}: \
                 rename the other one and run this command again"
            ))?;
        }
        Ok(())
    }
}

/// Adds where the moved servers are to the reason why a file cannot be edited.
fn by_hand(why: &str, record: &ConnectRecord, data_dir: &Path) -> String {
    if record.servers.is_empty() {
        return why.to_owned();
    }
    let record = record.path(data_dir);
    format!("{why}; the servers that were moved out of it are in {}", record.display())
}

/// Says where no record was found, if there should be one.
fn note_missing_record(is_missing: bool, data_dir: &Path) -> anyhow::Result<()> {
    if is_missing {
        terminal::note(format_args!(
            "no record of moved servers for this file in {}; if they were moved with another config, run this command \
             again with `--config` and that config",
            std::path::absolute(data_dir)?.display()
        ));
    }
    Ok(())
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
        let mut undone = None;
        for _ in 0..MAX_TRIES {
            undone = self.undo(&installer, &path, &data_dir).await?;
            if undone.is_some() {
                break;
            }
        }
        let Some(Undone { edited, written, others, record }) = undone else {
            return Err(changing(&path));
        };
        let changed = written.is_some();
        let backup = written.and_then(|written| written.backup);
        if context.global.json {
            terminal::json(&json!({
                "client": client.to_string(), "file": path, "backup": backup, "changed": changed,
                "restored": edited.restored, "kept": edited.kept_names(), "other_entries": others,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        if !changed {
            let name = shown(&self.name);
            let file = path.display();
            if others.is_empty() {
                terminal::line(format_args!("{client} was not connected ({file})"))?;
                edited.report_kept(&record.path(&data_dir))?;
            } else {
                let hint = name_hint(&others);
                terminal::line(format_args!(
                    "{client} was not connected as `{name}` ({file}); {hint}"
                ))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        self.report(&path, &edited, backup.as_deref(), &others)?;
        edited.report_kept(&record.path(&data_dir))?;
        if !others.is_empty() && !record.servers.is_empty() {
            terminal::line("moved servers are put back when the last entry of the gateway goes")?;
        }
        terminal::line(format_args!("restart {client}, or reload its servers"))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Takes the gateway out of the file and the record. Returns `None` if another program has changed the file since it
    /// was read.
    async fn undo(
        &self,
        installer: &Installer<'_>,
        path: &Path,
        data_dir: &Path,
    ) -> anyhow::Result<Option<Undone>> {
        let client = self.client;
        let named = |why: String| anyhow::anyhow!("{}: {why}", path.display());
        let before = ClientFile::read(path).map_err(named)?;
        let mut record = ConnectRecord::read(data_dir, client.id(), path)?;
        let addresses = GatewayAddresses::find(installer).await?;
        let mut others = addresses.names_in(&before, client, &record);
        let is_gateway = others.contains(&self.name);
        others.retain(|name| *name != self.name);
        let there = before.get(&[client.section(), &self.name]).filter(|_| !is_gateway);
        if let Some(entry) = there {
            let name = shown(&self.name);
            let hint = if others.is_empty() && starts_a_gateway(&entry) {
                "it starts another gateway: run this command with the `--config` or `--data-dir` of the entry".to_owned()
            } else {
                name_hint(&others)
            };
            return Err(named(format!("`{name}` is another server, nothing was changed; {hint}")));
        }
        // With another entry of the gateway, the client still uses the moved servers there.
        let servers = if others.is_empty() { &record.servers[..] } else { &[] };
        let edited = self.take_out(&before, servers);
        let restored_text = record.text_before(before.text()).map(str::to_owned);
        let whole = restored_text.map(|text| ClientFile::new(format_of(path), text)).transpose();
        let edited = match (edited, whole.map_err(named)?) {
            // The text before says the same in the user's own form. It does not if it lacks another entry of the gateway.
            (Ok(edited), Some(whole))
                if document(&whole, client) == document(&edited.file, client) =>
            {
                Edited { file: whole, ..edited }
            }
            (edited, _) => edited.map_err(|why| named(by_hand(&why, &record, data_dir)))?,
        };
        let changed = edited.file != before;
        if !changed && record.is_new() {
            return Ok(Some(Undone { edited, written: None, others, record }));
        }
        let shown = || path.display().to_string();
        let mut replacement = before.replacement(path).with_context(shown)?;
        if changed {
            replacement.back_up().with_context(shown)?;
        }
        // Until the record is as the file, `connect` must change neither.
        if !replacement.lock().with_context(shown)? {
            return Ok(None);
        }
        let mut written = None;
        if changed {
            written = replacement.write(&edited.file).with_context(shown)?;
            let Some(written) = &written else { return Ok(None) };
            if written.narrowed {
                note_narrowed(path);
            }
        }
        note_missing_record(is_gateway && others.is_empty() && record.is_new(), data_dir)?;
        if !others.is_empty() {
            if changed {
                record.remove(&self.name, before.text(), edited.file.text(), data_dir)?;
            }
        } else if edited.kept.is_empty() {
            record.forget(data_dir)?;
        } else {
            record.keep_only(&edited.kept, data_dir)?;
        }
        Ok(Some(Undone { edited, written, others, record }))
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
                Some(now) if now != server.entry => kept.push(server.keys.clone()),
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
