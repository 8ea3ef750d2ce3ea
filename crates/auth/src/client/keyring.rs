//! What all servers share: the vault, logins under way, and where browsers come back to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;
use egress::http::Client;
use proto::Clock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::{Database, VaultPlace};

use super::config::ClientConfig;
use super::fault::Fault;
use super::login::Pending;
use super::registration;
use super::server::ServerTokens;
use crate::vault::{KeySource, Vault, VaultFault};

/// The path of the callback on the gateway.
const CALLBACK_PATH: &str = "/oauth/callback";

/// Everything that has to do with tokens for servers; one per gateway.
pub struct Keyring {
    clock: Clock,
    database: Database,
    key: KeySource,
    /// Opened, and its key made, when it is first needed.
    vault: tokio::sync::OnceCell<Vault>,
    callback: ArcSwapOption<String>,
    pending: Mutex<HashMap<String, Pending>>,
    /// The callbacks that the document about us names.
    told: Mutex<Vec<String>>,
    /// Whether there are more people than the local user.
    many: AtomicBool,
}

impl Keyring {
    /// A keyring that keeps what it has in this database.
    pub fn new(database: Database, key: KeySource, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            clock,
            database,
            key,
            vault: tokio::sync::OnceCell::new(),
            callback: ArcSwapOption::empty(),
            pending: Mutex::default(),
            told: Mutex::default(),
            many: AtomicBool::new(false),
        })
    }

    /// Says that callers come with credentials of their own: the local user is one among several.
    pub fn serve_many(&self) {
        self.many.store(true, Ordering::Relaxed);
    }

    pub(super) fn serves_many(&self) -> bool {
        self.many.load(Ordering::Relaxed)
    }

    /// Says at which URL the gateway itself can be reached by a browser on this machine.
    pub fn listens_at(&self, base: &str) {
        self.callback.store(Some(Arc::new(format!("{base}{CALLBACK_PATH}"))));
    }

    /// The tokens of one server. Without a config, a person is asked to log in if the server wants that.
    pub fn server(
        self: &Arc<Self>,
        name: &str,
        urls: Vec<String>,
        shared: bool,
        config: Option<ClientConfig>,
        http: &Client,
    ) -> Arc<ServerTokens> {
        ServerTokens::new(Arc::clone(self), name, urls, shared, config, http)
    }

    /// The document about us, if any authorization server was told where it lies.
    pub fn client_document(&self) -> Option<Value> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
        registration::document(&told)
    }

    pub(super) fn tells_about(&self, redirect_uri: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if !told.iter().any(|known| known == redirect_uri) {
            told.push(redirect_uri.to_owned());
        }
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) fn callback(&self) -> Option<Arc<String>> {
        self.callback.load_full()
    }

    pub(super) fn pending(&self) -> MutexGuard<'_, HashMap<String, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn vault(&self) -> Result<&Vault, VaultFault> {
        let open = async || {
            let (database, key, clock) = (self.database.clone(), &self.key, self.clock.clone());
            Vault::open(database, key, clock)
        };
        self.vault.get_or_try_init(open).await
    }

    pub(super) async fn keep(
        &self,
        place: VaultPlace,
        record: &impl Serialize,
    ) -> Result<(), Fault> {
        Ok(self.vault().await?.put(place, record).await?)
    }

    /// What is kept and can be opened. What cannot is told to the operator, and costs a login at worst.
    pub(super) async fn kept<T: DeserializeOwned>(
        &self,
        kind: &'static str,
        server: &str,
    ) -> Vec<(VaultPlace, T)> {
        let all = match self.vault().await {
            Ok(vault) => vault.all(kind, server).await,
            Err(fault) => Err(fault),
        };
        let rows = all.unwrap_or_else(|fault| {
            tracing::warn!(server, %fault, "the vault cannot be used");
            Vec::new()
        });
        let opened = rows.into_iter().filter_map(|(place, record)| match record {
            Ok(record) => Some((place, record)),
            Err(fault) => {
                tracing::warn!(server, %fault, "a row of the vault is of no use");
                None
            }
        });
        opened.collect()
    }

    pub(super) async fn forget(&self, place: &VaultPlace) {
        let removed = match self.vault().await {
            Ok(vault) => vault.remove(place).await,
            Err(fault) => Err(fault),
        };
        if let Err(fault) = removed {
            tracing::warn!(server = place.server, %fault, "a row of the vault stays");
        }
    }
}
