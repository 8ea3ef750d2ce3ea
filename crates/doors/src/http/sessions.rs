//! Sessions of MCP clients before 2026-07-28, each bound to the principal that opened it: a session id found in
//! someone else's log opens nothing.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use proto::Principal;
use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// More tools than this are not known to be slow.
const MAX_SLOW: usize = 1_024;

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionFault {
    #[error("{0} {text}; close one or try later", text = SessionFault::FULL)]
    Full(usize),
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl SessionFault {
    /// What the fault is known by once rmcp has made a text of it.
    pub(super) const FULL: &str = "sessions are open, which is as many as this gateway keeps";
}

pub(super) struct Sessions {
    local: LocalSessionManager,
    known: Mutex<HashMap<SessionId, Known>>,
    /// Tools that took long lately, whose answers need all that the library can do.
    slow: Mutex<HashSet<Box<str>>>,
    max: usize,
    idle: Duration,
}

/// A session, as far as we must know it.
struct Known {
    /// Who opened it, once its first answer is out.
    owner: Option<Arc<Principal>>,
    /// The revision that was agreed upon.
    version: String,
    /// Whether its client can neither be asked nor told anything on the way to an answer.
    plain: bool,
    /// Whether the client has said that it is ready.
    ready: bool,
    /// When the library last heard of it.
    heard: Instant,
    /// The calls under way that the library does not know, by their ids.
    calls: HashMap<Box<str>, CancellationToken>,
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
        if let Some(known) = self.sessions.known().get_mut(&self.session) {
            known.calls.remove(&self.id);
        }
    }
}

