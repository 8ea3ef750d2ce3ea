//! `/agents/{agent}/mcp`: the MCP routes for one agent. The handlers are the same as for `/mcp`, with that agent as the
//! caller.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Router};
use http::{StatusCode, Uri};
use proto::{Code, Failure, Principal, TraceId};
use tower::ServiceExt as _;

use super::mcp::errors;
use super::state::Shared;
use super::{reply, routes, unrouted};

/// The routes that are served under an agent's name.
#[derive(Clone)]
pub(super) struct AgentRoutes {
    pub(super) shared: Shared,
    pub(super) routes: Router,
}

pub(super) async fn serve(
    State(agents): State<AgentRoutes>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let Some((agent, route)) = split(&parts.uri) else {
        return unrouted::missing(&agents.shared, &parts.method, &parts.uri, &parts.headers, trace);
    };
    // The same answer for an agent that does not exist and one that the caller may not act as.
    let known = agents.shared.strip.agents().agents.contains_key(agent);
    let Some(principal) = known.then(|| auth::as_agent(&principal, agent)).flatten() else {
        return no_such_agent(agent, route.path() == routes::MCP, trace);
    };
    // A new request without the extensions of the outer one, such as its path parameters.
    let mut inner = Request::new(body);
    *inner.method_mut() = parts.method;
    *inner.uri_mut() = route;
    *inner.version_mut() = parts.version;
    *inner.headers_mut() = parts.headers;
    inner.extensions_mut().insert(principal);
    inner.extensions_mut().insert(trace);
    agents.routes.oneshot(inner).await.into_response()
}

/// The agent's name, and the path that follows it if agents have that route.
fn split(uri: &Uri) -> Option<(&str, Uri)> {
    let whole = uri.path_and_query()?.as_str();
    let (agent, rest) = whole.strip_prefix("/agents/")?.split_once('/')?;
    let route: Uri = format!("/{rest}").parse().ok()?;
    let below = route.path().strip_prefix(routes::MCP)?;
    (below.is_empty() || below.starts_with('/')).then_some((agent, route))
}

fn no_such_agent(agent: &str, speaks_mcp: bool, trace: TraceId) -> Response {
    let shown: String = agent.chars().take(100).collect();
    let message = format!("there is no agent `{shown}`");
    if speaks_mcp {
        return errors::refuse(StatusCode::NOT_FOUND, &message);
    }
    reply::refuse_as_usual(&Failure::new(Code::NotFound, message), trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mcp_routes_are_served_under_an_agents_name() {
        let read = |path: &str| {
            let uri: Uri = path.parse().expect("a path");
            split(&uri).map(|(agent, route)| (agent.to_owned(), route.to_string()))
        };
        let found = |agent: &str, route: &str| Some((agent.to_owned(), route.to_owned()));
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
