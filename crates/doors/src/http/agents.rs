//! `/agents/{agent}/mcp`: an agent's own door. Behind it stand the same handlers as behind `/mcp`, which find the caller
//! to be that agent.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Router};
use http::{StatusCode, Uri};
use proto::{Code, Principal, TraceId};
use strip::Failure;
use tower::ServiceExt as _;

use super::{Shared, mcp, reply, routes};

/// Where agents enter, and what they find there.
#[derive(Clone)]
pub(super) struct Entrance {
    pub(super) shared: Shared,
    pub(super) doors: Router,
}

pub(super) async fn enter(
    State(entrance): State<Entrance>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let Some((agent, door)) = split(&parts.uri) else {
        return routes::missing(&entrance.shared, &parts.method, &parts.uri, trace);
    };
    // Who may not come as this agent learns as little as who asks for one that does not exist.
    let known = entrance.shared.strip.agents().agents.contains_key(agent);
    let Some(principal) = known.then(|| auth::as_agent(&principal, agent)).flatten() else {
        return no_such_agent(agent, door.path() == routes::MCP, trace);
    };
    // A new request: what the outer route found in the path is no business of the inner one.
    let mut inner = Request::new(body);
    *inner.method_mut() = parts.method;
    *inner.uri_mut() = door;
    *inner.version_mut() = parts.version;
    *inner.headers_mut() = parts.headers;
    inner.extensions_mut().insert(principal);
    inner.extensions_mut().insert(trace);
    entrance.doors.oneshot(inner).await.into_response()
}

/// The agent's name, and the path that follows it if that is one of an agent's doors.
fn split(uri: &Uri) -> Option<(&str, Uri)> {
    let whole = uri.path_and_query()?.as_str();
    let (agent, rest) = whole.strip_prefix("/agents/")?.split_once('/')?;
    let door: Uri = format!("/{rest}").parse().ok()?;
    let below = door.path().strip_prefix(routes::MCP)?;
    (below.is_empty() || below.starts_with('/')).then_some((agent, door))
}

fn no_such_agent(agent: &str, speaks_mcp: bool, trace: TraceId) -> Response {
    let shown: String = agent.chars().take(100).collect();
    let message = format!("there is no agent `{shown}`");
    if speaks_mcp {
        return mcp::refuse(StatusCode::NOT_FOUND, &message);
    }
    reply::refuse_as_usual(&Failure::new(Code::NotFound, message), trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_doors_of_an_agent_stand_below_its_name() {
        let read = |path: &str| {
            let uri: Uri = path.parse().expect("a path");
            split(&uri).map(|(agent, door)| (agent.to_owned(), door.to_string()))
        };
        let found = |agent: &str, door: &str| Some((agent.to_owned(), door.to_owned()));
        assert_eq!(read("/agents/a/mcp"), found("a", "/mcp"));
        assert_eq!(
            read("/agents/a/mcp/tool/x%2Fy?verify=1"),
            found("a", "/mcp/tool/x%2Fy?verify=1")
        );
        for path in ["/agents/a", "/agents/a/", "/agents/a/mcpx", "/agents/a/healthz", "/agents//a"]
        {
            assert_eq!(read(path), None, "{path}");
        }
        assert_eq!(read("/agents/a/agents/b/mcp"), None, "an agent does not change into another");
        assert_eq!(read("/agents//mcp"), found("", "/mcp"), "which no agent is called");
    }
}
