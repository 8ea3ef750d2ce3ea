//! Sessions of MCP clients before 2026-07-28, each bound to the principal that opened it: a session id found in
//! someone else's log opens nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use proto::Principal;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

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
    owners: Mutex<HashMap<SessionId, Arc<Principal>>>,
    max: usize,
}

impl Sessions {
    pub(super) fn new(max: usize, idle: Duration) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(idle);
        Self { local, owners: Mutex::default(), max }
    }

    /// Makes the session this principal's, if it still stands.
    pub(super) async fn bind(&self, id: &str, owner: Arc<Principal>) {
        let id = SessionId::from(id);
        self.owners().insert(Arc::clone(&id), owner);
        // It may have ended while its first answer was on the way; nobody would then take the owner away.
        if !self.local.sessions.read().await.contains_key(&id) {
            self.owners().remove(&id);
        }
    }

    /// Whether this principal opened the session; its next token may allow it more or less.
    pub(super) fn owned_by(&self, id: &str, principal: &Principal) -> bool {
        self.owners().get(id).is_some_and(|owner| owner.is_same_caller(principal))
    }

    fn owners(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Arc<Principal>>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
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
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.owners().remove(id);
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
        Ok(self.local.accept_message(id, message).await?)
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

    #[tokio::test]
    async fn a_session_opens_for_its_owner_alone() {
        let sessions = Sessions::new(10, Duration::from_secs(60));
        let (id, _transport) = sessions.create_session().await.expect("a session");
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
