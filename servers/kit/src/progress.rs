//! Progress of a call, for callers that ask for it.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};

/// Where the progress of a call goes.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    peer: Peer<RoleServer>,
    /// `None` if the caller did not ask.
    token: Option<ProgressToken>,
}

impl Progress {
    pub(crate) fn of(request: &RequestContext<RoleServer>) -> Self {
        Self { peer: request.peer.clone(), token: request.meta.get_progress_token() }
    }

    pub(crate) async fn report(&self, done: f64, total: f64, message: &str) {
        let Some(token) = self.token.clone() else { return };
        let notice =
            ProgressNotificationParam::new(token, done).with_total(total).with_message(message);
        if let Err(error) = self.peer.notify_progress(notice).await {
            tracing::debug!(%error, "progress could not be delivered");
        }
    }
}
