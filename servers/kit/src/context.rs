//! The context of a running call.

use std::sync::Arc;

use bytes::Bytes;
use reading::{Document, Done, ReadDocument, Work};
use rmcp::RoleServer;
use rmcp::model::{InputResponses, ProgressNotificationParam, RequestMetaObject};
use rmcp::service::RequestContext;
use serde::Serialize;
use serde_json::Value;

use crate::base::Base;
use crate::program::{Engine, Program, Ran, Task};
use crate::stored::ReferenceStore;
use crate::{Fault, StoredBytes, StoredRef};

/// The call that a handler is answering.
#[derive(Debug, Clone)]
pub struct Ctx {
    request: RequestContext<RoleServer>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
    references: Option<ReferenceStore>,
    base: Arc<Base>,
}

impl Ctx {
    pub(crate) fn new(
        request: RequestContext<RoleServer>,
        input_responses: Option<InputResponses>,
        request_state: Option<String>,
        references: Option<ReferenceStore>,
        base: Arc<Base>,
    ) -> Self {
        Self { request, input_responses, request_state, references, base }
    }

    /// Reports progress, if the caller asked for it.
    pub async fn progress(&self, done: f64, total: f64, message: &str) {
        let Some(token) = self.request.meta.get_progress_token() else { return };
        let notice =
            ProgressNotificationParam::new(token, done).with_total(total).with_message(message);
        if let Err(error) = self.request.peer.notify_progress(notice).await {
            tracing::debug!(%error, "progress could not be delivered");
        }
    }

    /// Resolves when the caller cancels; the handler's future is dropped then, so only detached work needs this.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.request.ct.clone().cancelled_owned()
    }

    /// The request's metadata.
    pub fn meta(&self) -> &RequestMetaObject {
        &self.request.meta
    }

    /// The client's answer to the question `key` of an earlier round.
    pub fn answer(&self, key: &str) -> Option<&Value> {
        self.input_responses.as_ref()?.get(key)
    }

    /// The `requestState` that the client sent back: untrusted until opened with the key that sealed it.
    pub fn request_state(&self) -> Option<&str> {
        self.request_state.as_deref()
    }

    /// Stores bytes for later calls and returns their reference; see [`crate::Server::stores`].
    pub async fn store(
        &self,
        bytes: impl Into<Bytes>,
        media_type: &str,
        name: &str,
    ) -> Result<StoredRef, Fault> {
        self.store_as("kept", bytes, media_type, name).await
    }

    /// Like [`Ctx::store`], with an id that begins with `prefix`, such as `doc` for `doc_…`.
    pub async fn store_as(
        &self,
        prefix: &'static str,
        bytes: impl Into<Bytes>,
        media_type: &str,
        name: &str,
    ) -> Result<StoredRef, Fault> {
        self.references()?.store(prefix, bytes.into(), media_type, name).await
    }

    /// The bytes of a reference.
    pub async fn load(&self, ref_id: &str) -> Result<StoredBytes, Fault> {
        self.references()?.find(ref_id).await
    }

    pub(crate) fn references(&self) -> Result<&ReferenceStore, Fault> {
        self.references.as_ref().ok_or_else(|| Fault::unsupported("this server stores no files"))
    }

    /// Reads an untrusted document in a confined process; see [`crate::start`].
    pub async fn read(&self, document: Document) -> Result<ReadDocument, Fault> {
        Ok(self.base.readers().await?.read(document).await?)
    }

    /// Runs one of the functions that were given to [`crate::start`] on untrusted bytes, in a confined process.
    pub async fn work(
        &self,
        work: &Work,
        options: &(impl Serialize + Sync),
        document: Document,
    ) -> Result<Done, Fault> {
        Ok(self.base.readers().await?.work(work, options, document).await?)
    }

    /// Runs a program to its end, without a shell and without the network.
    pub async fn run(&self, program: &Program, task: Task) -> Result<Ran, Fault> {
        let cancel = self.request.ct.clone();
        program.run(self.base.runner().await?, task, &cancel).await
    }

    /// The name and version of a program; UNSUPPORTED where it is missing.
    pub async fn engine(&self, program: &Program) -> Result<Engine, Fault> {
        program.engine(self.base.runner().await?).await
    }

    /// rmcp's request, for protocol features that the kit does not model.
    pub fn request(&self) -> &RequestContext<RoleServer> {
        &self.request
    }
}
