//! Keys that the gateway issues, for users without an identity provider and for servers that register themselves. A
//! key's text is `ps_ID_SECRET`; the gateway stores the id and a hash of the whole.

pub mod operations;
mod service;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use proto::{Clock, Principal, Secret, TenantId, Via, digest};
use store::{DamagedRow, Database, KeyRow, Listed, StoreError};

use crate::claims::KEY;
use crate::random::random_text;
use crate::scope::{self, InvalidScope, UnknownScope};

pub use service::KeyService;

/// The prefix of every key, by which people and secret scanners recognize one.
const PREFIX: &str = "ps_";

const ID_BYTES: usize = 6;

/// Longer texts are refused unread; a key is far shorter.
const MAX_TEXT: usize = 128;

const MAX_NAME: usize = 64;

/// How often the time of a key's last use is saved.
const SAVE_USE_EVERY_MS: u64 = 60_000;

/// The purpose of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Access to the doors, as the principal that the key names.
    Api,
    /// Registration of servers only.
    Registration,
}

impl KeyKind {
    /// Its name in the database and in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Registration => "registration",
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for KeyKind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Api, Self::Registration].into_iter().find(|kind| kind.as_str() == text).ok_or(())
    }
}

/// A key to be made.
#[derive(Clone, Debug)]
pub struct NewKey {
    pub name: String,
    pub kind: KeyKind,
    /// The key's tenant; the local one by default.
    pub tenant: Option<String>,
    /// The subject of its principal; by default the key itself.
    pub subject: Option<String>,
    /// The agent profile of its bearer.
    pub agent: Option<String>,
    /// The scopes of its bearer; empty for the defaults of its kind.
    pub scopes: Vec<String>,
    /// Its lifetime; unlimited by default.
    pub lifetime: Option<Duration>,
}

