//! How the gateway begins to speak with a URL: which era and which transport, and the legacy handshake.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::Method;
use serde_json::json;
use server_entry::{EraChoice, UrlTransport};

use super::channel::SseChannel;
use super::exchange::{PostOutcome, Rejection, encode};
use super::headers;
use super::replica::Replica;
use super::session::Session;
use crate::caller::Caller;
use crate::era::Era;
use crate::error::TransportError;
use crate::handshake::{self, ProbeResult, ServerInfo};
use crate::rpc::{self, Answer, Params, RpcRequest};

impl Replica {
    /// The era for a request. A server that speaks both is asked in the legacy one for a client that is asked questions
    /// the legacy way, unless the request answers questions of the modern one.
    pub(super) async fn era(
        &self,
        caller: Option<&Caller>,
        request: &RpcRequest<'_>,
    ) -> Result<Era, TransportError> {
        let choose = |info: &ServerInfo| {
            // Whether a modern server speaks the legacy era, too, shows only when it is tried.
            let both = self.may_speak_legacy(info);
            let client = request.client.filter(|_| request.answers.is_none());
            let direct = client.is_some_and(|client| {
                rpc::is_asked_directly(client.ask_mode(), client.capabilities())
            });
            if both && direct { Era::Legacy } else { info.era }
        };
        if let Some(info) = &*self.info.load() {
            return Ok(choose(info));
        }
        // Boxed to keep the common future small.
        let info = Box::pin(self.find_era(caller)).await?;
        Ok(choose(&info))
    }

    /// Whether a modern server may be asked in the legacy era.
    pub(super) fn may_speak_legacy(&self, info: &ServerInfo) -> bool {
        info.may_speak_legacy && self.protocol.era == EraChoice::Auto
    }

    async fn find_era(&self, caller: Option<&Caller>) -> Result<Arc<ServerInfo>, TransportError> {
        let _one = self.probing.lock().await;
        if let Some(info) = self.info() {
            return Ok(info);
        }
        let is_sse = self.is_sse.load(Ordering::Relaxed);
        let info = if is_sse || self.protocol.era == EraChoice::Legacy {
            ServerInfo::UNKNOWN
        } else {
            self.probe(caller).await?
        };
        if info.era == Era::Legacy && self.protocol.era == EraChoice::Modern {
            return Err(TransportError::WrongEra(
                "it does not speak 2026-07-28, and the config has `era: modern`".into(),
            ));
        }
        let info = Arc::new(info);
        self.info.store(Some(Arc::clone(&info)));
        Ok(info)
    }

    /// Forgets what is known after the server has refused requests of this era.
    pub(super) fn forget_era(&self, refused: Era) {
        let info = self.info().filter(|info| info.era == Era::Modern && refused == Era::Legacy);
        // A modern server that speaks no other era.
        self.info.store(info.map(|info| {
            Arc::new(ServerInfo { may_speak_legacy: false, ..ServerInfo::clone(&info) })
        }));
    }

    /// Sends a modern request and interprets the answer or rejection.
    async fn probe(&self, caller: Option<&Caller>) -> Result<ServerInfo, TransportError> {
        let discover = RpcRequest::plain("server/discover", Params::None);
        let probed = match self.post_modern(caller, &discover).await? {
            PostOutcome::Answer { answer: Ok(result), .. } => ProbeResult::of_result(&result.raw),
            PostOutcome::Answer { answer: Err(error), .. } => ProbeResult::of_error(&error),
            PostOutcome::Rejection(rejected) => match (rejected.status.as_u16(), &rejected.error) {
                (401 | 403 | 429 | 500.., None) => return Err(rejected.transport_error()),
                (_, Some(error)) => ProbeResult::of_error(error),
                (_, None) => ProbeResult::Legacy,
            },
        };
        Ok(match probed {
            ProbeResult::Modern(info) => info,
            ProbeResult::Legacy => ServerInfo::UNKNOWN,
        })
    }

