//! Sessions of MCP clients before 2026-07-28, each bound to the principal that opened it, so that a leaked session id is
//! of no use to another caller.
//!
//! The protocol library runs two tasks with several channels for each session, about 75 kB. A session that does not need
//! them is parked: its tasks end, and its `initialize` request is kept, from which the next request that needs the tasks
//! starts them again. Plain calls do not need them.

mod answer_events;
mod fault;
mod kept;
mod parking;
mod table;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _, stream};
use http_server::{Exceeded, Holder, Shares};
use proto::Principal;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, InitializeRequestParams,
    JsonRpcMessage, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionError,
};
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, ServerSseMessage, SessionId, SessionManager, SessionState, SessionStore,
    SessionStoreError,
};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::mcp::{CALLER, ListVersions};
use answer_events::{AnswerEvents, Reader};
use kept::{AnswerStream, EventPlace, KeptAnswers};
use table::{Session, Table};

pub(super) use fault::SessionFault;
pub(super) use parking::ParkedSession;

/// How many slow tools are remembered.
const MAX_SLOW: usize = 1_024;

/// The revision since which streams begin with an event without data, so that a client has an id to resume them by.
const PRIMING_REVISION: &str = "2025-11-25";

/// How many sessions may be open, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionLimits {
    pub(super) max: usize,
    pub(super) per_caller: usize,
    /// A session ends when it had no request, call or stream for so long.
    pub(super) idle: Duration,
    /// A session is parked when it did not need the protocol library for so long.
    pub(super) park: Duration,
}

pub(super) struct Sessions {
    local: LocalSessionManager,
    /// Reads the versions of the lists whose changes clients are notified of.
    lists: Box<dyn Fn() -> ListVersions + Send + Sync>,
    table: Mutex<Table>,
    kept: Arc<KeptAnswers>,
    shares: Arc<Shares>,
    limits: SessionLimits,
    /// Tools that were slow: their calls need the resumable streams of the library.
    slow: Mutex<HashSet<Box<str>>>,
}

/// A call that bypasses the library; its session knows it until this is dropped.
pub(super) struct DirectCall {
    sessions: Arc<Sessions>,
    session: SessionId,
    id: Box<str>,
    pub(super) cancel: CancellationToken,
}

impl Drop for DirectCall {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.table().get_mut(&self.session) {
            session.calls.remove(&self.id);
        }
    }
}

/// Keeps a session from being parked while the library answers a request; it is an extension of that request.
#[derive(Clone)]
pub(crate) struct SessionUse {
    sessions: Arc<Sessions>,
    id: SessionId,
    /// Cancelled when the session ends.
    pub(crate) ended: CancellationToken,
    _request: TaskTrackerToken,
}

impl SessionUse {
    /// Never parks the session from now on, because the library's tasks hold state of the client.
    pub(crate) fn keep_worker(&self) {
        if let Some(session) = self.sessions.table().get_mut(&self.id) {
            session.stateful = true;
        }
    }
}

impl Sessions {
    pub(super) fn new(
        limits: SessionLimits,
        lists: impl Fn() -> ListVersions + Send + Sync + 'static,
    ) -> Self {
        let mut local = LocalSessionManager::default();
        // Idle sessions are ended here, because the library does not know direct calls.
        local.session_config.keep_alive = None;
        let limits = SessionLimits { per_caller: limits.per_caller.min(limits.max), ..limits };
        Self {
            local,
            lists: Box::new(lists),
            table: Mutex::default(),
            kept: Arc::new(KeptAnswers::new()),
            shares: Shares::new(limits.max),
            limits,
            slow: Mutex::default(),
        }
    }

    /// Whether this caller opened the session. The scopes may differ, because tokens are renewed.
    pub(super) fn owned_by(&self, id: &str, principal: &Principal) -> bool {
        let table = self.table();
        table.get(id).is_some_and(|session| session.owner.is_same_caller(principal))
    }

    /// Records that the library is about to answer a request of a session.
    pub(super) fn begin_use(self: &Arc<Self>, id: &str) -> Option<SessionUse> {
        let mut table = self.table();
        let session = table.get_mut(id)?;
        session.used = Instant::now();
        session.worked = session.used;
        Some(SessionUse {
            sessions: Arc::clone(self),
            id: SessionId::from(id),
            ended: session.ended.clone(),
            _request: session.requests.token(),
        })
    }