/// Why a key cannot be made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum KeyFault {
    #[error(
        "a key's name has 1 to {MAX_NAME} characters from A-Z, a-z, 0-9, `.`, `_` and `-`, and begins with a letter or digit; `{0}` does not"
    )]
    Name(String),
    #[error("the {0} is 1 to 200 characters without spaces or control characters")]
    Word(&'static str),
    #[error(transparent)]
    Scope(#[from] InvalidScope),
    #[error(transparent)]
    UnknownScope(#[from] UnknownScope),
    #[error("there is a key `{0}` already; revoke it first, or choose another name")]
    Taken(String),
    #[error(
        "there is no key `{0}` that could be revoked; `powerstrip keys list` shows what there is"
    )]
    Unknown(String),
    #[error("this system provides no random numbers")]
    Randomness,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// All keys of a gateway. Held in memory, so that a check needs no database access; only the process that owns the data
/// folder changes them.
pub struct ApiKeys {
    database: Database,
    clock: Clock,
    keys: RwLock<HashMap<String, Arc<ApiKey>>>,
    /// Keys that cannot be read: they authenticate no one, and are listed so that a person can revoke them.
    damaged: RwLock<Vec<DamagedRow>>,
}

/// A key that was revoked.
#[derive(Debug)]
pub enum RevokedKey {
    Key(KeyRow),
    /// One whose stored row cannot be read.
    Damaged(DamagedRow),
}

struct ApiKey {
    row: KeyRow,
    kind: Option<KeyKind>,
    principal: Arc<Principal>,
    used_ms: AtomicU64,
}

impl ApiKey {
    fn new(row: KeyRow) -> Arc<Self> {
        let principal = Arc::new(Principal {
            tenant: TenantId::new(&row.tenant),
            subject: row.subject.clone(),
            agent: row.agent.clone(),
            // A row of an earlier version may hold a scope that was not reserved then.
            scopes: row.scopes.iter().filter(|name| *name != scope::ADMIN).cloned().collect(),
            via: Via::Key { id: row.id.clone() },
        });
        let used_ms = AtomicU64::new(row.used_unix_ms.unwrap_or(0));
        Arc::new(Self { kind: row.kind.parse().ok(), row, principal, used_ms })
    }

    fn current_row(&self) -> KeyRow {
        let used = self.used_ms.load(Ordering::Relaxed);
        KeyRow { used_unix_ms: (used > 0).then_some(used), ..self.row.clone() }
    }
}

impl ApiKeys {
    /// The keys in a database.
    pub async fn open(database: Database, clock: Clock) -> Result<Self, StoreError> {
        let Listed { rows, damaged, .. } = database.keys().await?;
        let keys = rows.into_iter().map(|row| (row.id.clone(), ApiKey::new(row))).collect();
        Ok(Self { database, clock, keys: RwLock::new(keys), damaged: RwLock::new(damaged) })
    }

    /// Makes a key; its text is returned only here.
    pub async fn add(&self, new: NewKey) -> Result<(KeyRow, Secret), KeyFault> {
        let NewKey { name, kind, tenant, subject, agent, mut scopes, lifetime } = new;
        check_name(&name)?;
        for (what, word) in [("tenant", &tenant), ("subject", &subject), ("agent", &agent)] {
            if word.as_deref().is_some_and(|word| !is_word(word)) {
                return Err(KeyFault::Word(what));
            }
        }
        scopes.iter().try_for_each(|scope| scope::check(scope))?;
        scopes.iter().try_for_each(|scope| scope::check_known(scope))?;
        scopes.sort();
        scopes.dedup();
        if scopes.is_empty() {
            scopes = match kind {
                KeyKind::Api => vec![scope::TOOLS_CALL.to_owned(), scope::TOOLS_READ.to_owned()],
                KeyKind::Registration => vec![scope::SERVERS_REGISTER.to_owned()],
            };
        }
        let mut id_bytes = [0; ID_BYTES];
        aws_lc_rs::rand::fill(&mut id_bytes).map_err(|_| KeyFault::Randomness)?;
        let id: String = id_bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let secret = random_text().ok_or(KeyFault::Randomness)?;
        let text = format!("{PREFIX}{id}_{secret}");
        let now = self.clock.unix_ms();
        let row = KeyRow {
            id: id.clone(),
            hash: digest(text.as_bytes()),
            kind: kind.as_str().to_owned(),
            tenant: tenant.unwrap_or_else(|| crate::LOCAL_TENANT.to_owned()),
            subject: subject.unwrap_or_else(|| format!("{KEY}{name}")),
            name,
            agent,
            scopes,
            created_unix_ms: now,
            expires_unix_ms: lifetime.map(|time| {
                now.saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
            }),
            revoked_unix_ms: None,
            used_unix_ms: None,
        };
        if !self.database.add_key(&row).await? {
            return Err(KeyFault::Taken(row.name));
        }
        self.write().insert(id, ApiKey::new(row.clone()));
        Ok((row, Secret::new(text)))
    }

    /// Every key that was ever made, oldest first.
    pub fn list(&self) -> Listed<KeyRow> {
        let mut rows: Vec<_> = self.read().values().map(|key| key.current_row()).collect();
        rows.sort_by(|a, b| (a.created_unix_ms, &a.id).cmp(&(b.created_unix_ms, &b.id)));
        let damaged = self.damaged.read().unwrap_or_else(PoisonError::into_inner).clone();
        Listed { rows, damaged, next: None }
    }

    /// Revokes a key by its name or its id; a damaged one by its id.
    pub async fn revoke(&self, name_or_id: &str) -> Result<RevokedKey, KeyFault> {
        let valid = |key: &&Arc<ApiKey>| key.row.revoked_unix_ms.is_none();
        let found = {
            let keys = self.read();
            let by_name = keys.values().filter(valid).find(|key| key.row.name == name_or_id);
            by_name.or_else(|| keys.get(name_or_id).filter(valid)).cloned()
        };
        let Some(key) = found else { return self.revoke_damaged(name_or_id).await };
        let now = self.clock.unix_ms();
        let row = KeyRow { revoked_unix_ms: Some(now), ..key.current_row() };
        // Revoked in memory first: a failing database must not keep a leaked key valid in this process.
        self.write().insert(row.id.clone(), ApiKey::new(row.clone()));
        self.database.revoke_key(&row.id, now).await?;
        Ok(RevokedKey::Key(row))
    }

    async fn revoke_damaged(&self, id: &str) -> Result<RevokedKey, KeyFault> {
        let unknown = || KeyFault::Unknown(id.chars().take(100).collect());
        let found = {
            let damaged = self.damaged.read().unwrap_or_else(PoisonError::into_inner);
            damaged.iter().find(|row| row.id == id).cloned()
        };
        let found = found.ok_or_else(unknown)?;
        if !self.database.revoke_damaged_key(id, self.clock.unix_ms()).await? {
            return Err(unknown());
        }
        let mut damaged = self.damaged.write().unwrap_or_else(PoisonError::into_inner);
        damaged.retain(|row| row.id != id);
        Ok(RevokedKey::Damaged(found))
    }

    /// Whether a text has the form of a key; `check` verifies it.
    pub fn is_key(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// The id in a text that has the form of a key.
    pub(crate) fn id_of(text: &str) -> Option<&str> {
        let rest = text.strip_prefix(PREFIX).filter(|_| text.len() <= MAX_TEXT)?;
        rest.split_once('_').map(|(id, _)| id)
    }

    /// The principal of a valid key of this kind.
    pub fn check(&self, text: &str, kind: KeyKind) -> Option<Arc<Principal>> {
        let id = Self::id_of(text)?;
        let key = self.read().get(id).cloned()?;
        // Hashes are compared in constant time, so that timing reveals nothing about the key.
        let given = digest(text.as_bytes());
        verify_slices_are_equal(given.as_bytes(), key.row.hash.as_bytes()).ok()?;
        let now = self.clock.unix_ms();
        let row = &key.row;
        let in_force = row.revoked_unix_ms.is_none()
            && row.expires_unix_ms.is_none_or(|expires| now < expires)
            && key.kind == Some(kind);
        if !in_force {
            return None;
        }
        self.note_use(&key, now);
        Some(Arc::clone(&key.principal))
    }

    /// Whether a key was revoked, or never was one that gives access.
    pub(crate) fn is_revoked(&self, id: &str) -> bool {
        let keys = self.read();
        let key = keys.get(id).filter(|key| key.kind == Some(KeyKind::Api));
        key.is_none_or(|key| key.row.revoked_unix_ms.is_some())
    }

    fn note_use(&self, key: &Arc<ApiKey>, now: u64) {
        let before = key.used_ms.load(Ordering::Relaxed);
        let due = now >= before.saturating_add(SAVE_USE_EVERY_MS);
        let ours = due
            && key
                .used_ms
                .compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if !ours {
            return;
        }
        let (database, id) = (self.database.clone(), key.row.id.clone());
        // In the background: a lost write only makes the listing slightly out of date.
        tokio::spawn(async move {
            if let Err(error) = database.note_key_use(&id, now).await {
                tracing::debug!(%error, "the last use of a key could not be saved");
            }
        });
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, HashMap<String, Arc<ApiKey>>> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, HashMap<String, Arc<ApiKey>>> {
        self.keys.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_name(name: &str) -> Result<(), KeyFault> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let good = (1..=MAX_NAME).contains(&name.len())
        && name.chars().all(allowed)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if good { Ok(()) } else { Err(KeyFault::Name(name.chars().take(100).collect())) }
}

fn is_word(word: &str) -> bool {
    let plain = |c: char| !c.is_whitespace() && !c.is_control();
    (1..=200).contains(&word.len()) && word.chars().all(plain)
}

#[cfg(test)]
mod tests;
