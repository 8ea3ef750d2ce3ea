//! Named secrets in the vault: those of the gateway, which the config uses as `{secret: NAME}`, and those of each person.

pub mod operations;
mod service;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::operations::OperationError;
use proto::{Clock, Code, Principal, Secret};
use serde::{Deserialize, Serialize};
use store::{DamagedRow, Database, StoreError, VaultSlot};
use tokio::sync::{OnceCell, broadcast};

use crate::client::Holder;
use crate::local::{LOCAL_SUBJECT, LOCAL_TENANT};
use crate::secret::sealed;
use crate::vault::{KeyFault, KeySource, Vault, VaultFault};
pub use service::{SecretNames, SecretService};

/// The kind of these rows in the vault.
const KIND: &str = "secret";

/// The longest name.
const MAX_NAME: usize = 64;

/// The longest value, in bytes.
const MAX_VALUE: usize = 64 * 1024;

/// How many secrets one person may store.
const MAX_PER_PERSON: usize = 100;

/// For how many people values are kept in memory.
const MAX_CACHED: usize = 4_096;

/// Changes that a slow listener may miss before it has to assume that everything has changed.
const CHANGES: usize = 256;

/// Why a secret cannot be stored or read. The messages never contain a value.
#[derive(Debug, thiserror::Error)]
pub enum SecretStoreFault {
    #[error(
        "`{0}` is not the name of a secret: use up to {MAX_NAME} letters, digits, `_`, `-` and `.`, beginning with a letter"
    )]
    Name(String),
    #[error("the value is empty")]
    Empty,
    #[error("the value has more than {MAX_VALUE} bytes")]
    TooLarge,
    #[error("the value contains a NUL character, which no variable and no header can hold")]
    Nul,
    #[error("one person may store at most {MAX_PER_PERSON} secrets; remove one first")]
    TooMany,
    #[error(transparent)]
    Vault(VaultFault),
}

impl From<VaultFault> for SecretStoreFault {
    fn from(fault: VaultFault) -> Self {
        Self::Vault(fault)
    }
}

impl From<StoreError> for SecretStoreFault {
    fn from(fault: StoreError) -> Self {
        Self::Vault(fault.into())
    }
}

impl From<KeyFault> for SecretStoreFault {
    fn from(fault: KeyFault) -> Self {
        Self::Vault(fault.into())
    }
}

impl From<SecretStoreFault> for OperationError {
    fn from(fault: SecretStoreFault) -> Self {
        let code = match fault {
            SecretStoreFault::Vault(_) => Code::Unavailable,
            _ => Code::InvalidInput,
        };
        Self::new(code, fault.to_string())
    }
}

/// Checks a secret's name.
pub fn check_name(name: &str) -> Result<(), SecretStoreFault> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && name.len() <= MAX_NAME && name.chars().all(allowed) {
        Ok(())
    } else {
        Err(SecretStoreFault::Name(name.chars().take(MAX_NAME).collect()))
    }
}

/// One stored secret, without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSecret {
    pub name: String,
    /// When it was stored, in milliseconds since 1970; none if its row is damaged.
    pub at_ms: Option<u64>,
    /// Whether the vault's key opens it.
    pub readable: bool,
    /// The first column of its row that is damaged.
    pub damaged: Option<String>,
}

impl StoredSecret {
    /// Whether its name cannot be read.
    pub(crate) fn is_nameless(&self) -> bool {
        self.damaged.as_deref() == Some("server")
    }
}

/// The values of one holder.
#[derive(Clone, Default)]
pub struct SecretValues(BTreeMap<String, Secret>);

impl SecretValues {
    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.0.get(name)
    }

    /// The first name that has this value.
    pub fn name_of(&self, value: &Secret) -> Option<&str> {
        let mut found = self.0.iter().filter(|(_, stored)| stored.expose() == value.expose());
        found.next().map(|(name, _)| name.as_str())
    }

    /// All values, for removing them from texts.
    pub fn values(&self) -> impl Iterator<Item = &Secret> {
        self.0.values()
    }

    /// For tests and for commands that have no vault.
    pub fn of(values: impl IntoIterator<Item = (String, Secret)>) -> Self {
        Self(values.into_iter().collect())
    }
}

impl fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(with = "sealed")]
    value: Secret,
}

/// The named secrets of a gateway. Only the process that owns the data folder opens it.
pub struct SecretStore {
    database: Database,
    key: KeySource,
    clock: Clock,
    /// Opened, and its key made, at first use.
    vault: OnceCell<Vault>,
    cache: Mutex<Cache>,
    changes: broadcast::Sender<Holder>,
    /// Whether there are other people than the local user.
    multi_user: AtomicBool,
}

#[derive(Default)]
struct Cache {
    /// Counts changes, so that values that were read before a change are not kept after it.
    generation: u64,
    values: HashMap<Holder, Arc<SecretValues>>,
}

impl SecretStore {
    /// The secrets in this database.
    pub fn new(database: Database, key: KeySource, clock: Clock) -> Arc<Self> {
        let changes = broadcast::Sender::new(CHANGES);
        let (vault, cache) = (OnceCell::new(), Mutex::default());
        let multi_user = AtomicBool::new(false);
        Arc::new(Self { database, key, clock, vault, cache, changes, multi_user })
    }

