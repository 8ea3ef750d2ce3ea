//! What the strip knows of one server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::identity::{ClientIdentity, InstanceKey};
use super::owners::Claims;
use crate::{Job, Output};
use proto::Failure;

/// What a server is asked for, other than a call of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ServerRequest<'a> {
    /// A request of a client, by its method.
    OfClient(&'a str),
    /// A resource that becomes a file of the caller.
    File,
}

impl<'a> ServerRequest<'a> {
    pub(crate) fn method(self) -> &'a str {
        match self {
            Self::OfClient(method) => method,
            Self::File => "resources/read",
        }
    }
}

/// A server that offers more than tools.
#[async_trait]
pub trait Server: Send + Sync + 'static {
    fn name(&self) -> &str;

    /// Its latest lists of prompts and resources.
    fn offering(&self) -> Arc<Offering>;

    /// The time that one request to it may take, if the operator set one.
    fn timeout(&self) -> Option<Duration>;

    /// Sends a request; the job's input are its parameters, the output's data is the whole result.
    async fn request(&self, method: &str, job: &Job) -> Result<Output, Failure>;

    /// Reads a resource for another server; long base64 in it is in the output's `blobs`.
    async fn read_resource(&self, job: &Job) -> Result<Output, Failure> {
        self.request("resources/read", job).await
    }

    /// The instance of the server that serves only this caller; none if the caller uses the one that the gateway lists
    /// from.
    fn instance(&self, _client: &ClientIdentity) -> Option<InstanceKey> {
        None
    }

    /// Sets the resources, by the server's own URIs, whose changes are subscribed to: at the instance of a client, or at
    /// the one that the gateway lists from.
    fn watch(&self, client: Option<&ClientIdentity>, uris: BTreeSet<String>);
}

/// The lists of one server, each entry as the server wrote it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offering {
    pub prompts: Vec<Arc<Value>>,
    pub resources: Vec<Arc<Value>>,
    pub templates: Vec<Arc<Value>>,
    /// The URIs of the apps that its tools name; servers need not list them.
    pub apps: Vec<String>,
    /// The server's capabilities, as it states them.
    pub capabilities: Value,
    /// When it first offered what it lists, and what it listed before.
    pub claims: Claims,
    /// Whether its name is the prefix of its prompts' names.
    pub prefix: bool,
    /// Whether the server registered itself: servers that the operator named own what both list.
    pub announced: bool,
}
