//! A configuration that was read and checked, and the secrets that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use auth::AccessOptions;
use auth::secrets::SecretNames;
use environment::Environment;
use proto::{Scrubber, Secret, secrets_of};
use schema::yaml::Node;
use store::BucketOptions;

use crate::fault::{BadConfig, Fault, Locator};
use crate::files::StorageFault;
use crate::research::{ProviderKeys, ResearchFault};
use crate::secret::{SecretReader, SecretSource, VaultSecrets};
use crate::servers::{self, EntryFault};
use crate::settings::Config;

/// Servers by name, with secrets fetched.
pub type Servers = Vec<(String, server_entry::ServerConfig)>;

/// A valid configuration and its file. Its secrets are fetched only where they are used: in the process that owns the
/// data folder.
#[derive(Clone)]
pub struct Loaded {
    pub config: Config,
    /// The file that it was read from, if any.
    pub file: Option<PathBuf>,
    /// The variables of the process, completed by `.env` next to the config file.
    pub environment: Environment,
    /// Settings that are most likely mistakes.
    pub warnings: Vec<Fault>,
    /// Servers whose entries are wrong, with their faults. They are not used; the others are.
    pub invalid: BTreeMap<String, Vec<Fault>>,
    pub(crate) tree: Option<Arc<Node>>,
}

/// Leaves out the text of the file, which may have secrets in it.
impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("config", &self.config)
            .field("file", &self.file)
            .field("environment", &self.environment)
            .field("warnings", &self.warnings)
            .field("invalid", &self.invalid)
            .finish_non_exhaustive()
    }
}

/// A configuration's secrets. Where one is missing, or an entry is wrong, what needs it is off.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The servers; those without a secret or with a wrong entry say so and are not used.
    pub servers: Servers,
    /// The secret that signs messages of the approval webhook; without it, there are none.
    pub webhook_secret: Option<Secret>,
    /// The keys of search providers.
    pub provider_keys: ProviderKeys,
    /// The key of the model.
    pub model_key: Option<Secret>,
    /// What is off because of a missing secret or a wrong entry.
    pub off: Vec<Fault>,
    scrubber: Scrubber,
}

impl Resolved {
    /// A scrubber of the secrets of servers, search providers, the OTLP collector and the webhook.
    pub fn scrubber(&self) -> Scrubber {
        self.scrubber.clone()
    }
}

