//! The context of a running call.

use bytes::Bytes;
use reading::{Document, Done, ReadDocument, Work};
use rmcp::RoleServer;
use rmcp::model::{InputResponses, RequestMetaObject};
use rmcp::service::RequestContext;
use serde::Serialize;
use serde_json::Value;

use crate::fetch::Fetched;
use crate::jobs::{Jobs, OrJob};
use crate::program::{Engine, Program, Ran, Task};
use crate::progress::Progress;
use crate::shared::Shared;
use crate::stored::ReferenceStore;
use crate::{Fault, StoredBytes, StoredRef};

/// The call that a handler is answering.
#[derive(Debug, Clone)]
pub struct Ctx {
    request: RequestContext<RoleServer>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
    shared: Shared,
}

impl Ctx {
    pub(crate) fn new(
        request: RequestContext<RoleServer>,
        input_responses: Option<InputResponses>,
        request_state: Option<String>,
        shared: Shared,
    ) -> Self {
        Self { request, input_responses, request_state, shared }
    }

    /// Reports progress, if the caller asked for it.
    pub async fn progress(&self, done: f64, total: f64, message: &str) {
        Progress::of(&self.request).report(done, total, message).await;
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
        self.shared
            .references
            .as_ref()
            .ok_or_else(|| Fault::unsupported("this server stores no files"))
    }

    /// Reads an untrusted document in a confined process; see [`crate::start`].
    pub async fn read(&self, document: Document) -> Result<ReadDocument, Fault> {
        Ok(self.shared.base.readers().await?.read(document).await?)
    }

    /// Runs one of the functions that were given to [`crate::start`] on untrusted bytes, in a confined process.
    pub async fn work(
        &self,
        work: &Work,
        options: &(impl Serialize + Sync),
        document: Document,
    ) -> Result<Done, Fault> {
        Ok(self.shared.base.readers().await?.work(work, options, document).await?)
    }

    /// Runs a program to its end, without a shell and without the network.
    pub async fn run(&self, program: &Program, task: Task) -> Result<Ran, Fault> {
        let cancel = self.request.ct.clone();
        self.shared.base.run(program, task, &cancel).await
    }

    /// Downloads a file from a URL of the caller; see [`crate::Server::fetches`].
    pub async fn fetch(&self, url: &str) -> Result<Fetched, Fault> {
        self.shared.base.fetch(url, |_| {}).await
    }

    /// The jobs of the server; see [`crate::Server::jobs`].
    pub fn jobs(&self) -> Result<&Jobs, Fault> {
        self.shared.jobs.as_ref().ok_or_else(|| Fault::unsupported("this server has no jobs"))
    }

    /// Runs a job and waits for its result. After 25 seconds the answer is its id, and the job goes on; a caller that gives
    /// up before cancels it.
    pub async fn run_job<T>(
        &self,
        operation: &str,
        arguments: &(impl Serialize + Sync),
    ) -> Result<OrJob<T>, Fault> {
        self.jobs()?.run(operation, arguments, &Progress::of(&self.request)).await
    }

    /// The name and version of a program; UNSUPPORTED where it is missing.
    pub async fn engine(&self, program: &Program) -> Result<Engine, Fault> {
        program.engine(self.shared.base.runner().await?).await
    }

    /// rmcp's request, for protocol features that the kit does not model.
    pub fn request(&self) -> &RequestContext<RoleServer> {
        &self.request
    }
}
