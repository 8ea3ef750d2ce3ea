use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use egress::http::Body;
use http::{HeaderMap, HeaderValue, Method};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::ears::{Callers, Ears};
use super::exchange::{Exchange, Rejected, Way};
use super::headers;
use crate::broken::Broken;
use crate::hearing::Verbosity;

/// How long a stream may take to open, and is left alone after it has ended.
const PAUSE: Duration = Duration::from_secs(1);

/// A legacy session as the server opened it.
pub(super) struct Session {
    id: Option<HeaderValue>,
    version: &'static str,
    pub(super) verbosity: Verbosity,
    /// Who waits for something here.
    pub(super) callers: Arc<Callers>,
    /// Ends with the session.
    _listening: Option<AbortOnDropHandle<()>>,
}

impl Session {
    pub(super) fn new(id: Option<HeaderValue>, version: &'static str) -> Self {
        let id = id.map(|mut id| {
            // Whoever has the id has the session.
            id.set_sensitive(true);
            id
        });
        Self {
            id,
            version,
            verbosity: Verbosity::default(),
            callers: Arc::default(),
            _listening: None,
        }
    }

    /// Opens the stream on which a server asks what belongs to no request in particular, and waits until it is open.
    pub(super) async fn listen(&mut self, exchange: &Arc<Exchange>, way: Way) {
        let (opened, open) = oneshot::channel();
        let (exchange, callers) = (Arc::clone(exchange), Arc::clone(&self.callers));
        let listening = tokio::spawn(async move {
            let mut opened = Some(opened);
            loop {
                let flows = || {
                    let _ = opened.take().map(|opened| opened.send(()));
                };
                let ears = Ears::Session(&callers);
                let ended = exchange.follow(&way, Method::GET, Body::none(), ears, flows).await;
                // A server need not have such a stream.
                if matches!(ended, Err(Broken::Status { .. })) {
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
        self._listening = Some(AbortOnDropHandle::new(listening));
        let _ = tokio::time::timeout(PAUSE, open).await;
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
        // Boxed, as is all that few calls need: every call would carry the room for it.
        Box::pin(self.open_anew(greet)).await
    }

    async fn open_anew<F>(&self, greet: impl FnOnce() -> F) -> Result<Arc<Session>, Broken>
    where
        F: Future<Output = Result<Session, Broken>>,
    {
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
        self.used().elapsed() >= allowed
    }

    /// When a request began to use it last.
    pub(super) fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
