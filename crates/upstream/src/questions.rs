//! Requests of a server to the client (elicitation, sampling, roots): forwarded to the client that waits for the work.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use strip::{AskError, Client};

use crate::context::ServerContext;
use crate::rpc::QUESTION_CAPABILITIES;

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;

/// The reply to a server's request, once the client has answered.
pub(crate) fn answer(
    context: &ServerContext,
    id: &RawValue,
    method: &str,
    params: Option<&RawValue>,
    client: Option<&Arc<dyn Client>>,
) -> impl Future<Output = Bytes> + Send + 'static {
    let (id, method) = (id.to_owned(), method.to_owned());
    let client = client.cloned().filter(|client| can(&**client, &method));
    if client.is_none() && capability(&method).is_some() {
        context.note_refused_question();
    }
    let params = params.map_or(Ok(json!({})), |params| serde_json::from_str(params.get()));
    async move {
        let answer = match (client, params) {
            _ if method == "ping" => Ok(json!({})),
            (None, _) => Err(AskError::Unable),
            (Some(client), Ok(params)) => client.ask(&method, params).await,
            (Some(_), Err(error)) => {
                let message = format!("the params cannot be read: {error}");
                Err(AskError::Refused { code: INVALID_PARAMS, message })
            }
        };
        let message = match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(unasked) => json!({"jsonrpc": "2.0", "id": id, "error": error(unasked)}),
        };
        message.to_string().into()
    }
}

fn error(unasked: AskError) -> Value {
    let (code, message) = match unasked {
        AskError::Unable => (METHOD_NOT_FOUND, "the caller cannot be asked for this".to_owned()),
        AskError::Silent => (INTERNAL_ERROR, "the caller did not answer".to_owned()),
        AskError::Refused { code, message } => (code, message),
    };
    json!({"code": code, "message": message})
}

/// Whether a client declared the capability for this request.
pub(crate) fn can(client: &dyn Client, method: &str) -> bool {
    capability(method).is_some_and(|capability| client.capabilities().contains_key(capability))
}

/// Whether a client can be asked anything.
pub(crate) fn can_any(client: &dyn Client) -> bool {
    QUESTION_CAPABILITIES.iter().any(|can| client.capabilities().contains_key(*can))
}

/// The capability that a request needs.
fn capability(method: &str) -> Option<&'static str> {
    match method {
        "elicitation/create" => Some("elicitation"),
        "sampling/createMessage" => Some("sampling"),
        "roots/list" => Some("roots"),
        _ => None,
    }
}

/// Asks a client directly all questions of a modern server, one after the other so that a person can follow.
pub(crate) async fn ask_all(
    client: &dyn Client,
    requests: &Map<String, Value>,
) -> Result<Map<String, Value>, AskError> {
    let mut responses = Map::new();
    for (key, request) in requests {
        let method = request["method"].as_str().unwrap_or_default();
        if !can(client, method) {
            return Err(AskError::Unable);
        }
        let params = request.get("params").cloned().unwrap_or_else(|| json!({}));
        responses.insert(key.clone(), client.ask(method, params).await?);
    }
    Ok(responses)
}
