//! Adds servers to the config file: moves their secrets into the vault, edits the file, and reports what a running
//! gateway makes of it.

mod outcome;

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use auth::secrets::operations::ListSecrets;
use config::client_files::{Imported, Importer, Literals};
use config::{FILE_NAME, Loaded, Overrides, edit};
use gateway::install;
use operations::NoInput;
use serde_json::{Map, Value, json};
use store::DataFolder;

use crate::context::Context;
use crate::operation_client::OperationClient;
use gateway::handover;

pub(crate) use outcome::{Expected, apply_replaced, broken_servers, report, wait};

/// The file in the data folder that a command locks while it adds servers.
const TURN_FILE: &str = "adding.lock";

/// The config file that commands edit.
pub(crate) struct Installer<'a> {
    context: &'a Context,
    file: PathBuf,
}

/// The right to add servers. While one command has it, others wait: names of servers and secrets that are free stay free
/// until they are written.
pub(crate) struct Turn {
    _lock: File,
}

/// What was added.
#[derive(Default)]
pub(crate) struct Installed {
    pub(crate) names: Vec<String>,
    /// Secrets that are in the vault now.
    pub(crate) stored: Vec<String>,
    /// Secrets that the user has to provide, and how.
    pub(crate) missing: Vec<(String, String)>,
}

impl<'a> Installer<'a> {
    pub(crate) fn new(context: &'a Context) -> Self {
        let named = context.global.config.clone();
        let named = named.or_else(|| context.environment.path("POWERSTRIP_CONFIG"));
        Self { context, file: named.unwrap_or_else(|| FILE_NAME.into()) }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The folder of the config file.
    pub(crate) fn folder(&self) -> PathBuf {
        let absolute = std::path::absolute(&self.file).unwrap_or_else(|_| self.file.clone());
        absolute.parent().map_or_else(PathBuf::new, Path::to_owned)
    }

    /// Where links to files lead: the public URL, or else the address of the running gateway or that of the config.
    pub(crate) async fn gateway_url(&self) -> anyhow::Result<String> {
        let config = self.load()?.config;
        if let Some(url) = config.public_url {
            return Ok(url);
        }
        // `serve --listen` may have chosen another address than the config.
        let served = handover::served_at(&config.data_dir).await;
        Ok(served.unwrap_or_else(|| format!("http://{}", config.listen.0)))
    }

    /// The names of the servers in the file.
    pub(crate) fn servers(&self) -> anyhow::Result<BTreeSet<String>> {
        let names = edit::servers_in(&self.file).with_context(|| self.shown())?;
        Ok(names.into_iter().collect())
    }

    /// Edits the file; a missing one is made.
    pub(crate) fn update(
        &self,
        change: impl FnOnce(&str) -> Result<String, edit::EditError>,
    ) -> anyhow::Result<()> {
        if edit::update(&self.file, change).with_context(|| self.shown())? {
            note_narrowed(&self.file);
        }
        Ok(())
    }

    /// Sets or clears `disabled` of servers.
    pub(crate) fn switch(&self, names: &[String], disabled: bool) -> anyhow::Result<()> {
        if edit::switch_servers(&self.file, names, disabled).with_context(|| self.shown())? {
            note_narrowed(&self.file);
        }
        Ok(())
    }

    /// Waits until no other command adds servers.
    pub(crate) fn turn(&self) -> anyhow::Result<Turn> {
        let folder = self.load()?.config.data_dir;
        let file = folder.join(TURN_FILE);
        if !file.exists() {
            // As the first file of a folder it would keep it from being closed to others and to Git.
            drop(DataFolder::claim(&folder)?);
        }
        let open = || {
            let lock = File::options().create(true).append(true).mode(0o600).open(&file)?;
            lock.lock()?;
            Ok::<_, io::Error>(Turn { _lock: lock })
        };
        open().with_context(|| format!("{} cannot be locked", file.display()))
    }

    /// An importer that moves secrets out of entries, and leaves known servers alone unless they are replaced.
    pub(crate) async fn importer(&self, replace: bool) -> anyhow::Result<Importer<'a>> {
        let mut taken = self.stored_secrets().await;
        // A server that waits for its secret must not get the value of another one.
        if let Ok(loaded) = self.load() {
            let used = loaded.secret_names();
            taken.extend(used.gateway.into_iter().chain(used.personal.into_keys()));
        }
        Ok(Importer {
            environment: &self.context.environment,
            literals: Literals::Move,
            taken,
            skip: if replace { BTreeSet::new() } else { self.servers()? },
        })
    }

