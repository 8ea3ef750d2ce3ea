//! What a gateway is built on: its data folder, the database, the vault, and the runner of processes.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use auth::AccessOptions;
use auth::client::Holder;
use auth::secrets::SecretStore;
use auth::vault::KeySource;
use auth::{LOCAL_SUBJECT, LOCAL_TENANT};
use config::{BadConfig, Loaded, VaultSecrets};
use egress::process::Runner;
use environment::{Environment, VAULT_KEY};
use proto::Clock;
use store::{DataFolder, Database};

use super::database;
use crate::Process;

/// The file in the data folder that holds the key of the vault.
const KEY_FILE: &str = "vault.key";

/// An open data folder, before anything runs on it.
pub struct Foundation {
    pub(super) folder: DataFolder,
    pub(super) database: Database,
    pub(super) runner: Arc<Runner>,
    pub(super) key: KeySource,
    pub(super) secrets: Arc<SecretStore>,
    /// The one clock of this process.
    pub(super) clock: Clock,
}

impl Foundation {
    /// Opens the database and the vault of a folder that this process owns.
    pub async fn open(
        process: &Process,
        loaded: &Loaded,
        folder: DataFolder,
    ) -> anyhow::Result<Self> {
        let database = database::open(loaded, folder.path());
        let (runner, database) = tokio::join!(Runner::new(), database);
        let runner = runner.context("processes cannot be started on this host")?;
        // `check` runs on a temporary folder; the configured one stays hidden from tools as well.
        let runner = Arc::new(runner.hiding(folder.path()).hiding(&loaded.config.data_dir));
        let (database, key) = (database?, key_source(&process.environment, folder.path()));
        let clock = Clock::default();
        let secrets = SecretStore::new(database.clone(), key.clone(), clock.clone());
        if loaded.config.auth.is_some() {
            secrets.set_multi_user();
        }
        Ok(Self { folder, database, runner, key, secrets, clock })
    }

    /// Which callers are accepted; an error if a secret of `auth` is missing.
    pub async fn access(&self, loaded: &Loaded) -> Result<Option<AccessOptions>, BadConfig> {
        loaded.access(&vault_secrets(&self.secrets, loaded).await)
    }
}

/// The key of the vault: from the environment, or a file in the data folder.
pub fn key_source(environment: &Environment, folder: &Path) -> KeySource {
    let given = environment.secret(VAULT_KEY).map(proto::Secret::new).map(KeySource::Given);
    given.unwrap_or_else(|| KeySource::File(folder.join(KEY_FILE)))
}

/// The secrets of the vault that a config can use. If the vault cannot be read, they count as missing.
pub(super) async fn vault_secrets(store: &SecretStore, loaded: &Loaded) -> VaultSecrets {
    let values = async |holder: Holder| {
        store.values(&holder).await.unwrap_or_else(|fault| {
            tracing::error!(%fault, "the secrets in the vault cannot be read");
            Arc::default()
        })
    };
    let local_user = match loaded.config.auth {
        // One person's secret must not decide what others see.
        Some(_) => None,
        None => {
            let (tenant, subject) = (LOCAL_TENANT.to_owned(), LOCAL_SUBJECT.to_owned());
            Some(values(Holder::Person { tenant, subject }).await)
        }
    };
    VaultSecrets { gateway: values(Holder::Gateway).await, local_user }
}
