//! Moves the servers of a client behind the gateway.

use std::collections::BTreeSet;
use std::path::Path;

use config::client_files::{ClientFile, Imported};
use config::clients::Client;
use config::{Config, Server};
use serde_json::Value;

use super::Connect;
use super::addresses::GatewayAddresses;
use crate::exit::Usage;
use crate::installer::{Installer, note_import};
use gateway::connect_record::{ConnectRecord, MovedEntry};

/// The servers that were taken out of the client's file.
#[derive(Default)]
pub(super) struct Taken {
    /// To be added to the config; `None` if the file has no servers.
    pub(super) imported: Option<Imported>,
    /// In the config already.
    pub(super) known: Vec<String>,
}

impl Connect {
    /// Takes the client's servers out of the client's file, in memory only. Those of a name that the config uses for
    /// another server get another one. The record keeps the entries as the client had them.
    pub(super) async fn take_servers(
        &self,
        installer: &Installer<'_>,
        path: &Path,
        file: &mut ClientFile,
        record: &mut ConnectRecord,
    ) -> anyhow::Result<Taken> {
        let mut importer = installer.importer(true).await?;
        importer.skip.insert(self.name.clone());
        let named = |why: String| anyhow::anyhow!("{}: {why}", path.display());
        let config = installer.load()?.config;
        let document = file.get(&[]).unwrap_or_default();
        let Ok(mut imported) = importer.read_document(&document, path) else {
            // Without servers, none can be called differently.
            self.rename(&mut Imported::default())?;
            return Ok(Taken::default());
        };
        imported.relative_to(&installer.folder());
        // The gateway's own entry is no news.
        imported.notes.retain(|note| !note.starts_with(&format!("{}: skipped", self.name)));
        remove_gateways(&mut imported, installer, file, path).await?;
        installer.reuse_secrets(&mut imported).await?;
        self.rename(&mut imported)?;
        let known = take_known(&mut imported, &config);
        choose_free_names(&mut imported, &config);
        note_import(&imported);
        let servers = imported.servers.keys().chain(&known);
        let origins: Vec<_> =
            servers.filter_map(|name| imported.origins.get(name).cloned()).collect();
        for origin in &origins {
            let keys: Vec<_> = origin.iter().map(String::as_str).collect();
            if let Some(entry) = file.get(&keys) {
                record.keep(MovedEntry { keys: origin.clone(), entry });
            }
            file.remove(&keys).map_err(named)?;
        }
        Ok(Taken { imported: Some(imported), known })
    }

    /// Gives servers the names that the user chose.
    fn rename(&self, imported: &mut Imported) -> Result<(), Usage> {
        for (name, other) in &self.names {
            proto::check_server_name(other).map_err(|why| Usage(why.to_string()))?;
            if imported.servers.contains_key(other) {
                return Err(Usage(format!(
                    "--as {name}={other}: the client has a server `{other}`"
                )));
            }
            if !rename(imported, name, other) {
                return Err(Usage(format!(
                    "--as {name}={other}: the client has no server `{name}`"
                )));
            }
        }
        Ok(())
    }
}

/// Reads `NAME=OTHER`.
pub(super) fn renaming(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, other)| !name.is_empty() && !other.is_empty());
    let (name, other) = pair.ok_or("write NAME=OTHER, such as --as files=docs")?;
    Ok((name.to_owned(), other.to_owned()))
}

fn rename(imported: &mut Imported, name: &str, other: &str) -> bool {
    let Some(server) = imported.servers.remove(name) else { return false };
    imported.servers.insert(other.to_owned(), server);
    if let Some(origin) = imported.origins.remove(name) {
        imported.origins.insert(other.to_owned(), origin);
    }
    true
}

/// Entries of this gateway in a client's file, under whatever name, stay with the client: behind itself, the gateway would
/// call in circles. Returns their names.
pub(in crate::cmd) async fn remove_gateways(
    imported: &mut Imported,
    installer: &Installer<'_>,
    file: &ClientFile,
    path: &Path,
) -> anyhow::Result<Vec<String>> {
    let addresses = GatewayAddresses::find(installer).await?;
    let data_dir = installer.load()?.config.data_dir;
    let document = file.get(&[]).unwrap_or_default();
    // A file that is named by its path may be that of any client.
    let records = Client::ALL.map(|client| {
        ConnectRecord::read(&data_dir, client.id(), path)
            .unwrap_or_else(|_| ConnectRecord::new(client.id(), path))
    });
    let is_gateway = |server: &String| {
        let keys = imported.origins.get(server)?;
        let (name, entry) = (keys.last()?, entry_at(&document, keys)?);
        Some(records.iter().any(|record| addresses.is_gateway(name, entry, record)))
    };
    let found = imported.servers.keys().filter(|server| is_gateway(server).unwrap_or_default());
    let found: Vec<_> = found.cloned().collect();
    imported.servers.retain(|name, _| !found.contains(name));
    Ok(found)
}

fn entry_at<'a>(document: &'a Value, keys: &[String]) -> Option<&'a Value> {
    keys.iter().try_fold(document, |value, key| value.get(key))
}

/// Removes the servers that the config has, and returns their names.
fn take_known(imported: &mut Imported, config: &Config) -> Vec<String> {
    let is_known = |name: &String, server: &Server| {
        config.servers.get(name).is_some_and(|known| known.has_target_of(server))
    };
    // An earlier move that was cut off may have added it under a number.
    for (name, number) in numbered(imported, config) {
        rename(imported, &name, &number);
    }
    let known = imported.servers.iter().filter(|(name, server)| is_known(name, server));
    let known: Vec<_> = known.map(|(name, _)| name.clone()).collect();
    imported.servers.retain(|name, _| !known.contains(name));
    known
}

/// The servers that the config has under their names and a number only, and those names with the number.
fn numbered(imported: &Imported, config: &Config) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, server) in &imported.servers {
        let same = |name: &String| config.servers[name].has_target_of(server);
        if !config.servers.contains_key(name) || same(name) {
            continue;
        }
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut numbered = numbered.take_while(|name| config.servers.contains_key(name));
        let known = numbered.find(|known| same(known) && !imported.servers.contains_key(known));
        found.extend(known.map(|known| (name.clone(), known)));
    }
    found
}

/// Numbers the servers whose names the config uses for others.
fn choose_free_names(imported: &mut Imported, config: &Config) {
    let taken: Vec<_> = imported
        .servers
        .keys()
        .filter(|name| config.servers.contains_key(*name))
        .cloned()
        .collect();
    let mut used: BTreeSet<_> =
        config.servers.keys().chain(imported.servers.keys()).cloned().collect();
    for name in taken {
        let free = (2..).map(|number| format!("{name}-{number}")).find(|free| !used.contains(free));
        let Some(free) = free else { continue };
        imported.notes.push(format!(
            "{name}: the config has another server of this name, so it is called `{free}`; choose a name with \
             --as {name}=OTHER"
        ));
        rename(imported, &name, &free);
        used.insert(free);
    }
}