    /// The names of the secrets in the vault; none if it cannot be read, which storing would report.
    async fn stored_secrets(&self) -> BTreeSet<String> {
        let Ok(loaded) = self.load() else { return BTreeSet::new() };
        // Asking must not create a data folder.
        if !loaded.config.data_dir.exists() {
            return BTreeSet::new();
        }
        let listed = async {
            let client = OperationClient::for_secrets(self.context, &loaded).await?;
            let listed = client.run::<ListSecrets>(&NoInput {}).await;
            client.close().await;
            listed
        };
        let stored = listed.await.unwrap_or_default().into_iter();
        stored.filter(|secret| secret.stored_unix_ms.is_some()).map(|secret| secret.name).collect()
    }

    /// Stores the secrets and writes the servers, whose names were chosen in this turn.
    pub(crate) async fn install(
        &self,
        mut imported: Imported,
        _turn: Turn,
    ) -> anyhow::Result<Installed> {
        let missing = self.store_secrets(&mut imported).await;
        let stored = imported.secrets.keys().cloned().collect();
        if install::write_servers(&self.file, &imported).with_context(|| self.shown())? {
            note_narrowed(&self.file);
        }
        Ok(Installed { names: imported.servers.keys().cloned().collect(), stored, missing })
    }

    /// Moves the secrets of an import into the vault. Returns those that the user has to provide, and how.
    pub(crate) async fn store_secrets(&self, imported: &mut Imported) -> Vec<(String, String)> {
        let mut missing = self.missing_secrets(imported).await;
        if imported.secrets.is_empty() {
            return missing;
        }
        if let Err(error) = self.store(imported).await {
            terminal::note(format_args!("the vault cannot be used: {error:#}"));
            for name in imported.use_environment() {
                missing.push((
                    name,
                    "set this variable where the gateway runs, or in `.env`".to_owned(),
                ));
            }
        }
        missing
    }

    /// The secrets that the user has to provide, and how.
    pub(crate) async fn missing_secrets(&self, imported: &Imported) -> Vec<(String, String)> {
        if imported.needed.is_empty() {
            return Vec::new();
        }
        let known = self.stored_secrets().await;
        let needed = imported
            .needed
            .iter()
            .filter(|(name, _)| !known.contains(*name) && !imported.secrets.contains_key(*name));
        let how = |(name, purpose): (&String, &String)| {
            let purpose = terminal::shown(purpose);
            (name.clone(), format!("`powerstrip secret set {name}` ({purpose})"))
        };
        needed.map(how).collect()
    }

    /// Refers to the secrets that are in the vault already, under whatever name, in place of equal ones of the file.
    pub(crate) async fn reuse_secrets(&self, imported: &mut Imported) -> anyhow::Result<()> {
        let loaded = self.load()?;
        // Asking must not create a data folder.
        if imported.secrets.is_empty() || !loaded.config.data_dir.exists() {
            return Ok(());
        }
        let client = OperationClient::for_secrets(self.context, &loaded).await?;
        let reused = install::reuse_secrets(&client, imported).await;
        client.close().await;
        reused
    }

    async fn store(&self, imported: &mut Imported) -> anyhow::Result<()> {
        let loaded = self.load()?;
        let client = OperationClient::for_secrets(self.context, &loaded).await?;
        let stored = install::store_secrets(&client, imported).await;
        client.close().await;
        stored
    }

    /// The configuration as it is; a file that is to be made counts as empty.
    pub(crate) fn load(&self) -> anyhow::Result<Loaded> {
        let flags = self.context.global.overrides();
        let flags = if self.file.exists() {
            flags
        } else {
            let data_dir =
                flags.data_dir.clone().unwrap_or_else(|| self.folder().join(".powerstrip"));
            Overrides { config: None, data_dir: Some(data_dir), ..flags }
        };
        Ok(self.context.load_with(flags)?)
    }

    fn shown(&self) -> String {
        format!("{} was not changed", self.file.display())
    }
}

/// Says that a file was closed to other users.
pub(crate) fn note_narrowed(file: &Path) {
    terminal::note(format_args!("{} contains secrets: only you can read it now", file.display()));
}

/// Prints what was left out and what was refused. The file may be that of a project by someone else.
pub(crate) fn note_import(imported: &Imported) {
    for note in &imported.notes {
        terminal::note(terminal::shown(note));
    }
    for (name, why) in &imported.refused {
        terminal::note(terminal::shown(&format!("{name}: not imported: {why}")));
    }
}

/// The result of an import as JSON.
pub(crate) fn describe_import(imported: &Imported, installed: &Installed) -> Value {
    let refused: Vec<_> =
        imported.refused.iter().map(|(name, why)| json!({"name": name, "reason": why})).collect();
    let missing: Map<_, _> =
        installed.missing.iter().map(|(name, how)| (name.clone(), json!(how))).collect();
    json!({
        "added": installed.names,
        "secrets_stored": installed.stored,
        "secrets_missing": missing,
        "notes": imported.notes,
        "refused": refused,
    })
}
