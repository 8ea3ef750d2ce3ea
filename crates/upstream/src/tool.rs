use std::sync::Arc;

use async_trait::async_trait;
use files::InlineOverrides;
use proto::{Code, Descriptor, Failure, ToolId};
use serde_json::Value;
use server_entry::{Pin, is_url};
use strip::catalog::Pinning;
use strip::{Job, Output, Reply, Tool};

use crate::conversation::ServerReply;
use crate::definition::Definition;
use crate::era::Era;
use crate::outcome::{self, Rules};
use crate::rpc::{Params, RpcRequest};
use crate::server::Server;
use crate::transport::Transport;
use crate::{fault, tasks, unanswerable};

/// A tool of a server.
pub(crate) struct UpstreamTool {
    definition: Definition,
    /// As it was listed, to notice changes.
    listed: Arc<Value>,
    server: Arc<Server>,
    /// Changes with the server's command or URLs.
    revision: u64,
}

impl UpstreamTool {
    pub(crate) fn new(definition: Definition, listed: Arc<Value>, server: Arc<Server>) -> Self {
        let revision = server.config.location_number();
        Self { definition, listed, server, revision }
    }

    pub(crate) fn id(&self) -> &ToolId {
        &self.definition.descriptor.id
    }

    /// The server's own name for it.
    pub(crate) fn remote(&self) -> &str {
        &self.definition.remote
    }

    /// The definition as it was listed.
    pub(crate) fn listed(&self) -> &Value {
        &self.listed
    }

    pub(crate) fn is_defined_by(&self, listed: &Arc<Value>) -> bool {
        Arc::ptr_eq(&self.listed, listed) || self.listed == *listed
    }

    /// Whether the gateway runs the tool as a task, because the caller gets no tasks of this server.
    fn runs_as_task(&self, job: &Job) -> bool {
        let passed_on = || {
            let client = job.client.as_ref();
            self.server.transport.era() == Some(Era::Modern)
                && client.is_some_and(|client| tasks::are_taken_by(&**client))
        };
        self.definition.requires_task && !passed_on()
    }

    async fn call(&self, job: &Job) -> Result<Output, Failure> {
        let server = &self.server;
        if let Transport::OpenApi(service) = &*server.transport {
            let personal = server.admit(job).await?;
            let (name, personal) = (&self.definition.remote, personal.as_deref());
            return service.call(name, job, personal).await;
        }
        let params = Params::Call { name: &self.definition.remote, arguments: &job.input };
        let request = RpcRequest {
            header_params: &self.definition.header_params,
            repeatable: self.definition.repeatable,
            as_task: self.runs_as_task(job),
            ..RpcRequest::for_job("tools/call", params, job)
        };
        let refused = server.context.refused_questions();
        let replied = match server.converse(request, job).await {
            Ok(ServerReply::Result(result)) => {
                let config = &server.config;
                let rules = Rules { clean: config.clean_results, keep: config.references.large };
                let size = result.get().len();
                strip::run_blocking(size, || outcome::read(&server.name, result, rules))
            }
            Ok(ServerReply::NeedsInput(question)) => Ok(interim(question, Reply::NeedsInput)),
            Ok(ServerReply::Task(task)) => Ok(interim(task, Reply::Pending)),
            Err(failure) => Err(failure),
        };
        replied.map_err(|failure| self.explain(job, refused, failure))
    }

    /// The failure of a call, which may be due to what the caller's client cannot do.
    fn explain(&self, job: &Job, refused: u64, failure: Failure) -> Failure {
        let (server, client) = (&self.server, job.client.as_deref());
        let is_answer =
            failure.native.is_some() || matches!(failure.code, Code::Internal | Code::InvalidInput);
        if is_answer && server.context.refused_questions() > refused {
            return unanswerable::question(&server.name, Some(failure));
        }
        if fault::states_code(&failure) {
            // It knows the tool: an unknown one is an error of the protocol for servers of the kit.
            return failure;
        }
        unanswerable::of_hidden_tool(&server.name, self.remote(), client, failure)
    }
}

/// An interim reply, as the server sent it.
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
        // A document in a file is trusted like a toolpack.
        let own = config.document.as_deref().is_some_and(|document| !is_url(document));
        let pin = if own { Pin::Off } else { config.pin };
        let (server, tool) = (self.server.name.as_str(), self.remote());
        let announced = config.is_announced();
        let first_use = pin == Pin::FirstUse;
        let listed = Some(&*self.listed);
        (pin != Pin::Off).then_some(Pinning { server, tool, first_use, announced, listed })
    }

    fn references(&self) -> bool {
        self.server.config.references.large
    }

    fn inline_limits(&self) -> InlineOverrides {
        self.server.config.references.inline
    }

    /// A write of a service has taken effect once it was answered, whatever its document says of the answer.
    fn keeps_unfit_answers(&self) -> bool {
        matches!(*self.server.transport, Transport::OpenApi(_))
            && self.definition.descriptor.side_effecting()
    }

    fn streams(&self) -> bool {
        matches!(*self.server.transport, Transport::Http(_))
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        tokio::select! {
            biased;
            result = self.call(job) => result,
            () = job.cancel().cancelled() => {
                Err(Failure::new(Code::Unavailable, "the caller cancelled the call"))
            }
        }
    }
}
