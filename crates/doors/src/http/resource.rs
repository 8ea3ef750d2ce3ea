//! Protected resource metadata for clients that need a token (RFC 9728).

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode, Uri};
use proto::TraceId;

use super::state::Shared;
use super::{reply, routes, unrouted};

/// The metadata of the gateway, or of the route whose path follows the well-known one.
pub(super) async fn metadata(
    State(shared): State<Shared>,
    Extension(trace): Extension<TraceId>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let door = uri.path().strip_prefix(routes::RESOURCE).unwrap_or_default();
    let metadata = is_door(door).then(|| shared.access.metadata(door)).flatten();
    match metadata {
        Some(metadata) => reply::json(StatusCode::OK, &metadata),
        None => unrouted::missing(&shared, &Method::GET, &uri, &headers, trace),
    }
}

/// The path of the protected resource that a request belongs to: MCP clients look up the metadata of their URL.
pub(super) fn door_of(path: &str) -> &str {
    if is_door(path) { path } else { "" }
}

fn is_door(path: &str) -> bool {
    let agent = path.strip_prefix("/agents/").and_then(|rest| rest.strip_suffix(routes::MCP));
    let plain = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
    };
    path.is_empty() || path == routes::MCP || agent.is_some_and(plain)
}
