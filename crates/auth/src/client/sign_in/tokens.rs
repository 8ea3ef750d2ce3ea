//! The tokens of one person who signed in. They are held in the session only.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use proto::Secret;
use tokio::sync::Mutex;

use super::{RETRY_AFTER_MS, SignIn};
use crate::client::token::StoredToken;

/// A person's access token, with the refresh token to renew it.
pub struct SessionTokens {
    sign_in: Arc<SignIn>,
    token: ArcSwap<StoredToken>,
    /// Held during a renewal, so that there is one at a time.
    work: Mutex<LastRenewal>,
}

#[derive(Default)]
struct LastRenewal {
    /// When the identity provider could last not be reached.
    failed_ms: Option<u64>,
    /// Whether it has refused to renew the token.
    over: bool,
}

impl SessionTokens {
    pub(super) fn new(sign_in: Arc<SignIn>, token: StoredToken) -> Self {
        Self { sign_in, token: ArcSwap::from_pointee(token), work: Mutex::default() }
    }

    /// The access token, renewed if it is due; `None` if the identity provider refuses to renew it.
    pub async fn token(self: &Arc<Self>) -> Option<Secret> {
        let token = self.token.load_full();
        if !self.is_due(&token) {
            return Some(token.access.clone());
        }
        // Spawned, so that a used-up refresh token is not lost when the browser disconnects.
        let this = Arc::clone(self);
        tokio::spawn(async move { this.renew().await }).await.ok()?
    }

    async fn renew(&self) -> Option<Secret> {
        let mut work = self.work.lock().await;
        if work.over {
            return None;
        }
        let token = self.token.load_full();
        let now = self.sign_in.clock.unix_ms();
        let paused = work.failed_ms.is_some_and(|at| now < at.saturating_add(RETRY_AFTER_MS));
        if !self.is_due(&token) || paused {
            return Some(token.access.clone());
        }
        match self.sign_in.refresh(&token).await {
            Ok(next) => {
                let access = next.access.clone();
                work.failed_ms = None;
                self.token.store(Arc::new(next));
                Some(access)
            }
            // Not refused: the current token may still be valid, and is checked like any other.
            Err(fault) if fault.is_transient() => {
                tracing::warn!(%fault, "the token of a session could not be renewed");
                work.failed_ms = Some(now);
                Some(token.access.clone())
            }
            Err(fault) => {
                tracing::info!(%fault, "a session ends: its token is not renewed any more");
                work.over = true;
                None
            }
        }
    }

    fn is_due(&self, token: &StoredToken) -> bool {
        let now = self.sign_in.clock.unix_ms();
        token.refresh.is_some() && token.renew_at_ms.is_some_and(|at| now >= at)
    }
}

impl fmt::Debug for SessionTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionTokens").finish_non_exhaustive()
    }
}
