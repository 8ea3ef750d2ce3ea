//! Adds servers to the config file: from commands, and from the dashboard of a running gateway.

mod secrets;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use auth::client::Holder;
use auth::secrets::{SecretStore, SecretValues};
use config::client_files::{Imported, Importer, Literals};
use config::edit::{self, EditError};
use config::{BadConfig, FILE_NAME, Loaded, Overrides, Server, Span, VaultSecrets};
use egress::http::Client;
use egress::process::Runner;
use operations::install::{FoundServer, NewServer, ServerInstaller, ServerPreview, ServerTrial};
use operations::{Caller, OperationError, Table};
use proto::{Clock, Code};
use recipes::catalog::{self, Listing};
use recipes::mcp_registry::{self, RegistryServer, find_private_address};
use recipes::{Plan, PlanError};
use serde_json::Value;
use server_entry::{Instances, Pin, Start};

use crate::console::Audited;
use crate::{Gateway, GatewayConsole, Process, foundation};

pub use secrets::{RunOperation, reuse_secrets, store_secrets};

/// How long the host of a URL may take to be resolved.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a call of one of our own servers may take.
const BUNDLED_TIMEOUT: Duration = Duration::from_secs(120);

/// The keys of an entry that differ from their defaults.
pub fn written_keys(server: &Server) -> serde_json::Result<Value> {
    let usual = serde_json::to_value(Server::default())?;
    let mut keys = serde_json::to_value(server)?;
    if let Value::Object(keys) = &mut keys {
        keys.retain(|key, value| usual.get(key) != Some(value));
    }
    Ok(keys)
}

/// Writes servers to a config file; a missing one is made. Returns whether the file was closed to other users.
pub fn write_servers(file: &Path, imported: &Imported) -> Result<bool, EditError> {
    let mut entries = Vec::new();
    for (name, server) in &imported.servers {
        let entry = written_keys(server)
            .map_err(|error| EditError::Invalid { line: None, message: error.to_string() })?;
        entries.push((name, entry));
    }
    edit::update(file, |yaml| {
        entries
            .iter()
            .try_fold(yaml.to_owned(), |yaml, (name, entry)| edit::set_server(&yaml, name, entry))
    })
}

/// Reads the entry of a recipe. Relative paths start at `folder`.
pub fn read_recipe(
    importer: &Importer<'_>,
    plan: &Plan,
    name: &str,
    folder: &Path,
) -> Result<Imported, PlanError> {
    let imported = importer.read_document(&plan.recipe.document(name), &folder.join("mcp.json"));
    let mut imported = imported.map_err(PlanError::Invalid)?;
    if plan.recipe.bundled {
        let start = if plan.recipe.eager { Start::Eager } else { Start::Lazy };
        imported.servers.values_mut().for_each(|server| settle_bundled(server, start));
    }
    if let Some((_, why)) = imported.refused.first() {
        return Err(PlanError::Invalid(format!("{name}: {why}")));
    }
    if !imported.servers.contains_key(name) {
        let why =
            format!("`{name}` cannot name a server: use letters, digits, `-`, `.` and single `_`");
        return Err(PlanError::Invalid(why));
    }
    Ok(imported)
}

/// The settings of our own servers: they know no callers and may be slow, and their definitions change with our releases.
fn settle_bundled(server: &mut Server, start: Start) {
    server.start = start;
    server.instances = Some(Instances::Shared);
    server.timeout = Some(Span(BUNDLED_TIMEOUT));
    server.pin = Pin::Off;
}

/// The private address that a recipe's URL leads to, unless it is allowed. A name that cannot be resolved now is
/// reported when the server is started.
pub async fn private_address(plan: &Plan) -> Option<String> {
    let url = plan.recipe.entry.get("url").and_then(Value::as_str)?;
    let found = tokio::time::timeout(RESOLVE_TIMEOUT, find_private_address(url)).await;
    found.ok()?.ok()?.map(|address| address.to_string())
}

/// Adds servers to the config of a running gateway.
pub struct Installer {
    process: Process,
    flags: Overrides,
    console: Arc<GatewayConsole>,
    operations: Arc<Table>,
    vault: Arc<SecretStore>,
    runner: Arc<Runner>,
    client: Client,
    clock: Clock,
    /// One trial at a time: each may start a program.
    trying: tokio::sync::Mutex<()>,
}