    /// Opens a legacy session, in the transport that the server speaks.
    pub(super) async fn initialize(
        &self,
        caller: Option<&Caller>,
    ) -> Result<Session, TransportError> {
        let is_auto = self.protocol.transport == UrlTransport::Auto;
        if self.is_sse.load(Ordering::Relaxed) {
            let opened = self.initialize_sse(caller).await;
            if is_auto && matches!(opened, Err(TransportError::Status { status: 400..=499, .. })) {
                // The server may have been replaced by one of the newer transport: the next request finds out.
                self.is_sse.store(false, Ordering::Relaxed);
                self.info.store(None);
            }
            return opened;
        }
        let rejected = match self.initialize_streamable(caller).await? {
            Ok(session) => return Ok(session),
            Err(rejected) => rejected,
        };
        if self.info().is_some_and(|info| info.era == Era::Modern) {
            return Err(match rejected.status.as_u16() {
                401 | 403 | 429 | 500.. => rejected.transport_error(),
                status => {
                    TransportError::WrongEra(format!("HTTP {status} for `initialize`").into())
                }
            });
        }
        if is_auto && is_unknown_transport(&rejected) {
            match self.initialize_sse(caller).await {
                Ok(session) => {
                    self.is_sse.store(true, Ordering::Relaxed);
                    return Ok(session);
                }
                // It opens a stream as a server of 2024-11-05 does, which cannot be used.
                Err(error @ TransportError::Malformed(_)) => return Err(error),
                Err(error) => {
                    tracing::debug!(%error, "the server does not speak HTTP+SSE either");
                }
            }
        }
        if let Some(error) = &rejected.error {
            let why = format!("`initialize` failed with {}", error.code);
            return Err(TransportError::WrongEra(why.into()));
        }
        // No MCP server answers there now: the next request probes again.
        self.info.store(None);
        Err(match rejected.status.as_u16() {
            status @ (404 | 405) if is_auto => TransportError::NoServer(status),
            _ => rejected.transport_error(),
        })
    }

    async fn initialize_streamable(
        &self,
        caller: Option<&Caller>,
    ) -> Result<Result<Session, Rejection>, TransportError> {
        let id = self.next_id();
        let params = handshake::initialize_params(caller);
        let request = RpcRequest::plain("initialize", Params::Map(&params));
        let endpoint = self.bare_endpoint(caller, self.exchange.common());
        let body = encode(&request, id, Era::Legacy)?;
        let (answer, answered) = match self.exchange.post(&endpoint, id, body, None).await? {
            PostOutcome::Answer { answer, headers } => (answer, headers),
            PostOutcome::Rejection(rejected) => return Ok(Err(rejected)),
        };
        let info = read_initialize(answer)?;
        let mut session = Session::new(answered.get(headers::SESSION).cloned(), &info);
        session.instance = caller.map(|caller| self.exchange.context.instances.begin(caller));
        let notifies_changes = info.notifies_changes;
        self.learn(info);
        let endpoint = self.endpoint(caller, &session);
        self.exchange.notify(&endpoint, Method::POST, initialized()).await?;
        let listens = |caller: &Caller| caller.can_be_asked() || notifies_changes;
        if session.has_id() && caller.is_some_and(listens) {
            session.listen(&self.exchange, endpoint).await;
        }
        Ok(Ok(session))
    }

    /// The handshake over the transport of 2024-11-05.
    async fn initialize_sse(&self, caller: Option<&Caller>) -> Result<Session, TransportError> {
        let endpoint = self.bare_endpoint(caller, self.exchange.common());
        let channel = SseChannel::open(&self.exchange, endpoint).await?;
        let id = self.next_id();
        let params = handshake::initialize_params(caller);
        let request = RpcRequest::plain("initialize", Params::Map(&params));
        let body = encode(&request, id, Era::Legacy)?;
        let answer = match channel.ask(&self.exchange, id, body, None).await? {
            PostOutcome::Answer { answer, .. } => answer,
            PostOutcome::Rejection(rejected) => return Err(rejected.transport_error()),
        };
        let info = read_initialize(answer)?;
        let mut session = Session::new(None, &info);
        session.instance = caller.map(|caller| self.exchange.context.instances.begin(caller));
        self.learn(info);
        self.exchange.notify(channel.endpoint(), Method::POST, initialized()).await?;
        session.channel = Some(channel);
        Ok(session)
    }

    /// Keeps what a legacy server says about itself. What a server of both eras says in the modern one stays.
    fn learn(&self, info: ServerInfo) {
        if self.info().is_none_or(|known| known.era == Era::Legacy) {
            self.info.store(Some(Arc::new(info)));
        }
    }
}

fn read_initialize(answer: Answer) -> Result<ServerInfo, TransportError> {
    let result = answer.map_err(|error| {
        TransportError::WrongEra(format!("`initialize` failed with {}", error.code).into())
    })?;
    handshake::read_initialize(&result.raw).map_err(|why| TransportError::WrongEra(why.into()))
}

fn initialized() -> bytes::Bytes {
    rpc::notification("notifications/initialized", &json!({}))
}

/// Whether a server of 2024-11-05 may have rejected `initialize` this way, because it expects a GET there.
fn is_unknown_transport(rejected: &Rejection) -> bool {
    let modern = |error: &rpc::RpcError| matches!(error.code, -32022..=-32020);
    matches!(rejected.status.as_u16(), 400 | 404 | 405)
        && !rejected.error.as_ref().is_some_and(modern)
}
