//! Moves the servers of a client behind the gateway.

use std::collections::BTreeSet;
use std::path::Path;

use config::client_files::{ClientFile, Imported};
use config::{Config, HeaderSource, Server};

use super::Connect;
use super::addresses::GatewayAddresses;
use super::moved::{ConnectRecord, MovedEntry};
use crate::exit::Usage;
use crate::installer::{Installed, Installer, note_import};

/// What became of the client's servers.
pub(super) struct Taken {
    /// Added to the config.
    pub(super) installed: Installed,
    /// In the config already.
    pub(super) known: Vec<String>,
}

impl Connect {
    /// Adds the client's servers to the config and takes them out of the client's file. Those that the config has already
    /// are only taken out; others of the same name get another one. The record keeps the entries as the client had them.
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
        let Ok(mut imported) = importer.read(path) else {
            // Without servers, none can be called differently.
            self.rename(&mut Imported::default())?;
            return Ok(Taken { installed: Installed::default(), known: Vec::new() });
        };
        imported.relative_to(&installer.folder());
        // The gateway's own entry is no news.
        imported.notes.retain(|note| !note.starts_with(&format!("{}: skipped", self.name)));
        remove_gateways(&mut imported, installer).await?;
        installer.reuse_secrets(&mut imported).await?;
        self.rename(&mut imported)?;
        let known = take_known(&mut imported, &config);
        choose_free_names(&mut imported, &config);
        note_import(&imported);
        let servers = imported.servers.keys().chain(&known);
        let origins: Vec<_> =
            servers.filter_map(|name| imported.origins.get(name).cloned()).collect();
        let installed = installer.install(imported).await?;
        for origin in &origins {
            let keys: Vec<_> = origin.iter().map(String::as_str).collect();
            if let Some(entry) = file.get(&keys) {
                record.keep(MovedEntry { keys: origin.clone(), entry });
            }
            file.remove(&keys).map_err(named)?;
        }
        Ok(Taken { installed, known })
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

/// Entries that lead to this gateway, under whatever name, stay with the client. Returns their names.
pub(in crate::cmd) async fn remove_gateways(
    imported: &mut Imported,
    installer: &Installer<'_>,
) -> anyhow::Result<Vec<String>> {
    let addresses = GatewayAddresses::find(installer).await?;
    let found = imported.servers.iter().filter(|(_, server)| is_gateway(server, &addresses));
    let found: Vec<_> = found.map(|(name, _)| name.clone()).collect();
    imported.servers.retain(|name, _| !found.contains(name));
    Ok(found)
}

/// Whether an entry is this gateway: moving it behind itself would call in circles.
fn is_gateway(server: &Server, addresses: &GatewayAddresses) -> bool {
    let program = server.command.as_deref().map(Path::new).and_then(Path::file_name);
    let at_address = matches!(&server.url, Some(HeaderSource::Plain(url)) if addresses.serve(url));
    at_address || program.is_some_and(|program| program == "powerstrip")
}

/// Removes the servers that the config has, and returns their names.
fn take_known(imported: &mut Imported, config: &Config) -> Vec<String> {
    let is_known = |name: &String, server: &Server| {
        config.servers.get(name).is_some_and(|known| known.has_target_of(server))
    };
    let known = imported.servers.iter().filter(|(name, server)| is_known(name, server));
    let known: Vec<_> = known.map(|(name, _)| name.clone()).collect();
    imported.servers.retain(|name, _| !known.contains(name));
    known
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