impl Gateway {
    /// What the dashboard adds servers with.
    pub fn installer(&self, process: &Process, flags: Overrides) -> Arc<Installer> {
        Arc::new(Installer {
            process: process.clone(),
            flags,
            console: Arc::clone(&self.console),
            operations: Arc::clone(&self.operations),
            vault: Arc::clone(&self.secrets),
            runner: Arc::clone(&self.runner),
            client: self.client.clone(),
            clock: self.strip.clock().clone(),
            trying: tokio::sync::Mutex::default(),
        })
    }
}

/// A server that can be added.
struct Prepared {
    loaded: Loaded,
    file: PathBuf,
    plan: Plan,
    imported: Imported,
    /// The names of the secrets in the vault.
    stored: BTreeSet<String>,
}

impl Prepared {
    /// What will be run, sent and set.
    fn lines(&self, new: &NewServer) -> Vec<String> {
        let mut lines = self.plan.recipe.preview(&recipes::own_names(new));
        lines.extend(self.imported.notes.iter().cloned());
        lines
    }

    /// The folder of the config file.
    fn folder(&self) -> PathBuf {
        folder_of(&self.file)
    }

    /// The vault as it will be with the server's secrets.
    async fn vault(&self, store: &SecretStore) -> VaultSecrets {
        let vault = foundation::vault_secrets(store, &self.loaded).await;
        let stored = self.stored.iter();
        let stored =
            stored.filter_map(|name| Some((name.clone(), vault.gateway.get(name)?.clone())));
        let new = self.imported.secrets.iter().map(|(name, value)| (name.clone(), value.clone()));
        VaultSecrets { gateway: Arc::new(SecretValues::of(stored.chain(new))), ..vault }
    }
}

fn folder_of(file: &Path) -> PathBuf {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    absolute.parent().map_or_else(PathBuf::new, Path::to_owned)
}

impl Installer {
    async fn prepare(&self, new: &NewServer) -> Result<Prepared, OperationError> {
        let loaded = self.process.load(&self.flags).map_err(|BadConfig(faults)| {
            let why: Vec<_> = faults.iter().map(ToString::to_string).collect();
            let message = format!("the config file has faults: {}", why.join("; "));
            OperationError::new(Code::Unavailable, message)
        })?;
        let file = loaded.file.clone().unwrap_or_else(|| FILE_NAME.into());
        let known: BTreeSet<_> = loaded.config.servers.keys().cloned().collect();
        recipes::check_name(&new.name, &known).map_err(refused)?;
        if known.contains(&new.name) || loaded.invalid.contains_key(&new.name) {
            let message = format!("there is a server `{}` already; choose another name", new.name);
            return Err(OperationError::invalid(message));
        }
        let mut plan = recipes::plan(new, &loaded.config).await.map_err(refused)?;
        let listen = format!("http://{}", loaded.config.listen.0);
        plan.recipe.allow_gateway(loaded.config.public_url.as_deref().unwrap_or(&listen));
        let stored = self.vault.list(&Holder::Gateway).await?;
        let stored: BTreeSet<_> = stored.into_iter().map(|secret| secret.name).collect();
        let importer = Importer {
            environment: &loaded.environment,
            literals: Literals::Move,
            taken: stored.clone(),
            skip: known,
        };
        let imported = read_recipe(&importer, &plan, &new.name, &folder_of(&file));
        let mut imported = imported.map_err(refused)?;
        imported.relative_to(&folder_of(&file));
        for (name, value) in &new.secrets {
            if imported.needed.remove(name).is_some() {
                imported.secrets.insert(name.clone(), value.clone());
            }
        }
        Ok(Prepared { loaded, file, plan, imported, stored })
    }

    /// Prepares a server of which a person has seen these lines.
    async fn prepare_agreed(
        &self,
        new: &NewServer,
        agreed: &[String],
    ) -> Result<Prepared, OperationError> {
        let prepared = self.prepare(new).await?;
        if prepared.lines(new) != agreed {
            let message = "the server is described differently now: review it again";
            return Err(OperationError::invalid(message));
        }
        self.check_address(new, &prepared.plan).await?;
        Ok(prepared)
    }

    /// Refuses an entry of a registry that leads into a private network, unless the person allowed it.
    async fn check_address(&self, new: &NewServer, plan: &Plan) -> Result<(), OperationError> {
        if new.allow_private || plan.registry_name.is_none() {
            return Ok(());
        }
        match private_address(plan).await {
            None => Ok(()),
            Some(address) => Err(OperationError::invalid(format!(
                "the URL of the registry leads to the private address {address}; allow it if it is yours"
            ))),
        }
    }