impl Loaded {
    fn locator(&self) -> Locator<'_> {
        Locator { file: self.file.as_deref(), tree: self.tree.as_deref() }
    }

    /// The folder that relative paths start at.
    pub fn base(&self) -> &Path {
        self.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }

    /// The same configuration without servers.
    pub fn without_servers(&self) -> Self {
        let mut loaded = self.clone();
        loaded.config.servers.clear();
        loaded.invalid.clear();
        loaded
    }

    /// Fetches the secrets of servers, search providers and the approval webhook.
    pub fn resolve(&self, vault: &VaultSecrets) -> Resolved {
        let (config, locator) = (&self.config, self.locator());
        let reader = SecretReader::with_vault(&self.environment, self.base(), vault);
        let (mut servers, mut off) = (Vec::new(), Vec::new());
        for (name, server) in &config.servers {
            if let Some(faults) = self.invalid.get(name) {
                off.extend(faults.iter().cloned());
                servers.push((name.clone(), servers::unusable(server, name, faults)));
                continue;
            }
            let (resolved, faults) = servers::resolve(server, &reader);
            if !server.disabled {
                off.extend(faults.into_iter().map(|fault| entry_fault(locator, name, fault)));
            }
            servers.push((name.clone(), resolved));
        }
        sort_as_written(&mut servers, self.tree.as_deref());
        let webhook = config.approvals.webhook.as_ref().map(|webhook| webhook.resolve(&reader));
        let webhook_secret = webhook.transpose().unwrap_or_else(|(key, why)| {
            let why = format!("{why}; no message is sent without it");
            off.push(locator.fault(&["approvals", "webhook", key], why));
            None
        });
        let (provider_keys, faults) = config.research.resolve(&self.environment, &reader);
        off.extend(faults.into_iter().map(|fault| research_fault(locator, fault)));
        let model = config.model.as_ref().map(|model| model.resolve(&reader));
        let model_key = model.transpose().map(Option::flatten).unwrap_or_else(|(key, why)| {
            let why = format!("{why}; the model is asked without it");
            off.push(locator.fault(&["model", key], why));
            None
        });
        let headers = self.otlp_headers().unwrap_or_else(|faults| {
            off.extend(faults);
            Vec::new()
        });
        let of_servers = servers.iter().flat_map(|(_, server)| server.secrets());
        let collector = headers.iter().flat_map(|(name, value)| secrets_of(name, value.expose()));
        let webhooks = webhook_secret.iter().map(|secret| secret.expose().to_owned());
        let providers = provider_keys.values().map(|key| key.expose().to_owned());
        let models = model_key.iter().map(|key| key.expose().to_owned());
        let all = of_servers.chain(collector).chain(webhooks).chain(providers).chain(models);
        let scrubber = Scrubber::new(all);
        Resolved { servers, webhook_secret, provider_keys, model_key, off, scrubber }
    }

    /// The secrets of servers that this process cannot find, without looking into the vault.
    pub fn missing_outside_vault(&self) -> Vec<Fault> {
        let locator = self.locator();
        let reader = SecretReader::without_vault(&self.environment, self.base());
        let mut missing = Vec::new();
        for (name, server) in &self.config.servers {
            if server.disabled || self.invalid.contains_key(name) {
                continue;
            }
            let faults = servers::missing_outside_vault(server, &reader).into_iter();
            missing.extend(faults.map(|fault| entry_fault(locator, name, fault)));
        }
        missing.extend(self.otlp_headers().err().into_iter().flatten());
        missing
    }

    /// Headers for the OTLP collector, or why there are none.
    pub fn otlp_headers(&self) -> Result<Vec<(String, Secret)>, Vec<Fault>> {
        let Some(otlp) = &self.config.telemetry.otlp else { return Ok(Vec::new()) };
        let reader = SecretReader::without_vault(&self.environment, self.base());
        let (mut headers, mut faults) = (Vec::new(), Vec::new());
        for (name, source) in &otlp.headers {
            match source.fetch(&reader) {
                Ok(secret) => headers.push((name.clone(), secret)),
                Err(why) => {
                    let why = format!("{why}; no traces are sent without it");
                    let keys = ["telemetry", "otlp", "headers", name];
                    faults.push(self.locator().fault(&keys, why));
                }
            }
        }
        if faults.is_empty() { Ok(headers) } else { Err(faults) }
    }

    /// Which callers are accepted, with secrets fetched; only the local user if `auth` is unset. A missing secret is an
    /// error: without it, other callers would be accepted than configured.
    pub fn access(&self, vault: &VaultSecrets) -> Result<Option<AccessOptions>, BadConfig> {
        let reader = SecretReader::with_vault(&self.environment, self.base(), vault);
        resolve_access(&self.config, self.locator(), &reader).map_err(BadConfig)
    }

    /// The URL of the PostgreSQL database, if one is configured.
    pub fn database_url(&self) -> Result<Option<Secret>, BadConfig> {
        let url = self.config.storage.database_url(&self.environment);
        url.map_err(|fault| BadConfig(vec![storage_fault(self.locator(), fault)]))
    }

    /// The bucket of files, if one is configured.
    pub fn bucket(&self) -> Result<Option<BucketOptions>, BadConfig> {
        self.config.storage.bucket(&self.environment).map_err(|faults| {
            let fault = |fault| storage_fault(self.locator(), fault);
            BadConfig(faults.into_iter().map(fault).collect())
        })
    }

    /// The secrets of which each person stores a value of their own, with the servers that use them.
    pub fn personal_secrets(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (server, entry) in &self.config.servers {
            for name in servers::personal_secrets(entry) {
                names.entry(name.to_owned()).or_default().insert(server.clone());
            }
        }
        names
    }

    /// The secrets in the vault that the config asks for.
    pub fn secret_names(&self) -> SecretNames {
        SecretNames {
            gateway: self.vault_secrets(),
            personal: self.personal_secrets(),
            incomplete: self.unread(),
        }
    }

    /// The parts of the configuration that are missing or cannot be read, in words.
    fn unread(&self) -> Option<String> {
        if self.file.is_none() {
            return Some("there is no config file".to_owned());
        }
        let names: Vec<_> = self.invalid.keys().map(|name| format!("`{name}`")).collect();
        match names.as_slice() {
            [] => None,
            [name] => Some(format!("entry {name} cannot be read")),
            names => Some(format!("entries {} cannot be read", names.join(", "))),
        }
    }

    /// The names of the gateway's secrets in the vault that the config uses.
    pub fn vault_secrets(&self) -> BTreeSet<String> {
        let config = &self.config;
        let servers = config.servers.values().flat_map(|server| {
            let values = servers::sources(server).map(|(_, source)| source);
            let tokens = server.auth.iter().flat_map(|auth| auth.secrets());
            values.chain(tokens.map(|(_, source)| source))
        });
        let webhook = config.approvals.webhook.iter().map(|webhook| &webhook.secret);
        let auth = config.auth.iter().flat_map(|auth| auth.secrets());
        let model = config.model.iter().filter_map(|model| model.key.as_ref());
        let all = servers.chain(webhook).chain(auth).chain(model).chain(config.research.secrets());
        all.filter_map(SecretSource::vault_name).map(str::to_owned).collect()
    }
}

