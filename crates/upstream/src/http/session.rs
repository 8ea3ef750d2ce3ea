use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use http::{HeaderMap, HeaderValue};
use tokio::time::Instant;

use super::exchange::Rejected;
use super::headers;
use crate::broken::Broken;

/// A legacy session as the server opened it.
pub(super) struct Session {
    id: Option<HeaderValue>,
    version: &'static str,
}

impl Session {
    pub(super) fn new(id: Option<HeaderValue>, version: &'static str) -> Self {
        let id = id.map(|mut id| {
            // Whoever has the id has the session.
            id.set_sensitive(true);
            id
        });
        Self { id, version }
    }

    pub(super) fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// Makes a request one of this session.
    pub(super) fn mark(&self, headers: &mut HeaderMap) {
        headers.insert(headers::VERSION, HeaderValue::from_static(self.version));
        if let Some(id) = &self.id {
            headers.insert(headers::SESSION, id.clone());
        }
    }

    /// Whether a refusal means that the session has ended. The protocol says 404; some servers say 400 and why.
    pub(super) fn is_gone(&self, rejected: &Rejected) -> bool {
        let status = rejected.status.as_u16();
        match &rejected.error {
            // A server of the other era has no sessions to lose.
            Some(error) if matches!(error.code, -32022..=-32020) => false,
            _ => self.has_id() && (status == 404 || status == 400 && rejected.about_session),
        }
    }
}

/// Where one caller's session is kept.
pub(super) struct SessionSlot {
    current: ArcSwapOption<Session>,
    /// Held while it is opened, so that many calls open one.
    opening: tokio::sync::Mutex<()>,
    used: Mutex<Instant>,
}

impl Default for SessionSlot {
    fn default() -> Self {
        Self {
            current: ArcSwapOption::empty(),
            opening: tokio::sync::Mutex::new(()),
            used: Mutex::new(Instant::now()),
        }
    }
}

impl SessionSlot {
    /// The session, opened by `greet` if there is none.
    pub(super) async fn open<F>(&self, greet: impl FnOnce() -> F) -> Result<Arc<Session>, Broken>
    where
        F: Future<Output = Result<Session, Broken>>,
    {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        if let Some(session) = self.current.load_full() {
            return Ok(session);
        }
        let _one = self.opening.lock().await;
        if let Some(session) = self.current.load_full() {
            return Ok(session);
        }
        let session = Arc::new(greet().await?);
        self.current.store(Some(Arc::clone(&session)));
        Ok(session)
    }

    /// Forgets a session, unless another has taken its place already.
    pub(super) fn close(&self, session: &Arc<Session>) {
        self.current.compare_and_swap(session, None);
    }

    pub(super) fn take(&self) -> Option<Arc<Session>> {
        self.current.swap(None)
    }

    pub(super) fn is_idle(&self, allowed: Duration) -> bool {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= allowed
    }
}