    /// Records that a session has a stream until the token is dropped: one for notifications, or an answer.
    pub(super) fn begin_stream(&self, id: &str, listens: bool) -> Option<TaskTrackerToken> {
        let table = self.table();
        let session = table.get(id)?;
        Some(if listens { session.streams.token() } else { session.answers.token() })
    }

    /// Lets a plain call of a session bypass the library, if the session allows it.
    pub(super) fn begin_direct(
        self: &Arc<Self>,
        id: &str,
        version: &str,
        tool: &str,
        call: &str,
        cancel: impl FnOnce() -> CancellationToken,
    ) -> Option<DirectCall> {
        if self.slow().contains(tool) {
            return None;
        }
        let mut table = self.table();
        let session = table.get_mut(id)?;
        let fits = session.plain && session.ready && session.version == version;
        if !fits || session.calls.contains_key(call) {
            return None;
        }
        session.used = Instant::now();
        let cancel = cancel();
        session.calls.insert(call.into(), cancel.clone());
        drop(table);
        Some(DirectCall {
            sessions: Arc::clone(self),
            session: SessionId::from(id),
            id: call.into(),
            cancel,
        })
    }

    /// The capabilities that the client of a session declared, if the session uses this revision.
    pub(super) fn capabilities(&self, id: &str, version: &str) -> Option<Map<String, Value>> {
        let mut table = self.table();
        let session = table.get_mut(id)?;
        if !session.ready || session.version != version {
            return None;
        }
        session.used = Instant::now();
        let declared = session.start.as_ref()?.capabilities.clone();
        match serde_json::to_value(declared) {
            Ok(Value::Object(declared)) => Some(declared),
            _ => None,
        }
    }

    /// Whether the client of a session can read events without data.
    pub(super) fn takes_priming(&self, id: &str) -> bool {
        self.table().get(id).is_some_and(|session| &*session.version >= PRIMING_REVISION)
    }

    /// Whether an event id is one of a stream that answers a request. Such a stream can be read on also after its session
    /// was parked.
    pub(super) fn is_of_answer(event_id: &str) -> bool {
        event_id.parse::<EventPlace>().is_ok()
    }

    /// Reads the events that answer a request of a session; with `keeps`, the answer is kept for a while.
    fn read<S>(
        &self,
        id: &SessionId,
        events: S,
        keeps: bool,
    ) -> Result<AnswerEvents<S>, SessionFault>
    where
        S: Stream<Item = ServerSseMessage> + Send + Unpin + 'static,
    {
        let table = self.table();
        let session = table.get(id).ok_or_else(|| not_found(id))?;
        Ok(AnswerEvents::new(Reader {
            events,
            session: Arc::clone(id),
            life: session.life,
            owner: Arc::clone(&session.owner),
            kept: keeps.then(|| Arc::clone(&self.kept)),
            _working: session.answers.token(),
        }))
    }

    /// Cancels the direct call with this id; false if there is none.
    pub(super) fn cancel(&self, id: &str, call: &str) -> bool {
        let table = self.table();
        let found = table.get(id).and_then(|session| session.calls.get(call));
        found.map(CancellationToken::cancel).is_some()
    }

    /// Records that a tool is slow.
    pub(super) fn note_slow(&self, tool: &str) {
        let mut slow = self.slow();
        // Invented names must not grow the set without limit.
        if slow.len() >= MAX_SLOW {
            slow.clear();
        }
        slow.insert(tool.into());
    }

    /// The limit of sessions, if it is reached.
    pub(super) fn exhausted(&self) -> Option<usize> {
        self.shares.is_exhausted().then_some(self.limits.max)
    }

