use std::sync::Arc;

use async_trait::async_trait;
use proto::{Code, Descriptor, ToolId};
use serde_json::Value;
use strip::catalog::Pinning;
use strip::{Failure, Job, Output, Reply, Tool};

use crate::config::Pin;
use crate::conversation::{Request, Said};
use crate::definition::Definition;
use crate::link::Link;
use crate::openapi::is_url;
use crate::outcome::{self, Rules};
use crate::rpc::Params;
use crate::upstream::Shared;

/// A tool of a server.
pub(crate) struct UpstreamTool {
    definition: Definition,
    /// As it was listed, to see whether it has changed.
    listed: Arc<Value>,
    server: Arc<Shared>,
    /// Changes with where the server is.
    revision: u64,
}

impl UpstreamTool {
    pub(crate) fn new(definition: Definition, listed: Arc<Value>, server: Arc<Shared>) -> Self {
        let revision = server.config.whereabouts();
        Self { definition, listed, server, revision }
    }

    pub(crate) fn id(&self) -> &ToolId {
        &self.definition.descriptor.id
    }

    /// The server's own name for it.
    pub(crate) fn remote(&self) -> &str {
        &self.definition.remote
    }

    pub(crate) fn is_defined_by(&self, listed: &Arc<Value>) -> bool {
        Arc::ptr_eq(&self.listed, listed) || self.listed == *listed
    }

    async fn call(&self, call: &Job) -> Result<Output, Failure> {
        let server = &self.server;
        if let Link::OpenApi(link) = &server.link {
            return link.call(&self.definition.remote, &call.request).await;
        }
        let request = Request {
            method: "tools/call",
            params: Params::Call { name: &self.definition.remote, arguments: &call.request.input },
            header_params: &self.definition.header_params,
            repeatable: self.definition.repeatable,
        };
        match server.converse(&request, call).await? {
            Said::Result(result) => {
                let config = &server.config;
                let rules = Rules { clean: config.clean_results, keep: config.references };
                let size = result.get().len();
                strip::aside(size, || outcome::read(&server.name, result, rules))
            }
            Said::NeedsInput(question) => Ok(interim(question, Reply::NeedsInput)),
            Said::Task(task) => Ok(interim(task, Reply::Pending)),
        }
    }
}

/// A reply that is no answer yet, in the form in which the server gave it.
fn interim(native: Value, reply: Reply) -> Output {
    let native = Arc::new(native);
    Output { data: Arc::clone(&native), native: Some(native), reply, ..Output::new(Value::Null) }
}

#[async_trait]
impl Tool for UpstreamTool {
    fn descriptor(&self) -> &Descriptor {
        &self.definition.descriptor
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn pinning(&self) -> Option<Pinning<'_>> {
        let config = &self.server.config;
        // A document in a file is the operator's own, as a toolpack is.
        let own = config.document.as_deref().is_some_and(|place| !is_url(place));
        let pin = if own { Pin::Off } else { config.pin };
        let (server, tool) = (self.server.name.as_str(), self.remote());
        let announced = config.is_announced();
        let first_use = pin == Pin::FirstUse;
        (pin != Pin::Off).then_some(Pinning { server, tool, first_use, announced })
    }

    fn references(&self) -> bool {
        self.server.config.references
    }

    fn streams(&self) -> bool {
        matches!(self.server.link, Link::Http(_))
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        tokio::select! {
            biased;
            result = self.call(call) => result,
            () = call.request.cancel.cancelled() => {
                Err(Failure::new(Code::Unavailable, "the caller cancelled the call"))
            }
        }
    }
}
