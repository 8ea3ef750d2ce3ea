//! Sessions of people in browsers: principal, lifetime and CSRF token. Held in memory only, so a restart of the gateway
//! ends them all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use proto::{Clock, Digest, Principal, Secret, digest};

use crate::client::SessionTokens;
use crate::random::random_text;

/// A session ends after this time without a request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2 * 60 * 60);

/// A session ends after this time in any case.
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Beyond this many, the session with the oldest last request ends.
const MAX_SESSIONS: usize = 1_000;

/// The credential of a session.
#[derive(Clone, Debug)]
pub enum Credential {
    /// A token or key that a person entered; it is not renewed.
    Entered(Secret),
    /// The tokens of a person who signed in at the identity provider; they are renewed.
    SignedIn(Arc<SessionTokens>),
}

impl Credential {
    /// The current token; `None` if the identity provider refuses to renew it.
    pub async fn token(&self) -> Option<Secret> {
        match self {
            Self::Entered(secret) => Some(secret.clone()),
            Self::SignedIn(tokens) => tokens.token().await,
        }
    }
}

/// One person in one browser.
#[derive(Debug)]
pub struct Session {
    pub principal: Arc<Principal>,
    /// The credential, if it may expire before the session.
    credential: Option<Credential>,
    csrf: String,
    id_digest: Digest,
}

impl Session {
    /// The CSRF token that every form of this session carries.
    pub fn csrf(&self) -> &str {
        &self.csrf
    }

    /// The credential that the session was begun with; it is checked with every request.
    pub fn credential(&self) -> Option<&Credential> {
        self.credential.as_ref()
    }

    /// Whether a form carries this session's CSRF token.
    pub fn owns_form(&self, token: &str) -> bool {
        verify_slices_are_equal(token.as_bytes(), self.csrf.as_bytes()).is_ok()
    }
}

/// All sessions.
pub struct Sessions {
    clock: Clock,
    entries: Mutex<HashMap<Digest, Entry>>,
}

struct Entry {
    session: Arc<Session>,
    began_ms: u64,
    used_ms: u64,
}

/// The system provides no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this system provides no random numbers")]
pub struct NoRandomness;

impl Sessions {
    /// No sessions yet.
    pub fn new(clock: Clock) -> Self {
        Self { clock, entries: Mutex::default() }
    }

    /// Begins a session; returns the value of its cookie, which is not stored here.
    pub fn begin(
        &self,
        principal: Arc<Principal>,
        credential: Option<Credential>,
    ) -> Result<String, NoRandomness> {
        let random = || random_text().ok_or(NoRandomness);
        let (id, csrf) = (random()?, random()?);
        let id_digest = digest(id.as_bytes());
        let now = self.clock.unix_ms();
        let mut entries = self.entries();
        entries.retain(|_, entry| entry.is_valid(now));
        if entries.len() >= MAX_SESSIONS
            && let Some(oldest) =
                entries.iter().min_by_key(|(_, entry)| entry.used_ms).map(|(k, _)| *k)
        {
            entries.remove(&oldest);
        }
        let session = Arc::new(Session { principal, credential, csrf, id_digest });
        entries.insert(id_digest, Entry { session, began_ms: now, used_ms: now });
        Ok(id)
    }

    /// The session of a cookie; its idle time starts again.
    pub fn find(&self, id: &str) -> Option<Arc<Session>> {
        self.lookup(digest(id.as_bytes()), true)
    }

    /// Whether a session is still valid; does not extend it.
    pub fn is_valid(&self, session: &Session) -> bool {
        self.lookup(session.id_digest, false).is_some()
    }

    fn lookup(&self, id_digest: Digest, extend: bool) -> Option<Arc<Session>> {
        let now = self.clock.unix_ms();
        let mut entries = self.entries();
        let found = entries.get_mut(&id_digest)?;
        if !found.is_valid(now) {
            entries.remove(&id_digest);
            return None;
        }
        if extend {
            found.used_ms = now;
        }
        Some(Arc::clone(&found.session))
    }

    /// Ends a session.
    pub fn end(&self, session: &Session) {
        self.entries().remove(&session.id_digest);
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Digest, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn is_valid(&self, now: u64) -> bool {
        now.saturating_sub(self.used_ms) < millis(IDLE_TIMEOUT)
            && now.saturating_sub(self.began_ms) < millis(MAX_LIFETIME)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
