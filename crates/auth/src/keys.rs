//! Keys that the gateway gives out itself, for people without an identity provider and for servers that announce
//! themselves. A key's text is `ps_ID_SECRET`; the gateway keeps the id and a hash of the whole.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proto::{Clock, Principal, TenantId, digest};
use secrecy::SecretString;
use store::{Database, KeyRow, StoreError};

use crate::scope::{self, InvalidScope};

/// How every key begins, so that people and scanners of leaked secrets know one.
const PREFIX: &str = "ps_";

const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;

/// A key is far shorter; what is longer is not looked at.
const MAX_TEXT: usize = 128;

const MAX_NAME: usize = 64;

/// How often the time of a key's last use is written down.
const NOTED_EVERY_MS: u64 = 60_000;

/// What a key opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// The doors, as the principal that the key names.
    Api,
    /// Nothing but announcing servers.
    Registration,
}

impl KeyKind {
    /// The word that is stored and shown.
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
    /// The tenant whose key it is; the local one by default.
    pub tenant: Option<String>,
    /// Whom the key stands for; itself by default.
    pub subject: Option<String>,
    /// The agent profile that its bearer comes as.
    pub agent: Option<String>,
    /// What its bearer may do; empty for all that its kind is for.
    pub scopes: Vec<String>,
    /// For how long it is good; for ever by default.
    pub lifetime: Option<Duration>,
}

/// Why a key cannot be made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum KeyFault {
    #[error(
        "a key's name is 1 to {MAX_NAME} letters, digits, `.`, `_` or `-`, not `{0}`; it begins with a letter or digit"
    )]
    Name(String),
    #[error("the {0} is 1 to 200 characters without spaces or control characters")]
    Word(&'static str),
    #[error(transparent)]
    Scope(#[from] InvalidScope),
    #[error("there is a key `{0}` already; revoke it first, or choose another name")]
    Taken(String),
    #[error(
        "there is no key `{0}` that could be revoked; `powerstrip keys list` shows what there is"
    )]
    Unknown(String),
    #[error("no random numbers can be had from this system")]
    Randomness,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// All keys of a gateway. Kept in memory, so that asking costs no trip to the database; the process that owns the
/// data folder is the only one that changes them.
pub struct KeyRing {
    database: Database,
    clock: Clock,
    keys: RwLock<HashMap<String, Arc<Held>>>,
}

struct Held {
    row: KeyRow,
    kind: Option<KeyKind>,
    principal: Arc<Principal>,
    used_ms: AtomicU64,
}

impl Held {
    fn new(row: KeyRow) -> Arc<Self> {
        let principal = Arc::new(Principal {
            tenant: TenantId::new(&row.tenant),
            subject: row.subject.clone(),
            agent: row.agent.clone(),
            // A row of an earlier version may hold a word that has come to mean something.
            scopes: row.scopes.iter().filter(|name| *name != scope::ADMIN).cloned().collect(),
        });
        let used_ms = AtomicU64::new(row.used_unix_ms.unwrap_or(0));
        Arc::new(Self { kind: row.kind.parse().ok(), row, principal, used_ms })
    }

    fn shown(&self) -> KeyRow {
        let used = self.used_ms.load(Ordering::Relaxed);
        KeyRow { used_unix_ms: (used > 0).then_some(used), ..self.row.clone() }
    }
}

impl KeyRing {
    /// The keys in a database.
    pub async fn open(database: Database, clock: Clock) -> Result<Self, StoreError> {
        let keys = database
            .keys()
            .await?
            .into_iter()
            .map(|row| (row.id.clone(), Held::new(row)))
            .collect();
        Ok(Self { database, clock, keys: RwLock::new(keys) })
    }

