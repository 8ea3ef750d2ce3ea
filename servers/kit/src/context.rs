//! What a handler may know and do while its call runs.

use std::sync::Arc;

use bytes::Bytes;
use rmcp::RoleServer;
use rmcp::model::{InputResponses, ProgressNotificationParam, RequestMetaObject};
use rmcp::service::RequestContext;
use serde_json::Value;

use crate::kept::Pantry;
use crate::{Fault, Kept, KeptBytes};

/// The call that a handler is answering.
#[derive(Debug, Clone)]
pub struct Ctx {
    request: RequestContext<RoleServer>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
    pantry: Option<Arc<Pantry>>,
}

impl Ctx {
    pub(crate) fn new(
        request: RequestContext<RoleServer>,
        input_responses: Option<InputResponses>,
        request_state: Option<String>,
        pantry: Option<Arc<Pantry>>,
    ) -> Self {
        Self { request, input_responses, request_state, pantry }
    }

    /// Tells the caller how far the work is; nothing is sent when nobody asked, or when nobody listens any more.
    pub async fn progress(&self, done: f64, total: f64, message: &str) {
        let Some(token) = self.request.meta.get_progress_token() else { return };
        let notice =
            ProgressNotificationParam::new(token, done).with_total(total).with_message(message);
        if let Err(error) = self.request.peer.notify_progress(notice).await {
            tracing::debug!(%error, "progress could not be delivered");
        }
    }

    /// Resolves when the caller gives up; the handler's future is dropped then, so only detached work needs this.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.request.ct.clone().cancelled_owned()
    }

    /// The request's metadata.
    pub fn meta(&self) -> &RequestMetaObject {
        &self.request.meta
    }

    /// The client's answer to the question asked under `key` in an earlier round.
    pub fn answer(&self, key: &str) -> Option<&Value> {
        self.input_responses.as_ref()?.get(key)
    }

    /// The `requestState` that the client sent back: untrusted until opened with the key that sealed it.
    pub fn request_state(&self) -> Option<&str> {
        self.request_state.as_deref()
    }

    /// Keeps bytes for later calls and gives the reference under which they are found; see [`crate::Server::keeps`].
    pub fn keep(
        &self,
        bytes: impl Into<Bytes>,
        media_type: &str,
        name: &str,
    ) -> Result<Kept, Fault> {
        self.pantry()?.keep(bytes.into(), media_type, name)
    }

    /// What was kept under a reference.
    pub fn kept(&self, ref_id: &str) -> Result<KeptBytes, Fault> {
        self.pantry()?.find(ref_id)
    }

    fn pantry(&self) -> Result<&Pantry, Fault> {
        self.pantry.as_deref().ok_or_else(|| Fault::unsupported("this server keeps nothing"))
    }

    /// The request as rmcp sees it, for what the kit does not model.
    pub fn request(&self) -> &RequestContext<RoleServer> {
        &self.request
    }
}
