use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use egress::http::Body;
use http::{HeaderMap, HeaderValue, Method};
use proto::sse::Position;
use serde_json::Value;
use strip::Client;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::channel::SseChannel;
use super::exchange::{Endpoint, Exchange, Rejection};
use super::headers;
use super::listener::{Listener, WaitingClients};
use crate::error::TransportError;
use crate::handshake::ServerInfo;
use crate::instances::InstanceGuard;
use crate::notifications::SessionLogLevel;

/// How long a stream may take to open, and the pause before it is opened again.
const STREAM_PAUSE: Duration = Duration::from_secs(1);

/// The shortest pause before a stream is opened again, whatever the server says.
const MIN_PAUSE: Duration = Duration::from_millis(100);

/// A legacy session as the server opened it.
pub(super) struct Session {
    id: Option<HeaderValue>,
    version: &'static str,
    /// The server's capabilities in this session.
    pub(super) capabilities: Option<Value>,
    /// The one stream of the session, in the transport of 2024-11-05.
    pub(super) channel: Option<SseChannel>,
    pub(super) log_level: SessionLogLevel,
    /// The clients whose requests are in progress.
    pub(super) clients: Arc<WaitingClients>,
    /// The caller's instance that the session is.
    pub(super) instance: Option<InstanceGuard>,
    /// Cancelled when the session is no longer used, or the server has ended it.
    gone: CancellationToken,
    /// Ends with the session.
    listening: Option<AbortOnDropHandle<()>>,
}

impl Session {
    pub(super) fn new(id: Option<HeaderValue>, info: &ServerInfo) -> Self {
        let id = id.map(|mut id| {
            // The id is a credential.
            id.set_sensitive(true);
            id
        });
        Self {
            id,
            version: info.version,
            capabilities: info.capabilities.clone(),
            channel: None,
            log_level: SessionLogLevel::default(),
            clients: Arc::default(),
            instance: None,
            gone: CancellationToken::new(),
            listening: None,
        }
    }

    /// Opens the stream for messages that belong to no request in particular, and waits until it is open.
    pub(super) async fn listen(&mut self, exchange: &Arc<Exchange>, endpoint: Endpoint) {
        let (opened, open) = oneshot::channel();
        let (exchange, clients) = (Arc::clone(exchange), Arc::clone(&self.clients));
        let gone = self.gone.clone();
        let listening = tokio::spawn(async move {
            let mut opened = Some(opened);
            let mut position = Position::default();
            loop {
                let on_open = || {
                    let _ = opened.take().map(|opened| opened.send(()));
                };
                let listener = Listener::Session(&clients);
                let mut resumed = endpoint.clone();
                resumed.resume_after(&position);
                let (get, body) = (Method::GET, Body::none());
                let ended =
                    exchange.follow(&resumed, get, body, listener, &mut position, on_open).await;
                // The stream is optional.
                if let Err(TransportError::Status { status, .. }) = ended {
                    if status == 404 {
                        gone.cancel();
                    }
                    return;
                }
                tokio::time::sleep(position.retry.unwrap_or(STREAM_PAUSE).max(MIN_PAUSE)).await;
            }
        });
        self.listening = Some(AbortOnDropHandle::new(listening));
        let _ = tokio::time::timeout(STREAM_PAUSE, open).await;
    }

    /// Whether requests can be sent in it, as far as the gateway knows.
    pub(super) fn is_open(&self) -> bool {
        self.channel.as_ref().is_none_or(SseChannel::is_open)
    }

    /// Whether log messages for a client may arrive on the stream of the session.
    pub(super) fn may_log_on_stream(&self, client: Option<&Arc<dyn Client>>) -> bool {
        let states_logging = || self.capabilities.as_ref()?.get("logging");
        self.listening.is_some()
            && client.is_some_and(|client| client.log_level().is_some())
            && states_logging().is_some()
    }

    /// Waits until the session is no longer used, or the server has ended it.
    pub(super) async fn wait_until_gone(&self) {
        match &self.channel {
            Some(channel) => channel.wait_until_ended().await,
            None => self.gone.cancelled().await,
        }
    }

    pub(super) fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// Adds the headers of this session to a request.
    pub(super) fn add_headers(&self, headers: &mut HeaderMap) {
        headers.insert(headers::VERSION, HeaderValue::from_static(self.version));
        if let Some(id) = &self.id {
            headers.insert(headers::SESSION, id.clone());
        }
    }

    /// Whether a rejection means that the session has ended. The protocol says 404; some servers use 400 with a text.
    pub(super) fn is_gone(&self, rejected: &Rejection) -> bool {
        let status = rejected.status.as_u16();
        match &rejected.error {
            // A modern server has no sessions.
            Some(error) if matches!(error.code, -32022..=-32020) => false,
            _ if self.channel.is_some() => matches!(status, 400 | 404 | 410),
            _ => self.has_id() && (status == 404 || status == 400 && rejected.about_session),
        }
    }
}

/// One caller's session, opened on demand.
pub(super) struct SessionSlot {
    current: ArcSwapOption<Session>,
    /// Held while the session is opened, so that concurrent calls open one.
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
    /// The session, opened by `initialize` if there is none.
    pub(super) async fn open<F>(
        &self,
        initialize: impl FnOnce() -> F,
    ) -> Result<Arc<Session>, TransportError>
    where
        F: Future<Output = Result<Session, TransportError>>,
    {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        if let Some(session) = self.current.load_full() {
            if session.is_open() {
                return Ok(session);
            }
            self.close(&session);
        }
        // Boxed to keep the common future small.
        Box::pin(self.open_new(initialize)).await
    }

    async fn open_new<F>(
        &self,
        initialize: impl FnOnce() -> F,
    ) -> Result<Arc<Session>, TransportError>
    where
        F: Future<Output = Result<Session, TransportError>>,
    {
        let _one = self.opening.lock().await;
        if let Some(session) = self.current.load_full() {
            return Ok(session);
        }
        let session = Arc::new(initialize().await?);
        self.current.store(Some(Arc::clone(&session)));
        Ok(session)
    }

    /// Forgets a session, unless it has been replaced already.
    pub(super) fn close(&self, session: &Arc<Session>) {
        session.gone.cancel();
        self.current.compare_and_swap(session, None);
    }

    pub(super) fn take(&self) -> Option<Arc<Session>> {
        let session = self.current.swap(None);
        session.iter().for_each(|session| session.gone.cancel());
        session
    }

    pub(super) fn is_idle(&self, allowed: Duration) -> bool {
        self.used().elapsed() >= allowed
    }

    /// When the latest request began.
    pub(super) fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