    /// Declares that callers have credentials of their own: the local user is one of several.
    pub fn set_multi_user(&self) {
        self.multi_user.store(true, Ordering::Relaxed);
    }

    /// The person behind a call, whichever agent acts for them. Without credentials there is one person, who also
    /// operates the gateway.
    pub fn person(&self, principal: &Principal) -> Holder {
        if self.multi_user.load(Ordering::Relaxed) {
            return Holder::person(principal);
        }
        let (tenant, subject) = (LOCAL_TENANT.to_owned(), LOCAL_SUBJECT.to_owned());
        Holder::Person { tenant, subject }
    }

    /// Receives the holder of each secret that is stored or removed from now on.
    pub fn changes(&self) -> broadcast::Receiver<Holder> {
        self.changes.subscribe()
    }

    /// Stores a value, in place of any previous one.
    pub async fn set(
        &self,
        holder: &Holder,
        name: &str,
        value: Secret,
    ) -> Result<(), SecretStoreFault> {
        check_name(name)?;
        let text = value.expose();
        if text.is_empty() {
            return Err(SecretStoreFault::Empty);
        }
        if text.len() > MAX_VALUE {
            return Err(SecretStoreFault::TooLarge);
        }
        if text.contains('\0') {
            return Err(SecretStoreFault::Nul);
        }
        if matches!(holder, Holder::Person { .. }) {
            let known = self.list(holder).await?;
            if known.len() >= MAX_PER_PERSON && known.iter().all(|secret| secret.name != name) {
                return Err(SecretStoreFault::TooMany);
            }
        }
        self.vault().await?.put(slot(holder, name), &Record { value }).await?;
        self.announce(holder);
        Ok(())
    }

    /// Removes a secret; false if there was none.
    pub async fn remove(&self, holder: &Holder, name: &str) -> Result<bool, SecretStoreFault> {
        let known = self.list(holder).await?.iter().any(|secret| secret.name == name);
        if known {
            self.database.remove_vault_row(&slot(holder, name)).await?;
            self.announce(holder);
        }
        Ok(known)
    }

    /// A holder's secrets without their values, those whose rows are damaged last.
    pub async fn list(&self, holder: &Holder) -> Result<Vec<StoredSecret>, SecretStoreFault> {
        let (tenant, owner) = holder.parts();
        let listed = self.vault().await?.of_owner::<Record>(KIND, tenant, owner).await?;
        let shown = |(row, record): (store::VaultRow, Result<Record, VaultFault>)| StoredSecret {
            name: row.slot.server,
            at_ms: Some(row.at_ms),
            readable: record.is_ok(),
            damaged: None,
        };
        let damaged = |row: DamagedRow| StoredSecret {
            name: row.id,
            at_ms: None,
            readable: false,
            damaged: Some(row.column),
        };
        let whole = listed.rows.into_iter().map(shown);
        Ok(whole.chain(listed.damaged.into_iter().map(damaged)).collect())
    }

    /// The values of a holder. Those that cannot be opened are logged and count as missing.
    pub async fn values(&self, holder: &Holder) -> Result<Arc<SecretValues>, SecretStoreFault> {
        let generation = {
            let cache = self.cache();
            if let Some(values) = cache.values.get(holder) {
                return Ok(Arc::clone(values));
            }
            cache.generation
        };
        let (tenant, owner) = holder.parts();
        // A gateway without secrets needs no key.
        let stored = !self.database.vault_rows_of(KIND, tenant, owner).await?.rows.is_empty();
        let mut values = BTreeMap::new();
        if stored {
            let listed = self.vault().await?.of_owner::<Record>(KIND, tenant, owner).await?;
            for (row, record) in listed.rows {
                match record {
                    Ok(record) => drop(values.insert(row.slot.server, record.value)),
                    Err(fault) => tracing::warn!(%fault, "a secret cannot be used"),
                }
            }
        }
        let values = Arc::new(SecretValues(values));
        let mut cache = self.cache();
        if cache.generation == generation {
            if cache.values.len() >= MAX_CACHED {
                cache.values.clear();
            }
            cache.values.insert(holder.clone(), Arc::clone(&values));
        }
        Ok(values)
    }

    fn announce(&self, holder: &Holder) {
        let mut cache = self.cache();
        cache.generation += 1;
        cache.values.remove(holder);
        drop(cache);
        // No listener is needed in a command that ends soon.
        let _ = self.changes.send(holder.clone());
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn vault(&self) -> Result<&Vault, VaultFault> {
        let open = async || {
            let (database, key, clock) = (self.database.clone(), &self.key, self.clock.clone());
            Vault::open(database, key, clock)
        };
        self.vault.get_or_try_init(open).await
    }
}

fn slot(holder: &Holder, name: &str) -> VaultSlot {
    let (tenant, owner) = holder.parts();
    VaultSlot {
        kind: KIND,
        server: name.to_owned(),
        tenant: tenant.to_owned(),
        owner: owner.to_owned(),
        issuer: String::new(),
    }
}

#[cfg(test)]
mod tests;
