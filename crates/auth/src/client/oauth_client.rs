//! State that the tokens of all servers share: the vault, pending logins and the callback URL.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;
use proto::Clock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Database, VaultSlot};
use tokio::time::Instant;

use super::fault::Fault;
use super::login::{PendingLogin, TIMEOUT};
use crate::vault::{KeySource, Vault, VaultFault};

/// The path of the callback on the gateway.
const CALLBACK_PATH: &str = "/oauth/callback";

/// The reasons of at most this many failed logins are kept.
const MAX_FAILED: usize = 1_000;

struct FailedLogin {
    why: String,
    at: Instant,
}

/// The gateway as an OAuth client of its servers; one per gateway.
pub struct OAuthClient {
    clock: Clock,
    database: Database,
    key: KeySource,
    /// Opened, and its key made, at first use.
    vault: tokio::sync::OnceCell<Vault>,
    callback: ArcSwapOption<String>,
    pending: Mutex<HashMap<String, PendingLogin>>,
    /// Why logins failed, by their links.
    failed: Mutex<HashMap<Arc<str>, FailedLogin>>,
    /// The callbacks that the client's metadata document lists.
    documented: Mutex<Vec<String>>,
    /// Whether there are other users than the local one.
    multi_user: AtomicBool,
}

impl OAuthClient {
    /// A client that stores its tokens and registrations in this database.
    pub fn new(database: Database, key: KeySource, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            clock,
            database,
            key,
            vault: tokio::sync::OnceCell::new(),
            callback: ArcSwapOption::empty(),
            pending: Mutex::default(),
            failed: Mutex::default(),
            documented: Mutex::default(),
            multi_user: AtomicBool::new(false),
        })
    }

    /// Declares that callers have credentials of their own: the local user is one of several.
    pub fn set_multi_user(&self) {
        self.multi_user.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_multi_user(&self) -> bool {
        self.multi_user.load(Ordering::Relaxed)
    }

    /// Sets the URL at which a browser on this machine reaches the gateway.
    pub fn set_base_url(&self, base: &str) {
        self.callback.store(Some(Arc::new(format!("{base}{CALLBACK_PATH}"))));
    }

    /// The callbacks that [`Self::document_callback`] was given.
    pub(super) fn documented_callbacks(&self) -> Vec<String> {
        self.documented.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a callback to the client's metadata document.
    pub(super) fn document_callback(&self, redirect_uri: &str) {
        let mut documented = self.documented.lock().unwrap_or_else(PoisonError::into_inner);
        if !documented.iter().any(|known| known == redirect_uri) {
            documented.push(redirect_uri.to_owned());
        }
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) fn callback(&self) -> Option<Arc<String>> {
        self.callback.load_full()
    }

    pub(super) fn pending(&self) -> MutexGuard<'_, HashMap<String, PendingLogin>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the login with this link failed, if it did.
    pub fn login_failure(&self, link: &str) -> Option<String> {
        self.failed().get(link).map(|failed| failed.why.clone())
    }

    /// Keeps the reason for the command or page that waits for a login.
    pub(super) fn note_failed_login(&self, link: Arc<str>, why: &str) {
        let mut failed = self.failed();
        failed.retain(|_, failed| failed.at.elapsed() < TIMEOUT);
        if failed.len() < MAX_FAILED {
            failed.insert(link, FailedLogin { why: why.to_owned(), at: Instant::now() });
        }
    }

    fn failed(&self) -> MutexGuard<'_, HashMap<Arc<str>, FailedLogin>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn vault(&self) -> Result<&Vault, VaultFault> {
        let open = async || {
            let (database, key, clock) = (self.database.clone(), &self.key, self.clock.clone());
            Vault::open(database, key, clock)
        };
        self.vault.get_or_try_init(open).await
    }

    pub(super) async fn save(
        &self,
        place: VaultSlot,
        record: &impl Serialize,
    ) -> Result<(), Fault> {
        Ok(self.vault().await?.put(place, record).await?)
    }

    /// The records of a kind that can be opened. The others are logged, and cost a login at worst.
    pub(super) async fn load<T: DeserializeOwned>(
        &self,
        kind: &'static str,
        server: &str,
    ) -> Vec<(VaultSlot, T)> {
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
                tracing::warn!(server, %fault, "a row of the vault cannot be opened");
                None
            }
        });
        opened.collect()
    }

    pub(super) async fn remove(&self, place: &VaultSlot) {
        let removed = match self.vault().await {
            Ok(vault) => vault.remove(place).await,
            Err(fault) => Err(fault),
        };
        if let Err(fault) = removed {
            tracing::warn!(server = place.server, %fault, "a row of the vault could not be removed");
        }
    }
}
