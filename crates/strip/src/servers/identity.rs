//! Which caller and client a request is from, as far as servers distinguish them.

use std::sync::Arc;

use proto::{Digest, Principal};
use serde_json::{Map, Value};

use crate::runs::RunOf;
use crate::{AskMode, Client, Job, Request};

/// The caller of a request and its client, as far as they decide which instance of a server serves it.
#[derive(Clone, Debug)]
pub struct ClientIdentity {
    pub principal: Arc<Principal>,
    /// The client's capabilities, as MCP writes them.
    pub capabilities: Map<String, Value>,
    pub asking: AskMode,
    /// The session of the client, if it has one.
    pub session: Option<Arc<str>>,
}

impl ClientIdentity {
    /// The caller and client of a request.
    pub fn of(request: &Request) -> Self {
        Self::new(&request.principal, request.client.as_deref(), &request.run)
    }

    /// The caller and client of a call.
    pub(crate) fn of_job(job: &Job) -> Self {
        Self::new(&job.request().principal, job.client.as_deref(), &job.run)
    }

    fn new(principal: &Arc<Principal>, client: Option<&dyn Client>, run: &RunOf) -> Self {
        Self {
            principal: Arc::clone(principal),
            capabilities: client.map(|client| client.capabilities().clone()).unwrap_or_default(),
            asking: client.map_or(AskMode::Rounds, |client| client.ask_mode()),
            session: run.session().map(Into::into),
        }
    }
}

/// Identifies one caller's instance of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InstanceKey(pub Digest);
