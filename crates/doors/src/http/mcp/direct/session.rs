//! Plain calls within a session of a client before 2026-07-28. The library answers each of them with an event stream, for
//! which it keeps a task and the events; here a call that ends soon is answered with one JSON document. Once a tool was
//! slow, its calls go to the library, because a client can resume the library's streams after a lost connection.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::StatusCode;
use http::request::Parts;
use proto::{Principal, TraceId};
use rmcp::model::{CallToolResult, ErrorData};
use runs::RunOf;
use serde::Deserialize;
use serde_json::value::RawValue;
use strip::AskMode;
use strip::servers::ClientIdentity;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

use super::LIST;
use super::message::{Answer, CALL, CallParams, Message, only, write_answer};
use crate::http::mcp::door::{McpDoor, SESSION_ID};
use crate::http::reply;
use crate::mcp::{self, ContentKinds};

/// How long the head of an answer is held back. A call that takes longer is answered with an event stream, whose comments
/// keep the connection alive.
const QUICK: Duration = Duration::from_millis(100);

/// The notification that a client no longer waits for an answer.
#[derive(Deserialize)]
struct Cancelled<'a> {
    method: &'a str,
    #[serde(borrow)]
    params: CancelledParams<'a>,
}

#[derive(Deserialize)]
struct CancelledParams<'a> {
    #[serde(borrow, rename = "requestId")]
    id: &'a RawValue,
}

/// Answers a call, or cancels one.
pub(super) async fn answer(
    door: &McpDoor,
    parts: &Parts,
    body: &[u8],
    principal: &Arc<Principal>,
) -> Option<Response> {
    let session = only(&parts.headers, SESSION_ID)?;
    if let Some(listed) = list(door, parts, body, principal, session) {
        return Some(listed);
    }
    let Ok(message) = serde_json::from_slice::<Message<'_, CallParams<'_>>>(body) else {
        let said: Cancelled<'_> = serde_json::from_slice(body).ok()?;
        let known = said.method == "notifications/cancelled"
            && door.sessions.cancel(session, said.params.id.get());
        let accepted = || {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::ACCEPTED;
            response
        };
        return known.then(accepted);
    };
    let CallParams { name, meta, .. } = &message.params;
    let state = &door.state;
    if !message.is_plain(CALL)
        || meta.version.is_some()
        || meta.capabilities.is_some()
        // Log messages for the client need the library.
        || state.strip().servers().listing().has("logging")
        || !auth::scope::covers(principal, auth::scope::TOOLS_CALL)
    {
        return None;
    }
    let version = only(&parts.headers, "mcp-protocol-version")?;
    let trace: TraceId = parts.extensions.get().copied().unwrap_or_else(TraceId::random);
    let token = || state.strip().call_token(trace);
    let (run, name) = (RunOf::Session(session.into()), *name);
    let mut request = message.params.into_request(parts, principal, run).ok()?;
    let direct = door.sessions.begin_direct(session, version, name, message.id.get(), token)?;
    request.cancel = direct.cancel.clone();
    let kinds = ContentKinds::of(Some(version));
    let state = Arc::clone(state);
    // In these revisions a lost connection does not cancel a call, so it runs in its own task.
    let mut work = tokio::spawn(async move {
        let mut answered = mcp::call(&state, request, kinds).await;
        drop(direct);
        if let Ok(result) = &mut answered {
            // A field of later revisions.
            result.result_type = None;
        }
        answered
    });
    Some(match timeout(QUICK, &mut work).await {
        Ok(done) => write_answer(message.id, finished(done)),
        Err(_) => {
            door.sessions.note_slow(name);
            stream_answer(message.id.to_owned(), work)
        }
    })
}

/// A request for a list of tools. It may have any `_meta`, which does not change the answer in these revisions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParams<'a> {
    cursor: Option<&'a str>,
    #[serde(rename = "_meta")]
    meta: Option<ListMeta>,
}

#[derive(Deserialize)]
struct ListMeta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<serde::de::IgnoredAny>,
}

/// Lists the tools with the fields that the library's types do not have.
fn list(
    door: &McpDoor,
    parts: &Parts,
    body: &[u8],
    principal: &Arc<Principal>,
    session: &str,
) -> Option<Response> {
    let message: Message<'_, Option<ListParams<'_>>> = serde_json::from_slice(body).ok()?;
    let (cursor, meta) =
        message.params.as_ref().map_or((None, None), |p| (p.cursor, p.meta.as_ref()));
    if !message.is_plain(LIST) || meta.is_some_and(|meta| meta.version.is_some()) {
        return None;
    }
    let version = only(&parts.headers, "mcp-protocol-version")?;
    let capabilities = door.sessions.capabilities(session, version)?;
    let client = ClientIdentity {
        principal: Arc::clone(principal),
        capabilities,
        asking: AskMode::Direct,
        session: Some(session.into()),
    };
    let result = Some(door.state.legacy_page(&client, cursor)?);
    Some(reply::json(
        StatusCode::OK,
        &Answer { jsonrpc: "2.0", id: message.id, result, error: None },
    ))
}

type Answered = Result<CallToolResult, ErrorData>;

fn finished(done: Result<Answered, JoinError>) -> Answered {
    done.unwrap_or_else(|_| {
        tracing::error!("a tool call's handler panicked");
        Err(ErrorData::internal_error("the gateway failed on this call", None))
    })
}

/// An event stream with comments until the answer is there.
fn stream_answer(id: Box<RawValue>, work: JoinHandle<Answered>) -> Response {
    let answer = async move {
        let (result, error) = match finished(work.await) {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        let answer = Answer { jsonrpc: "2.0", id: &id, result, error };
        // cannot fail: the keys of all maps in an answer are texts.
        let text = serde_json::to_string(&answer).unwrap_or_default();
        Ok::<_, Infallible>(Event::default().event("message").data(text))
    };
    Sse::new(stream::once(answer)).keep_alive(KeepAlive::default()).into_response()
}
