//! One URL of a server: its era, its health, and the legacy sessions that callers have there.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use egress::http::Body;
use http::{HeaderMap, Method};
use server_entry::{EraChoice, ServerConfig, UrlTransport};
use strip::Client;
use tokio::time::Instant;

use super::exchange::{Endpoint, Exchange, PostOutcome, encode};
use super::headers;
use super::health::Health;
use super::session::{Session, SessionSlot};
use crate::caller::Caller;
use crate::era::Era;
use crate::error::{AskResult, TransportError};
use crate::handshake::{self, ServerInfo};
use crate::personal::Outdated;
use crate::rpc::{self, Params, RpcError, RpcRequest};
use crate::share::Share;
use crate::status::ReplicaStatus;

/// How many legacy sessions are held at one replica.
const SHARE: Share = Share { all: 4_096, of_caller: 256, reserved: 512 };

/// How long closing a session in the background may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The configured transport and era of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Protocol {
    pub(super) transport: UrlTransport,
    pub(super) era: EraChoice,
}

impl Protocol {
    pub(super) fn of(config: &ServerConfig) -> Self {
        Self { transport: config.transport, era: config.era }
    }
}

pub(super) struct Replica {
    pub(super) url: String,
    pub(super) exchange: Arc<Exchange>,
    pub(super) outstanding: AtomicUsize,
    health: Mutex<Health>,
    /// The configured transport and era.
    pub(super) protocol: Protocol,
    /// Whether the server speaks the transport of 2024-11-05.
    pub(super) is_sse: AtomicBool,
    pub(super) info: ArcSwapOption<ServerInfo>,
    /// Held while the era is probed, so that concurrent callers probe once.
    pub(super) probing: tokio::sync::Mutex<()>,
    gateway: Arc<SessionSlot>,
    sessions: Mutex<HashMap<Caller, Arc<SessionSlot>>>,
    next: AtomicU64,
    last_error: Mutex<Option<String>>,
}

impl Replica {
    pub(super) fn new(url: &str, exchange: &Arc<Exchange>, protocol: Protocol) -> Self {
        Self {
            protocol,
            is_sse: AtomicBool::new(protocol.transport == UrlTransport::Sse),
            url: url.to_owned(),
            exchange: Arc::clone(exchange),
            outstanding: AtomicUsize::new(0),
            health: Mutex::default(),
            info: ArcSwapOption::empty(),
            probing: tokio::sync::Mutex::new(()),
            gateway: Arc::default(),
            sessions: Mutex::default(),
            next: AtomicU64::new(1),
            last_error: Mutex::default(),
        }
    }

    pub(super) fn info(&self) -> Option<Arc<ServerInfo>> {
        self.info.load_full()
    }

    pub(super) fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn notifies_changes(&self) -> bool {
        self.info.load().as_ref().is_some_and(|info| info.notifies_changes)
    }