    /// Makes a key; its text is to be had here and never again.
    pub async fn add(&self, new: NewKey) -> Result<(KeyRow, SecretString), KeyFault> {
        let NewKey { name, kind, tenant, subject, agent, mut scopes, lifetime } = new;
        check_name(&name)?;
        for (what, word) in [("tenant", &tenant), ("subject", &subject), ("agent", &agent)] {
            if word.as_deref().is_some_and(|word| !is_word(word)) {
                return Err(KeyFault::Word(what));
            }
        }
        scopes.iter().try_for_each(|scope| scope::check(scope))?;
        scopes.sort();
        scopes.dedup();
        if scopes.is_empty() {
            scopes = match kind {
                KeyKind::Api => vec![scope::TOOLS_CALL.to_owned(), scope::TOOLS_READ.to_owned()],
                KeyKind::Registration => vec![scope::SERVERS_REGISTER.to_owned()],
            };
        }
        let id = hex(&random::<ID_BYTES>()?);
        let secret = URL_SAFE_NO_PAD.encode(random::<SECRET_BYTES>()?);
        let text = format!("{PREFIX}{id}_{secret}");
        let now = self.clock.unix_ms();
        let row = KeyRow {
            id: id.clone(),
            hash: digest(text.as_bytes()),
            kind: kind.as_str().to_owned(),
            tenant: tenant.unwrap_or_else(|| crate::LOCAL_TENANT.to_owned()),
            subject: subject.unwrap_or_else(|| format!("key:{name}")),
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
        self.write().insert(id, Held::new(row.clone()));
        Ok((row, SecretString::from(text)))
    }

    /// Every key that was ever made, oldest first.
    pub fn list(&self) -> Vec<KeyRow> {
        let mut rows: Vec<_> = self.read().values().map(|held| held.shown()).collect();
        rows.sort_by(|a, b| (a.created_unix_ms, &a.id).cmp(&(b.created_unix_ms, &b.id)));
        rows
    }

    /// Makes a key worthless from now on, by its name or its id.
    pub async fn revoke(&self, name_or_id: &str) -> Result<KeyRow, KeyFault> {
        let valid = |held: &&Arc<Held>| held.row.revoked_unix_ms.is_none();
        let found = {
            let keys = self.read();
            let by_name = keys.values().filter(valid).find(|held| held.row.name == name_or_id);
            by_name.or_else(|| keys.get(name_or_id).filter(valid)).cloned()
        };
        let held =
            found.ok_or_else(|| KeyFault::Unknown(name_or_id.chars().take(100).collect()))?;
        let now = self.clock.unix_ms();
        let row = KeyRow { revoked_unix_ms: Some(now), ..held.shown() };
        // In force first: what cannot be written down must not keep a leaked key alive in this process.
        self.write().insert(row.id.clone(), Held::new(row.clone()));
        self.database.revoke_key(&row.id, now).await?;
        Ok(row)
    }

    /// Whether a text looks like a key of ours; whether it is one, `check` says.
    pub fn is_key(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// The id in a text that looks like a key of ours.
    pub(crate) fn id_of(text: &str) -> Option<&str> {
        let rest = text.strip_prefix(PREFIX).filter(|_| text.len() <= MAX_TEXT)?;
        rest.split_once('_').map(|(id, _)| id)
    }

    /// Whom a key of this kind stands for, if it is one of ours and in force.
    pub fn check(&self, text: &str, kind: KeyKind) -> Option<Arc<Principal>> {
        let id = Self::id_of(text)?;
        let held = self.read().get(id).cloned()?;
        // The hash of the text given is compared, in constant time: how far it agrees tells nothing of the key.
        let given = digest(text.as_bytes());
        verify_slices_are_equal(given.as_bytes(), held.row.hash.as_bytes()).ok()?;
        let now = self.clock.unix_ms();
        let row = &held.row;
        let in_force = row.revoked_unix_ms.is_none()
            && row.expires_unix_ms.is_none_or(|expires| now < expires)
            && held.kind == Some(kind);
        if !in_force {
            return None;
        }
        self.note_use(&held, now);
        Some(Arc::clone(&held.principal))
    }

    fn note_use(&self, held: &Arc<Held>, now: u64) {
        let before = held.used_ms.load(Ordering::Relaxed);
        let due = now >= before.saturating_add(NOTED_EVERY_MS);
        let ours = due
            && held
                .used_ms
                .compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if !ours {
            return;
        }
        let (database, id) = (self.database.clone(), held.row.id.clone());
        // Nobody waits for it, and a use that is not written down only makes a list a little older.
        tokio::spawn(async move {
            if let Err(error) = database.key_used(&id, now).await {
                tracing::debug!(%error, "the last use of a key could not be written down");
            }
        });
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, HashMap<String, Arc<Held>>> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, HashMap<String, Arc<Held>>> {
        self.keys.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_name(name: &str) -> Result<(), KeyFault> {
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let good = (1..=MAX_NAME).contains(&name.len())
        && name.chars().all(letters)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if good { Ok(()) } else { Err(KeyFault::Name(name.chars().take(100).collect())) }
}

fn is_word(word: &str) -> bool {
    let plain = |c: char| !c.is_whitespace() && !c.is_control();
    (1..=200).contains(&word.len()) && word.chars().all(plain)
}

fn random<const N: usize>() -> Result<[u8; N], KeyFault> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| KeyFault::Randomness)?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
