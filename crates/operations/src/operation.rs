use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Caller, OperationError, input_schema, output_schema};

/// One thing that a gateway can be asked to do: the row of the table, and the work behind it.
pub trait Operation: 'static {
    /// The method on the sockets of the data folder.
    const NAME: &'static str;
    /// One line for OpenAPI and the list of routes.
    const SUMMARY: &'static str;
    /// The sockets that have the method.
    const AUDIENCE: Audience = Audience::Operator;
    /// The REST route; without it, the operation cannot be reached over HTTP.
    const ROUTE: Option<Route> = None;

    /// What the operation works on.
    type Service: Send + Sync + 'static;
    type Input: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
    type Output: Serialize + DeserializeOwned + JsonSchema + Send + 'static;

    /// Does the work.
    fn run(
        service: Arc<Self::Service>,
        caller: Caller,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, OperationError>> + Send;
}

/// The input of operations that take none.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct NoInput {}

/// The sockets of the data folder on which an operation is available. No agent may use it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Only the operator's socket has it.
    Operator,
    /// Every local session of the user has it.
    LocalUser,
}

/// The HTTP methods of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Delete,
}

impl Method {
    /// The method's name in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// How the output is sent over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// As it is.
    Plain,
    /// As the data of an envelope.
    Envelope,
}

/// Where an operation is served over HTTP. Fields of the input that the path names are taken from there; the others from
/// the query, or with POST from the JSON body.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    /// The scope that a caller needs.
    pub scope: &'static str,
    /// The `operationId` in OpenAPI.
    pub id: &'static str,
    pub reply: Reply,
    /// The largest body that is read.
    pub max_body_bytes: usize,
    /// Whether the header `Idempotency-Key` counts.
    pub takes_key: bool,
    /// The tool that it calls, or what else it makes work. A request that is refused before that leaves an audit row about
    /// this, and counts against the rate.
    pub calls: Option<&'static str>,
}

/// The largest body of most operations.
const MAX_BODY_BYTES: usize = 128 * 1024;

impl Route {
    /// A route that reads.
    pub const fn get(path: &'static str, scope: &'static str, id: &'static str) -> Self {
        Self {
            method: Method::Get,
            path,
            scope,
            id,
            reply: Reply::Plain,
            max_body_bytes: MAX_BODY_BYTES,
            takes_key: false,
            calls: None,
        }
    }

    /// A route that changes something.
    pub const fn post(path: &'static str, scope: &'static str, id: &'static str) -> Self {
        Self { method: Method::Post, ..Self::get(path, scope, id) }
    }

    /// A route that removes something.
    pub const fn delete(path: &'static str, scope: &'static str, id: &'static str) -> Self {
        Self { method: Method::Delete, ..Self::get(path, scope, id) }
    }

    /// The same route, with its output in an envelope.
    pub const fn enveloped(self) -> Self {
        Self { reply: Reply::Envelope, ..self }
    }

    /// The same route, for requests with an idempotency key.
    pub const fn with_key(self) -> Self {
        Self { takes_key: true, ..self }
    }

    /// The same route, which calls this tool.
    pub const fn calling(self, tool: &'static str) -> Self {
        Self { calls: Some(tool), ..self }
    }

    /// The same route for larger bodies.
    pub const fn with_max_body(self, bytes: usize) -> Self {
        Self { max_body_bytes: bytes, ..self }
    }
}

/// An operation's facts, without its types.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub summary: &'static str,
    pub audience: Audience,
    pub route: Option<Route>,
    /// The JSON schema of the input.
    pub input: fn() -> Value,
    /// The JSON schema of the output.
    pub output: fn() -> Value,
}

impl Row {
    /// The row of an operation.
    pub const fn of<O: Operation>() -> Self {
        Self {
            name: O::NAME,
            summary: O::SUMMARY,
            audience: O::AUDIENCE,
            route: O::ROUTE,
            input: input_schema::<O::Input>,
            output: output_schema::<O::Output>,
        }
    }
}