    /// Whether a caller has a session here, with which it should stay.
    pub(super) fn has_session_of(&self, caller: &Caller) -> bool {
        self.table().contains_key(caller)
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Caller, Arc<SessionSlot>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks in the server's era. After an expired session or a changed era the request, which was not processed, is sent
    /// once more.
    pub(super) async fn ask(&self, caller: Option<&Caller>, request: &RpcRequest<'_>) -> AskResult {
        let (mut reopened, mut reprobed) = (false, false);
        loop {
            let era = self.era(caller, request).await.map_err(TransportError::not_sent)?;
            let outcome = match era {
                Era::Modern => self.ask_modern(caller, request).await,
                Era::Legacy => self.ask_legacy(caller, request).await,
            };
            match outcome {
                Ok(Err(error)) if era == Era::Legacy && self.needs_modern(&error) => {
                    return self.ask_modern(caller, request).await;
                }
                Err(TransportError::Expired) if !reopened => reopened = true,
                Err(TransportError::WrongEra(_)) if !reprobed => {
                    self.forget_era(era);
                    reprobed = true;
                }
                outcome => return outcome,
            }
        }
    }

    /// Whether a server of both eras says that a request needs the modern one.
    fn needs_modern(&self, error: &RpcError) -> bool {
        handshake::needs_modern(error) && self.info().is_some_and(|info| info.era == Era::Modern)
    }

    /// Whether the server answers at all; a rejection is an answer.
    pub(super) async fn ping(&self) -> Result<(), TransportError> {
        let discover = RpcRequest::plain("server/discover", Params::None);
        let outcome = match self.era(None, &discover).await {
            Ok(Era::Modern) => self.ask_modern(None, &discover).await,
            Ok(Era::Legacy) => {
                self.ask_legacy(None, &RpcRequest::plain("ping", Params::None)).await
            }
            Err(error) => Err(error),
        };
        match outcome {
            Err(error) if error.is_unhealthy() => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) async fn post_modern(
        &self,
        caller: Option<&Caller>,
        request: &RpcRequest<'_>,
    ) -> Result<PostOutcome, TransportError> {
        let id = self.next_id();
        let mut headers = self.exchange.common();
        headers::modern(&mut headers, request);
        let endpoint = self.bare_endpoint(caller, headers);
        self.exchange.post(&endpoint, id, encode(request, id, Era::Modern)?, request.client).await
    }

    async fn ask_modern(&self, caller: Option<&Caller>, request: &RpcRequest<'_>) -> AskResult {
        let rejected = match self.post_modern(caller, request).await? {
            PostOutcome::Answer { answer, .. } => return Ok(answer),
            PostOutcome::Rejection(rejected) => rejected,
        };
        match rejected.error {
            Some(error) if handshake::is_modern_answer(&error) => Ok(Err(error)),
            _ if matches!(rejected.status.as_u16(), 400 | 404..=406 | 415) => {
                Err(TransportError::WrongEra(format!("HTTP {}", rejected.status.as_u16()).into()))
            }
            Some(error) => Ok(Err(error)),
            None => Err(rejected.transport_error()),
        }
    }

    pub(super) async fn ask_legacy(
        &self,
        caller: Option<&Caller>,
        request: &RpcRequest<'_>,
    ) -> AskResult {
        let slot = self.slot(caller)?;
        let opened = slot.open(|| self.initialize(caller)).await;
        let session = opened.map_err(TransportError::not_sent)?;
        let endpoint = self.endpoint(caller, &session);
        let stated = session.capabilities.as_ref();
        if let Some(params) = session.log_level.raise(request.client, stated) {
            let id = self.next_id();
            let set_level = RpcRequest::plain("logging/setLevel", Params::Map(&params));
            let body = encode(&set_level, id, Era::Legacy)?;
            // The call is sent even if the server refuses the level.
            let _ = Box::pin(self.post_legacy(&session, &endpoint, id, body, None)).await;
        }
        let id = self.next_id();
        let body = encode(request, id, Era::Legacy)?;
        let _waiting = session.clients.enter(id, request.client);
        let mut cancel =
            CancelOnDrop { exchange: &self.exchange, endpoint: &endpoint, id, armed: true };
        let posted = self.post_legacy(&session, &endpoint, id, body, request.client).await;
        cancel.armed = false;
        if posted.is_ok() && session.may_log_on_stream(request.client) {
            // Boxed to keep the common future small.
            Box::pin(session.clients.settle()).await;
        }
        let rejected = match posted? {
            PostOutcome::Answer { answer: Err(error), .. }
                if handshake::is_other_version(&error) =>
            {
                return Err(TransportError::WrongEra(error.code.to_string().into()));
            }
            PostOutcome::Answer { answer, .. } => return Ok(answer),
            PostOutcome::Rejection(rejected) => rejected,
        };
        if session.is_gone(&rejected) {
            slot.close(&session);
            return Err(TransportError::Expired);
        }
        match rejected.error {
            Some(error) if handshake::is_other_version(&error) => {
                slot.close(&session);
                Err(TransportError::WrongEra(error.code.to_string().into()))
            }
            Some(error) => Ok(Err(error)),
            None => Err(rejected.transport_error()),
        }
    }

    /// Sends a request within a session.
    pub(super) async fn post_legacy(
        &self,
        session: &Session,
        endpoint: &Endpoint,
        id: u64,
        body: Body,
        client: Option<&Arc<dyn Client>>,
    ) -> Result<PostOutcome, TransportError> {
        match &session.channel {
            Some(channel) => channel.ask(&self.exchange, id, body, client).await,
            None => self.exchange.post(endpoint, id, body, client).await,
        }
    }

    /// The endpoint of a request within a session.
    pub(super) fn endpoint(&self, caller: Option<&Caller>, session: &Session) -> Endpoint {
        if let Some(channel) = &session.channel {
            return channel.endpoint().clone();
        }
        let mut headers = self.exchange.common();
        session.add_headers(&mut headers);
        Endpoint { resumable: true, ..self.bare_endpoint(caller, headers) }
    }

    /// The endpoint of a request outside of a session.
    pub(super) fn bare_endpoint(&self, caller: Option<&Caller>, headers: HeaderMap) -> Endpoint {
        Endpoint { url: self.url.clone(), headers, caller: caller.cloned(), resumable: false }
    }

    /// The gateway's own session, opened if need be.
    pub(super) async fn own_session(&self) -> Result<Arc<Session>, TransportError> {
        self.gateway.open(|| self.initialize(None)).await
    }

    /// Forgets the gateway's own session, which the server has ended.
    pub(super) fn close_own(&self, session: &Arc<Session>) {
        self.gateway.close(session);
    }

    pub(super) fn slot(&self, caller: Option<&Caller>) -> Result<Arc<SessionSlot>, TransportError> {
        let Some(caller) = caller else { return Ok(Arc::clone(&self.gateway)) };
        let mut table = self.table();
        if let Some(slot) = table.get(caller) {
            return Ok(Arc::clone(slot));
        }
        // A request holds the slot of its session, so an idle slot has one reference.
        let held = table.iter().map(|(caller, slot)| {
            (caller, Some(slot).filter(|slot| Arc::strong_count(slot) == 1).map(|slot| slot.used()))
        });
        if let Some(idle) = SHARE.make_room(caller, held)?.cloned()
            && let Some(slot) = table.remove(&idle)
        {
            let closing = self.close_session(Some(&idle), &slot);
            tokio::spawn(tokio::time::timeout(CLOSE_TIMEOUT, closing));
        }
        Ok(Arc::clone(table.entry(caller.clone()).or_default()))
    }

    /// Closes sessions that were not used for a while.
    pub(super) async fn close_idle(&self, idle: Duration) {
        let is_idle = |slot: &Arc<SessionSlot>| slot.is_idle(idle) && Arc::strong_count(slot) == 1;
        let old: Vec<_> = self.table().extract_if(|_, slot| is_idle(slot)).collect();
        for (caller, slot) in old {
            self.close_session(Some(&caller), &slot).await;
        }
    }

    /// Closes the sessions that use secrets that are out of date.
    pub(super) async fn close_outdated(&self, outdated: &Outdated<'_>) {
        let is_old = |caller: &Caller| caller.uses_outdated(outdated);
        let old: Vec<_> = self.table().extract_if(|caller, _| is_old(caller)).collect();
        for (caller, slot) in old {
            self.close_session(Some(&caller), &slot).await;
        }
    }

    /// Closes every session.
    pub(super) async fn close_all(&self) {
        let slots = std::mem::take(&mut *self.table());
        let callers = slots.iter().map(|(caller, slot)| (Some(caller), slot));
        let all = callers.chain([(None, &self.gateway)]);
        let closing = all.map(|(caller, slot)| self.close_session(caller, slot));
        futures_util::future::join_all(closing).await;
    }

    /// Closes a session at the server. The future does not borrow, so that it can run in the background.
    fn close_session(
        &self,
        caller: Option<&Caller>,
        slot: &SessionSlot,
    ) -> impl Future<Output = ()> + Send + use<> {
        let session = slot.take().filter(|session| session.has_id());
        let endpoint = session.map(|session| self.endpoint(caller, &session));
        let exchange = Arc::clone(&self.exchange);
        async move {
            if let Some(endpoint) = endpoint {
                // Errors are ignored: a server need not support DELETE, and expires sessions itself.
                let _ = exchange.notify(&endpoint, Method::DELETE, bytes::Bytes::new()).await;
            }
        }
    }

    pub(super) fn sessions(&self) -> usize {
        self.table().len()
    }

    pub(super) fn note_error(&self, error: Option<&TransportError>) {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) =
            error.map(ToString::to_string);
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn status(&self) -> ReplicaStatus {
        ReplicaStatus {
            // A query may hold a key.
            url: self.url.split(['?', '#']).next().unwrap_or_default().to_owned(),
            era: self.info().map(|info| info.era),
            outstanding: self.outstanding.load(Ordering::Relaxed),
            admitted: self.health().admits(Instant::now()),
            last_error: self.last_error(),
        }
    }

    pub(super) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// A legacy request in progress: dropping it cancels the request at the server.
struct CancelOnDrop<'a> {
    exchange: &'a Arc<Exchange>,
    endpoint: &'a Endpoint,
    id: u64,
    armed: bool,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (exchange, endpoint, id) =
                (Arc::clone(self.exchange), self.endpoint.clone(), self.id);
            runtime.spawn(async move {
                let notice = exchange.notify(&endpoint, Method::POST, rpc::cancelled(id));
                let _ = tokio::time::timeout(Duration::from_secs(5), notice).await;
            });
        }
    }
}