/// The options of `auth`, or its faults.
pub(crate) fn resolve_access(
    config: &Config,
    locator: Locator<'_>,
    reader: &SecretReader<'_>,
) -> Result<Option<AccessOptions>, Vec<Fault>> {
    let Some(auth) = &config.auth else { return Ok(None) };
    let public_url = match &config.public_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => format!("http://{}", config.listen.0),
    };
    auth.resolve(public_url, reader).map(Some).map_err(|unusable| {
        let fault = |unusable: EntryFault| {
            let below = unusable.keys.iter().map(String::as_str);
            let path: Vec<_> = ["auth"].into_iter().chain(below).collect();
            locator.fault(&path, unusable.message)
        };
        unusable.into_iter().map(fault).collect()
    })
}

/// A fault of a server's entry.
pub(crate) fn entry_fault(locator: Locator<'_>, server: &str, fault: EntryFault) -> Fault {
    let below = fault.keys.iter().map(String::as_str);
    let path: Vec<_> = ["servers", server].into_iter().chain(below).collect();
    locator.fault(&path, fault.message)
}

/// A fault of the section `research`.
pub(crate) fn research_fault(locator: Locator<'_>, (keys, message): ResearchFault) -> Fault {
    let path: Vec<_> = ["research"].into_iter().chain(keys).collect();
    locator.fault(&path, message)
}

/// A fault of the section `storage`.
pub(crate) fn storage_fault(locator: Locator<'_>, (keys, message): StorageFault) -> Fault {
    let path: Vec<_> = ["storage"].into_iter().chain(keys).collect();
    locator.fault(&path, message)
}

/// Sorts servers into the order of the file, by which contested names are given. Servers of other files come last.
fn sort_as_written(servers: &mut Servers, tree: Option<&Node>) {
    let written: Vec<&str> =
        tree.and_then(|tree| tree.get("servers")).into_iter().flat_map(Node::keys).collect();
    let place = |name: &str| written.iter().position(|known| *known == name);
    servers.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
}
