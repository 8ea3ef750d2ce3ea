//! The tokens of one person who signed in. They live with the session and nowhere else.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::Mutex;

use super::{HOLD_MS, SignIn};
use crate::Secret;
use crate::client::token::Kept;

/// Somebody's stay: an access token, and what the next one is had with.
pub struct Stay {
    sign_in: Arc<SignIn>,
    kept: ArcSwap<Kept>,
    /// Held while a token is renewed, so that it is renewed once.
    work: Mutex<Work>,
}

#[derive(Default)]
struct Work {
    /// When the identity provider last could not be asked.
    failed_ms: Option<u64>,
    /// Whether it has said that there will be no further token.
    over: bool,
}

impl Stay {
    pub(super) fn new(sign_in: Arc<SignIn>, kept: Kept) -> Self {
        Self { sign_in, kept: ArcSwap::from_pointee(kept), work: Mutex::default() }
    }

    /// The access token, renewed if its time has come; none if the identity provider refuses to renew it.
    pub async fn token(self: &Arc<Self>) -> Option<Secret> {
        let kept = self.kept.load_full();
        if !self.is_due(&kept) {
            return Some(kept.access.clone());
        }
        // Goes on when the browser leaves: a refresh token that was used up must not be lost.
        let this = Arc::clone(self);
        tokio::spawn(async move { this.renewed().await }).await.ok()?
    }

    async fn renewed(&self) -> Option<Secret> {
        let mut work = self.work.lock().await;
        if work.over {
            return None;
        }
        let kept = self.kept.load_full();
        let now = self.sign_in.clock.unix_ms();
        let held = work.failed_ms.is_some_and(|at| now < at.saturating_add(HOLD_MS));
        if !self.is_due(&kept) || held {
            return Some(kept.access.clone());
        }
        match self.sign_in.refresh(&kept).await {
            Ok(next) => {
                let token = next.access.clone();
                work.failed_ms = None;
                self.kept.store(Arc::new(next));
                Some(token)
            }
            // Nobody said no. The token at hand is looked at like any other, and may have time left.
            Err(fault) if fault.is_passing() => {
                tracing::warn!(%fault, "the token of a session could not be renewed");
                work.failed_ms = Some(now);
                Some(kept.access.clone())
            }
            Err(fault) => {
                tracing::info!(%fault, "a session ends: its token is not renewed any more");
                work.over = true;
                None
            }
        }
    }

    fn is_due(&self, kept: &Kept) -> bool {
        let now = self.sign_in.clock.unix_ms();
        kept.refresh.is_some() && kept.renew_at_ms.is_some_and(|at| now >= at)
    }
}

impl fmt::Debug for Stay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stay").finish_non_exhaustive()
    }
}
