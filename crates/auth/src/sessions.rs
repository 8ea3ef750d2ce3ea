//! People in browsers: who signed in, for how long, and what proves that a form is theirs. Kept in memory: whoever
//! restarts the gateway signs in again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::rand;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use proto::{Clock, Digest, Principal, digest};

use crate::Secret;
use crate::client::Stay;

/// After so long without a request a session ends.
const IDLE: Duration = Duration::from_secs(2 * 60 * 60);

/// No session lasts longer, however busy it is.
const WHOLE: Duration = Duration::from_secs(24 * 60 * 60);

/// Beyond this many, the one that was idle for longest ends.
const MAX_SESSIONS: usize = 1_000;

/// What a session rests on.
#[derive(Clone, Debug)]
pub enum Credential {
    /// A token or key that somebody showed; it is as it is.
    Shown(Secret),
    /// The tokens of somebody who signed in at the identity provider; they are renewed.
    Stay(Arc<Stay>),
}

impl Credential {
    /// The token to look at now; none when the identity provider gives no further one.
    pub async fn token(&self) -> Option<Secret> {
        match self {
            Self::Shown(secret) => Some(secret.clone()),
            Self::Stay(stay) => stay.token().await,
        }
    }
}

/// One person in one browser.
#[derive(Debug)]
pub struct Session {
    pub principal: Arc<Principal>,
    /// What they signed in with, where that may end before the session does.
    credential: Option<Credential>,
    csrf: String,
    place: Digest,
}

impl Session {
    /// What every form of this session carries, and no page of another site can know.
    pub fn csrf(&self) -> &str {
        &self.csrf
    }

    /// What the session was begun with, to be looked at anew with every request.
    pub fn credential(&self) -> Option<&Credential> {
        self.credential.as_ref()
    }

    /// Whether a form is of this session.
    pub fn owns_form(&self, token: &str) -> bool {
        verify_slices_are_equal(token.as_bytes(), self.csrf.as_bytes()).is_ok()
    }
}

/// All sessions.
pub struct Sessions {
    clock: Clock,
    held: Mutex<HashMap<Digest, Held>>,
}

struct Held {
    session: Arc<Session>,
    began_ms: u64,
    used_ms: u64,
}

/// Random numbers could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no random numbers can be had from this system")]
pub struct NoRandomness;

impl Sessions {
    /// No sessions yet.
    pub fn new(clock: Clock) -> Self {
        Self { clock, held: Mutex::default() }
    }

    /// Begins a session; the text is for the person's cookie and is kept nowhere here.
    pub fn begin(
        &self,
        principal: Arc<Principal>,
        credential: Option<Credential>,
    ) -> Result<String, NoRandomness> {
        let (id, csrf) = (random()?, random()?);
        let place = digest(id.as_bytes());
        let now = self.clock.unix_ms();
        let mut held = self.held();
        held.retain(|_, held| held.stands(now));
        if held.len() >= MAX_SESSIONS
            && let Some(oldest) = held.iter().min_by_key(|(_, held)| held.used_ms).map(|(k, _)| *k)
        {
            held.remove(&oldest);
        }
        let session = Arc::new(Session { principal, credential, csrf, place });
        held.insert(place, Held { session, began_ms: now, used_ms: now });
        Ok(id)
    }

    /// The session of a cookie, which is in use again.
    pub fn find(&self, id: &str) -> Option<Arc<Session>> {
        self.look(digest(id.as_bytes()), true)
    }

    /// Whether a session still stands; to ask does not keep it alive.
    pub fn stands(&self, session: &Session) -> bool {
        self.look(session.place, false).is_some()
    }

    fn look(&self, place: Digest, use_it: bool) -> Option<Arc<Session>> {
        let now = self.clock.unix_ms();
        let mut held = self.held();
        let found = held.get_mut(&place)?;
        if !found.stands(now) {
            held.remove(&place);
            return None;
        }
        if use_it {
            found.used_ms = now;
        }
        Some(Arc::clone(&found.session))
    }

    /// Ends a session.
    pub fn end(&self, session: &Session) {
        self.held().remove(&session.place);
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Digest, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn stands(&self, now: u64) -> bool {
        now.saturating_sub(self.used_ms) < millis(IDLE)
            && now.saturating_sub(self.began_ms) < millis(WHOLE)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// 256 random bits as text.
fn random() -> Result<String, NoRandomness> {
    let mut bytes = [0; 32];
    rand::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests;
