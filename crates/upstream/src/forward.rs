//! Prompts, resources, completions and tasks of a server: requests and results are forwarded unchanged.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use proto::{Code, Failure};
use serde_json::Value;
use strip::servers::{ClientIdentity, InstanceKey, Offering, Server as StripServer};
use strip::{Job, Output, Reply};

use crate::caller::Caller;
use crate::conversation::ServerReply;
use crate::error::TransportError;
use crate::rpc::{Params, RpcRequest, RpcResult};
use crate::server::Server;

/// Methods that change nothing.
const READERS: [&str; 4] = ["prompts/get", "resources/read", "completion/complete", "tasks/get"];

#[async_trait]
impl StripServer for Server {
    fn name(&self) -> &str {
        &self.name
    }

    fn offering(&self) -> Arc<Offering> {
        self.offering.load_full()
    }

    fn timeout(&self) -> Option<Duration> {
        self.config.timeout
    }

    async fn request(&self, method: &str, job: &Job) -> Result<Output, Failure> {
        let whole = self.forward(method, job, RpcResult::whole).await?;
        Ok(Output { blobs: None, ..whole })
    }

    async fn read_resource(&self, job: &Job) -> Result<Output, Failure> {
        self.forward("resources/read", job, |result| result.get().into()).await
    }

    fn instance(&self, client: &ClientIdentity) -> Option<InstanceKey> {
        let caller = self.own_instance_of(client)?;
        Some(caller.instance_key())
    }

    fn watch(&self, client: Option<&ClientIdentity>, uris: BTreeSet<String>) {
        let own = client.and_then(|client| Some((client, self.instance(client)?)));
        match own {
            Some((client, instance)) => self.context.instances.watch(instance, client, uris),
            None => {
                self.context.watched.send_replace(uris);
            }
        }
    }
}

impl Server {
    /// The caller by which a client's own process or session is known; none if it uses what the gateway lists from.
    fn own_instance_of(&self, client: &ClientIdentity) -> Option<Caller> {
        let caller = Caller::of_client(client, &self.config)?;
        self.transport.instance_of(&caller, !self.config.personal.is_empty())
    }

    /// Forwards a request; `text` decides whether extracted parts of the result are restored.
    async fn forward(
        &self,
        method: &str,
        job: &Job,
        text: fn(&RpcResult) -> Cow<'_, str>,
    ) -> Result<Output, Failure> {
        let Value::Object(params) = &*job.input else {
            return Err(Failure::new(Code::InvalidInput, "parameters are an object"));
        };
        let mut params = params.clone();
        if method.starts_with("tasks/") {
            self.signer.verify_task(&self.name, &job.request().principal, &mut params)?;
        }
        let request = RpcRequest {
            repeatable: READERS.contains(&method),
            ..RpcRequest::for_job(method, Params::Map(&params), job)
        };
        let reply = tokio::select! {
            biased;
            reply = self.converse(request, job) => reply?,
            () = job.cancel().cancelled() => {
                return Err(Failure::new(Code::Unavailable, "the caller cancelled the request"));
            }
        };
        let mut blobs = None;
        let (mut data, reply) = match reply {
            ServerReply::Result(answer) => {
                let result = serde_json::from_str(&text(&answer)).map_err(|why| {
                    TransportError::malformed(why.to_string()).failure(&self.name)
                })?;
                blobs = answer.blobs;
                (result, Reply::Done)
            }
            ServerReply::NeedsInput(question) => (question, Reply::NeedsInput),
            ServerReply::Task(task) => (task, Reply::Pending),
        };
        if method.starts_with("tasks/") {
            self.signer.sign_task(&self.name, &job.request().principal, &mut data);
        }
        Ok(Output { reply, blobs, ..Output::new(data) })
    }
}