impl Sessions {
    pub(super) fn new(max: usize, idle: Duration) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(idle);
        Self { local, known: Mutex::default(), slow: Mutex::default(), max, idle }
    }

    /// Makes the session this principal's, if it still stands.
    pub(super) async fn bind(&self, id: &str, owner: Arc<Principal>) {
        let id = SessionId::from(id);
        if let Some(known) = self.known().get_mut(&id) {
            known.owner = Some(owner);
        }
        // It may have ended while its first answer was on the way; nobody would then forget it.
        if !self.local.sessions.read().await.contains_key(&id) {
            self.known().remove(&id);
        }
    }

    /// Whether this principal opened the session; its next token may allow it more or less.
    pub(super) fn owned_by(&self, id: &str, principal: &Principal) -> bool {
        let known = self.known();
        let owner = known.get(id).and_then(|known| known.owner.as_ref());
        owner.is_some_and(|owner| owner.is_same_caller(principal))
    }

    /// Notes that the library is about to hear of a session.
    pub(super) fn touch(&self, id: &str) {
        if let Some(known) = self.known().get_mut(id) {
            known.heard = Instant::now();
        }
    }

    /// Lets a plain call of a session go past the library. Now and then none may: the library ends a session that it
    /// does not hear of.
    pub(super) fn pass(
        self: &Arc<Self>,
        id: &str,
        version: &str,
        tool: &str,
        call: &str,
    ) -> Option<Passing> {
        if self.slow().contains(tool) {
            return None;
        }
        let mut table = self.known();
        let known = table.get_mut(id)?;
        let fits = known.plain && known.ready && known.version == version;
        if !fits || known.heard.elapsed() >= self.idle / 4 || known.calls.contains_key(call) {
            return None;
        }
        let cancel = CancellationToken::new();
        known.calls.insert(call.into(), cancel.clone());
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
        let known = self.known();
        let found = known.get(id).and_then(|known| known.calls.get(call));
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

    fn slow(&self) -> MutexGuard<'_, HashSet<Box<str>>> {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, id: &SessionId) {
        if let Some(known) = self.known().remove(id) {
            known.calls.values().for_each(CancellationToken::cancel);
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// What a session's first message and the answer to it say.
    fn of(asked: &ClientJsonRpcMessage, answer: &ServerJsonRpcMessage) -> Option<Self> {
        let (JsonRpcMessage::Request(asked), JsonRpcMessage::Response(answer)) = (asked, answer)
        else {
            return None;
        };
        let (ClientRequest::InitializeRequest(asked), ServerResult::InitializeResult(answer)) =
            (&asked.request, &answer.result)
        else {
            return None;
        };
        Some(Self {
            owner: None,
            version: answer.protocol_version.to_string(),
            plain: asked.params.capabilities == ClientCapabilities::default(),
            ready: false,
            heard: Instant::now(),
            calls: HashMap::new(),
        })
    }
}

impl SessionManager for Sessions {
    type Error = SessionFault;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        if self.local.sessions.read().await.len() >= self.max {
            return Err(SessionFault::Full(self.max));
        }
        Ok(self.local.create_session().await?)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let asked = message.clone();
        let answer = self.local.initialize_session(id, message).await?;
        if let Some(known) = Known::of(&asked, &answer) {
            self.known().insert(Arc::clone(id), known);
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.forget(id);
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
        if ready && let Some(known) = self.known().get_mut(id) {
            known.ready = true;
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
}

#[cfg(test)]
mod tests {
    use proto::TenantId;

    use super::*;

    fn principal(tenant: &str, subject: &str) -> Principal {
        Principal {
            tenant: TenantId::new(tenant),
            subject: subject.to_owned(),
            agent: None,
            scopes: Vec::new(),
        }
    }

    fn known() -> Known {
        Known {
            owner: None,
            version: "2025-11-25".to_owned(),
            plain: true,
            ready: true,
            heard: Instant::now(),
            calls: HashMap::new(),
        }
    }

    #[test]
    fn only_plain_calls_of_a_session_that_the_library_hears_of_go_past_it() {
        let sessions = Arc::new(Sessions::new(10, Duration::from_secs(60)));
        let id = SessionId::from("s");
        let pass = |call| sessions.pass("s", "2025-11-25", "tool", call);
        assert!(pass("1").is_none(), "no such session");
        for unfit in [
            Known { plain: false, ..known() },
            Known { ready: false, ..known() },
            Known { version: "2025-06-18".to_owned(), ..known() },
        ] {
            sessions.known().insert(Arc::clone(&id), unfit);
            assert!(pass("1").is_none());
        }
        sessions.known().insert(Arc::clone(&id), known());
        let first = pass("1").expect("a plain call");
        assert!(pass("1").is_none(), "its id is in use");
        assert!(sessions.cancel("s", "1") && first.cancel.is_cancelled());
        assert!(!sessions.cancel("s", "2"));
        drop(first);
        let again = pass("1").expect("the id is free again");
        if let Some(known) = sessions.known().get_mut(&id) {
            known.heard -= Duration::from_secs(15);
        }
        assert!(pass("2").is_none(), "the library would take the session for idle");
        sessions.touch("s");
        assert!(pass("2").is_some());
        sessions.note_slow("tool");
        assert!(pass("2").is_none(), "its streams must be such that can be taken up again");
        sessions.forget(&id);
        assert!(again.cancel.is_cancelled(), "it ends with its session");
    }

    #[tokio::test]
    async fn a_session_opens_for_its_owner_alone() {
        let sessions = Sessions::new(10, Duration::from_secs(60));
        let (id, _transport) = sessions.create_session().await.expect("a session");
        sessions.known().insert(Arc::clone(&id), known());
        let ann = principal("acme", "ann");
        assert!(!sessions.owned_by(&id, &ann), "not before it is bound");
        sessions.bind(&id, Arc::new(ann.clone())).await;
        assert!(sessions.owned_by(&id, &ann));
        assert!(!sessions.owned_by(&id, &principal("acme", "bob")));
        assert!(!sessions.owned_by(&id, &principal("other", "ann")));
        let agent = Principal { agent: Some("bot".to_owned()), ..ann.clone() };
        assert!(!sessions.owned_by(&id, &agent), "an agent of hers is somebody else");
        let renewed = Principal { scopes: vec!["tools:read".to_owned()], ..ann.clone() };
        assert!(sessions.owned_by(&id, &renewed), "another token of the same caller");
        sessions.close_session(&id).await.expect("closing");
        assert!(!sessions.owned_by(&id, &ann));
        sessions.bind(&id, Arc::new(ann.clone())).await;
        assert!(!sessions.owned_by(&id, &ann), "a session that is gone stays gone");
    }
}
