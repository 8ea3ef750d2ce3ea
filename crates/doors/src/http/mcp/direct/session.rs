//! The short way within a session of a client before 2026-07-28. The library answers each call there by a stream of
//! events, for which it keeps a task and the events; a plain call that is soon over is answered by one JSON document.
//! A tool that was slow once goes the library's way from then on: its streams can be taken up again where they broke.

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
use serde::Deserialize;
use serde_json::value::RawValue;
use strip::runs::RunOf;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

use super::super::{McpDoor, SESSION_ID};
use super::{Answer, CALL, CallParams, Message, asked, only, written};
use crate::mcp;

/// For so long the head of an answer is held back; what takes longer is answered by a stream, so that its client sees
/// that somebody is there.
const QUICK: Duration = Duration::from_millis(100);

/// A client does not wait for an answer any more.
#[derive(Deserialize)]
struct Cancelled<'a> {
    method: &'a str,
    #[serde(borrow)]
    params: Which<'a>,
}

#[derive(Deserialize)]
struct Which<'a> {
    #[serde(borrow, rename = "requestId")]
    id: &'a RawValue,
}

/// Answers a call, or takes note of one that is cancelled.
pub(super) async fn answer(
    door: &McpDoor,
    parts: &Parts,
    body: &[u8],
    principal: &Arc<Principal>,
) -> Option<Response> {
    let session = only(&parts.headers, SESSION_ID)?;
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
    let CallParams { name, arguments, meta } = &message.params;
    let core = &door.core;
    if !message.is_plain(CALL)
        || meta.version.is_some()
        || meta.capabilities.is_some()
        // Its messages would go the long way.
        || core.strip().servers().shelf().has("logging")
        || !auth::scope::covers(principal, auth::scope::TOOLS_CALL)
    {
        return None;
    }
    let version = only(&parts.headers, "mcp-protocol-version")?;
    let trace: TraceId = parts.extensions.get().copied().unwrap_or_else(TraceId::random);
    let token = || core.strip().call_token(trace);
    let passing = door.sessions.pass(session, version, name, message.id.get(), token)?;
    let run = RunOf::Session(session.into());
    let mut call = match asked(parts, (name, arguments.clone()), meta, principal, run) {
        Ok(call) => call,
        Err(unclear) => return Some(written(message.id, Err(unclear))),
    };
    call.cancel = passing.cancel.clone();
    let core = Arc::clone(core);
    // In these revisions a client that loses its connection has not cancelled anything.
    let mut work = tokio::spawn(async move {
        let mut answered = mcp::call(&core, call, false).await;
        drop(passing);
        if let Ok(result) = &mut answered {
            // A word of later revisions.
            result.result_type = None;
        }
        answered
    });
    Some(match timeout(QUICK, &mut work).await {
        Ok(done) => written(message.id, finished(done)),
        Err(_) => {
            door.sessions.note_slow(name);
            streamed(message.id.to_owned(), work)
        }
    })
}

type Answered = Result<CallToolResult, ErrorData>;

fn finished(done: Result<Answered, JoinError>) -> Answered {
    done.unwrap_or_else(|_| {
        tracing::error!("a tool call's handler panicked");
        Err(ErrorData::internal_error("the gateway failed on this call", None))
    })
}

/// An answer that comes when it is there, and signs of life until then.
fn streamed(id: Box<RawValue>, work: JoinHandle<Answered>) -> Response {
    let answer = async move {
        let (result, error) = match finished(work.await) {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        let answer = Answer { jsonrpc: "2.0", id: &id, result, error };
        let text = serde_json::to_string(&answer).unwrap_or_default();
        Ok::<_, Infallible>(Event::default().event("message").data(text))
    };
    Sse::new(stream::once(answer)).keep_alive(KeepAlive::default()).into_response()
}