    fn slow(&self) -> MutexGuard<'_, HashSet<Box<str>>> {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves one more session for this owner. If a limit is reached, an old session ends: one of the owner's, or one
    /// of the caller with the most sessions.
    async fn admit(&self, owner: &Arc<Principal>) -> Result<Session, SessionFault> {
        let take = || self.shares.take(Holder::of(owner), 1, self.limits.per_caller);
        let exceeded = match take() {
            Ok(share) => return Ok(Session::new(Arc::clone(owner), share)),
            Err(exceeded) => exceeded,
        };
        let (victim, fault) = match exceeded {
            Exceeded::Own { limit } => {
                (self.table().least_used_of(owner), SessionFault::CallerFull(limit))
            }
            Exceeded::Total { limit } => self.table().make_room(owner, limit),
        };
        let Some(victim) = victim else { return Err(fault) };
        tracing::info!(session = %victim, "session ended to make room for another");
        self.end(&victim).await;
        match take() {
            Ok(share) => Ok(Session::new(Arc::clone(owner), share)),
            Err(_) => Err(fault),
        }
    }
}

fn not_found(id: &SessionId) -> SessionFault {
    LocalSessionManagerError::SessionNotFound(Arc::clone(id)).into()
}

/// Whether a message calls a tool, which cannot simply be done again.
fn is_call(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(sent)
        if matches!(sent.request, ClientRequest::CallToolRequest(_)))
}

/// The parameters of an `initialize` request.
fn start_of(message: &ClientJsonRpcMessage) -> Option<InitializeRequestParams> {
    let JsonRpcMessage::Request(message) = message else { return None };
    let ClientRequest::InitializeRequest(initialize) = &message.request else { return None };
    Some(initialize.params.clone())
}

impl SessionManager for Sessions {
    type Error = SessionFault;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let owner = CALLER.try_with(Arc::clone).map_err(|_| SessionFault::NoOwner)?;
        let session = self.admit(&owner).await?;
        let (id, transport) = self.local.create_session().await?;
        self.table().insert(Arc::clone(&id), session);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let start = start_of(&message);
        let answer = self.local.initialize_session(id, message).await?;
        if let JsonRpcMessage::Response(response) = &answer
            && let ServerResult::InitializeResult(agreed) = &response.result
            && let Some(start) = start
            && let Some(session) = self.table().get_mut(id)
        {
            session.begin(start, agreed.protocol_version.to_string());
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.local.has_session(id).await?)
    }

    /// The library calls this when the tasks of a session have ended.
    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        if let Some(session) = self.table().get_mut(id)
            && session.parking > 0
        {
            session.parking -= 1;
            return Ok(());
        }
        self.end(id).await;
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let keeps = is_call(&message);
        self.read(id, self.local.create_stream(id, message).await?, keeps)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        let ready = matches!(&message, JsonRpcMessage::Notification(sent)
            if matches!(sent.notification, ClientNotification::InitializedNotification(_)));
        self.local.accept_message(id, message).await?;
        if ready && let Some(session) = self.table().get_mut(id) {
            session.ready = true;
        }
        Ok(())
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let Ok(place) = last_event_id.parse::<EventPlace>() else {
            return Ok(self.local.resume(id, last_event_id).await?.left_stream());
        };
        let EventPlace { index, number, life } = place;
        let answered = AnswerStream { session: Arc::clone(id), life, number };
        let rest = match self.kept.rest(&answered, index) {
            Some(rest) => rest,
            None if self.table().get(id).is_none_or(|session| session.life != life) => {
                return Err(LocalSessionManagerError::from(SessionError::InvalidEventId).into());
            }
            None => match self.local.resume(id, place.for_library()).await {
                Ok(events) => {
                    return Ok(self.read(id, events, true)?.left_stream().right_stream());
                }
                // Perhaps it was answered at this moment.
                Err(error) => self.kept.arriving(&answered, index).await.ok_or(error)?,
            },
        };
        Ok(stream::iter(rest).right_stream().right_stream())
    }

    async fn restore_session(
        &self,
        id: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        let restored = self.local.restore_session(Arc::clone(&id)).await?;
        if let Some(session) = self.table().get_mut(&id) {
            session.live = true;
            session.life += 1;
            session.worked = Instant::now();
        }
        Ok(restored)
    }
}

/// The library restores a parked session from what is loaded here.
#[async_trait::async_trait]
impl SessionStore for Sessions {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let table = self.table();
        let start = table.get(id).and_then(|session| session.start.as_deref());
        Ok(start.map(|start| SessionState::new(start.clone())))
    }

    /// Does nothing: the state was stored when the session began.
    async fn store(&self, _: &str, _: &SessionState) -> Result<(), SessionStoreError> {
        Ok(())
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        self.end(id).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
