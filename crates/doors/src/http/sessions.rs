//! Sessions of MCP clients before 2026-07-28, each bound to the principal that opened it: a session id found in
//! someone else's log opens nothing.
//!
//! The protocol library runs two tasks with several channels for each session, about 75 kB. A session that does not
//! need them is parked: its tasks end, and what the client said when it opened the session is kept, from which they
//! are started again with the next request that needs them. Plain calls do not.

mod lives;
mod table;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use proto::Principal;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, InitializeRequestParams,
    JsonRpcMessage, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, ServerSseMessage, SessionId, SessionManager, SessionState, SessionStore,
    SessionStoreError,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::mcp::{Marks, VIEWER};
use crate::shares::{Exceeded, Holder, Shares};
use table::{Session, Table};

pub(super) use lives::Parked;

/// More tools than this are not known to be slow.
const MAX_SLOW: usize = 1_024;

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionFault {
    #[error("{0} {text}; try again later", text = SessionFault::FULL)]
    Full(usize),
    #[error("you have {0} {text}; close one", text = SessionFault::CALLER_FULL)]
    CallerFull(usize),
    #[error("the request has no principal")]
    NoOwner,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl SessionFault {
    /// What the faults are known by once rmcp has made a text of them.
    pub(super) const FULL: &str = "sessions are open, which is as many as this gateway keeps";
    pub(super) const CALLER_FULL: &str = "sessions open, which is as many as one caller may have";
}

/// How many sessions there may be, and for how long.
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
    /// The current versions of the lists that clients are notified about.
    marks: Box<dyn Fn() -> Marks + Send + Sync>,
    table: Mutex<Table>,
    shares: Arc<Shares>,
    limits: SessionLimits,
    /// Tools that took long lately, whose answers need all that the library can do.
    slow: Mutex<HashSet<Box<str>>>,
}

/// A call that goes past the library; it is known to its session until this is dropped.
pub(super) struct Passing {
    sessions: Arc<Sessions>,
    session: SessionId,
    id: Box<str>,
    pub(super) cancel: CancellationToken,
}

impl Drop for Passing {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.table().get_mut(&self.session) {
            session.calls.remove(&self.id);
        }
    }
}

/// A request that the library answers within a session, which is not parked meanwhile. It travels with the request.
#[derive(Clone)]
pub(crate) struct SessionUse {
    sessions: Arc<Sessions>,
    id: SessionId,
    /// Cancelled when the session ends.
    pub(crate) ended: CancellationToken,
    _request: TaskTrackerToken,
}

impl SessionUse {
    /// Keeps the session from being parked for good: the library's tasks remember something that the client said.
    pub(crate) fn keep_worker(&self) {
        if let Some(session) = self.sessions.table().get_mut(&self.id) {
            session.stateful = true;
        }
    }
}

impl Sessions {
    pub(super) fn new(
        limits: SessionLimits,
        marks: impl Fn() -> Marks + Send + Sync + 'static,
    ) -> Self {
        let mut local = LocalSessionManager::default();
        // Idle sessions are ended here, where calls that go past the library are known.
        local.session_config.keep_alive = None;
        let limits = SessionLimits { per_caller: limits.per_caller.min(limits.max), ..limits };
        Self {
            local,
            marks: Box::new(marks),
            table: Mutex::default(),
            shares: Shares::new(limits.max),
            limits,
            slow: Mutex::default(),
        }
    }

    /// Whether this principal opened the session; its next token may allow it more or less.
    pub(super) fn owned_by(&self, id: &str, principal: &Principal) -> bool {
        let table = self.table();
        table.get(id).is_some_and(|session| session.owner.is_same_caller(principal))
    }

    /// Notes that the library is about to answer a request of a session.
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

    /// Notes that a session has a stream for as long as this is kept: one by which its client listens, or an answer.
    pub(super) fn begin_stream(&self, id: &str, listens: bool) -> Option<TaskTrackerToken> {
        let table = self.table();
        let session = table.get(id)?;
        Some(if listens { session.streams.token() } else { session.answers.token() })
    }

    /// Lets a plain call of a session go past the library.
    pub(super) fn pass(
        self: &Arc<Self>,
        id: &str,
        version: &str,
        tool: &str,
        call: &str,
        cancel: impl FnOnce() -> CancellationToken,
    ) -> Option<Passing> {
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
        Some(Passing {
            sessions: Arc::clone(self),
            session: SessionId::from(id),
            id: call.into(),
            cancel,
        })
    }

    /// Cancels a call that went past the library, if there is one of this id.
    pub(super) fn cancel(&self, id: &str, call: &str) -> bool {
        let table = self.table();
        let found = table.get(id).and_then(|session| session.calls.get(call));
        found.map(CancellationToken::cancel).is_some()
    }

    /// Notes that a tool takes long.
    pub(super) fn note_slow(&self, tool: &str) {
        let mut slow = self.slow();
        // Whoever invents names to fill it begins anew.
        if slow.len() >= MAX_SLOW {
            slow.clear();
        }
        slow.insert(tool.into());
    }

    /// How many sessions there may be, if there are as many.
    pub(super) fn exhausted(&self) -> Option<usize> {
        self.shares.is_exhausted().then_some(self.limits.max)
    }

    fn slow(&self) -> MutexGuard<'_, HashSet<Box<str>>> {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a place for one more session of this owner. If there is none, an old session is ended for it: one of
    /// the owner's, or one of the caller that has most.
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

/// What a client said to open a session.
fn start_of(message: &ClientJsonRpcMessage) -> Option<InitializeRequestParams> {
    let JsonRpcMessage::Request(asked) = message else { return None };
    let ClientRequest::InitializeRequest(asked) = &asked.request else { return None };
    Some(asked.params.clone())
}

impl SessionManager for Sessions {
    type Error = SessionFault;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let owner = VIEWER.try_with(Arc::clone).map_err(|_| SessionFault::NoOwner)?;
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

    /// Called by the library when the tasks of a session have ended.
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
        Ok(self.local.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        let ready = matches!(&message, JsonRpcMessage::Notification(said)
            if matches!(said.notification, ClientNotification::InitializedNotification(_)));
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
        Ok(self.local.resume(id, last_event_id).await?)
    }

    async fn restore_session(
        &self,
        id: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        let restored = self.local.restore_session(Arc::clone(&id)).await?;
        if let Some(session) = self.table().get_mut(&id) {
            session.live = true;
            session.worked = Instant::now();
        }
        Ok(restored)
    }
}

/// The library starts a parked session again from what is loaded here.
#[async_trait::async_trait]
impl SessionStore for Sessions {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let table = self.table();
        let start = table.get(id).and_then(|session| session.start.as_deref());
        Ok(start.map(|start| SessionState::new(start.clone())))
    }

    /// It was kept when the session began.
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
