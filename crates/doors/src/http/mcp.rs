//! `/mcp`. rmcp implements the protocol in all its revisions. These files bind sessions to their owners, answer plain
//! calls directly, and turn rmcp's plain-text refusals into JSON-RPC errors that clients can read.

mod direct;
pub(super) mod door;
pub(super) mod errors;
mod library;
mod priming;
mod single_answer;
mod stream_notices;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{Method, StatusCode};
use proto::{Code, Failure, Principal, TraceId};
use strip::{Door, RefusedRequest};

use super::body::BodyFault;
use super::state::Shared;
use super::{reply, routes, scopes};
use crate::exact::check_integers;
use door::SESSION_ID;
use library::{LibraryRequest, RequestContext};
pub(crate) use stream_notices::StreamNotices;

/// Serves a request of the router.
pub(super) async fn serve(State(shared): State<Shared>, request: Request) -> Response {
    serve_admitted(&shared, request).await
}

/// Serves an admitted request.
pub(super) async fn serve_admitted(shared: &Shared, request: Request) -> Response {
    let door = &shared.mcp;
    let (parts, body) = request.into_parts();
    let Some(principal) = parts.extensions.get::<Arc<Principal>>().cloned() else {
        return errors::refuse(StatusCode::UNAUTHORIZED, "the request was not admitted");
    };
    let session =
        parts.headers.get(SESSION_ID).map(|id| id.to_str().unwrap_or_default().to_owned());
    if session.as_ref().is_some_and(|id| !door.sessions.owned_by(id, &principal)) {
        return errors::no_session();
    }
    if parts.method == Method::DELETE
        && let Some(id) = &session
    {
        door.sessions.end(id).await;
        // The official SDKs treat other statuses, such as rmcp's 202, as a failure.
        return StatusCode::NO_CONTENT.into_response();
    }
    let trace = parts.extensions.get().copied().unwrap_or_else(TraceId::random);
    let bytes = match parts.method {
        Method::POST => shared.bodies.read_json(&parts, body, shared.max_body()).await,
        _ => Ok(Bytes::new()),
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(fault) => {
            let failure = shared.refuse_body(&fault, routes::MCP, &principal, trace).await;
            let status = match fault {
                // The caller is over its rate.
                _ if failure.code == Code::RateLimit => reply::usual_status(&failure),
                BodyFault::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
                BodyFault::TooSlow(_) | BodyFault::BelowRate => StatusCode::REQUEST_TIMEOUT,
                _ => reply::usual_status(&failure),
            };
            return errors::refuse_with(status, &failure);
        }
    };

    if let Err(failure) = check_integers(&bytes) {
        return errors::refuse_with(StatusCode::BAD_REQUEST, &failure);
    }
    if let Some(about) = scopes::called_without_scope(&principal, &bytes) {
        let missing = auth::Refusal::MissingScope;
        let failure = Failure::new(Code::Denied, missing.to_string());
        let caller = Arc::clone(&principal);
        let request =
            RefusedRequest { about: &about, principal: caller, door: Door::McpHttp, trace };
        // Also over the rate, the client needs the challenge.
        Box::pin(shared.strip.record_refusal(request, failure)).await;
        let refused = errors::refuse(StatusCode::FORBIDDEN, &missing.to_string());
        let (path, scope) = (parts.uri.path(), Some(auth::scope::TOOLS_CALL));
        return scopes::challenged(refused, &shared.access, path, &missing, scope);
    }

    if parts.method == Method::POST
        && let Some(response) = direct::answer(door, &parts, &bytes, &principal).await
    {
        return response;
    }
    let context = RequestContext { shared, principal, trace };
    let request = LibraryRequest { context, parts, bytes, session };
    // Boxed to keep the future of plain calls small.
    Box::pin(request.answer()).await
}