    async fn write(&self, caller: &Caller, prepared: Prepared) -> Result<(), OperationError> {
        let Prepared { file, mut imported, .. } = prepared;
        let secrets = Operator { table: &self.operations, caller };
        store_secrets(&secrets, &mut imported).await.map_err(|error| {
            OperationError::new(Code::Unavailable, format!("the vault cannot be used: {error:#}"))
        })?;
        self.console.edit_config(file, move |file| write_servers(file, &imported).map(drop)).await
    }
}

#[async_trait]
impl ServerInstaller for Installer {
    async fn find(&self, word: &str) -> Result<Vec<FoundServer>, OperationError> {
        let mut found: Vec<_> = catalog::search(word).into_iter().map(listed).collect();
        let loaded = self.process.load(&self.flags).ok();
        let registry = loaded.and_then(|loaded| {
            let registry = loaded.config.server_registry.clone()?;
            Some((loaded.config, registry))
        });
        if let Some((config, registry)) = registry.filter(|_| !word.is_empty()) {
            let more = mcp_registry::search(&config, &registry, word).await;
            let more = more.map_err(|error| refused(PlanError::Failed(error)))?;
            found.extend(more.into_iter().map(registered));
        }
        Ok(found)
    }

    async fn preview(&self, new: &NewServer) -> Result<ServerPreview, OperationError> {
        let prepared = self.prepare(new).await?;
        let lines = prepared.lines(new);
        let Prepared { plan, imported, stored, .. } = prepared;
        let needed = imported.needed.iter();
        let (receives, missing): (Vec<_>, Vec<_>) =
            needed.partition(|(name, _)| stored.contains(*name));
        Ok(ServerPreview {
            lines,
            private_address: private_address(&plan).await,
            registry_name: plan.registry_name,
            stores: imported.secrets.keys().cloned().collect(),
            receives: receives.into_iter().map(|(name, _)| name.clone()).collect(),
            missing: missing.into_iter().map(|(name, why)| (name.clone(), why.clone())).collect(),
        })
    }

    async fn try_out(
        &self,
        caller: &Caller,
        new: &NewServer,
        agreed: &[String],
    ) -> Result<ServerTrial, OperationError> {
        let prepared = self.prepare_agreed(new, agreed).await?;
        let change = Audited { operation: "servers.try", done: "tried", server: &new.name };
        self.console.audited(caller, change, self.start_once(&new.name, prepared)).await
    }

    async fn add(
        &self,
        caller: &Caller,
        new: &NewServer,
        agreed: &[String],
    ) -> Result<(), OperationError> {
        let prepared = self.prepare_agreed(new, agreed).await?;
        let change = Audited { operation: "servers.add", done: "added", server: &new.name };
        self.console.audited(caller, change, self.write(caller, prepared)).await
    }
}

/// Runs operations of the table for one caller.
struct Operator<'a> {
    table: &'a Table,
    caller: &'a Caller,
}

impl RunOperation for Operator<'_> {
    async fn run<O: operations::Operation>(&self, input: &O::Input) -> anyhow::Result<O::Output>
    where
        O::Input: Sync,
    {
        let input = operations::RawInput::Params(serde_json::to_value(input)?);
        Ok(serde_json::from_value(self.table.run(O::NAME, self.caller.clone(), input).await?)?)
    }
}

fn refused(error: PlanError) -> OperationError {
    match error {
        PlanError::Invalid(why) => OperationError::invalid(why),
        PlanError::Failed(why) => OperationError::new(Code::Unavailable, format!("{why:#}")),
    }
}

fn listed(listing: Listing) -> FoundServer {
    let target = listing.target();
    FoundServer {
        target,
        name: listing.name,
        about: listing.about,
        homepage: listing.homepage,
        license: listing.license,
        arguments: listing.arguments,
        env: listing.env,
        secrets: listing.secrets.into_iter().chain(listing.bearer).collect(),
        in_registry: false,
    }
}

fn registered(server: RegistryServer) -> FoundServer {
    FoundServer {
        name: server.name,
        about: server.about,
        target: String::new(),
        homepage: String::new(),
        license: String::new(),
        arguments: None,
        env: BTreeMap::new(),
        secrets: BTreeMap::new(),
        in_registry: true,
    }
}
