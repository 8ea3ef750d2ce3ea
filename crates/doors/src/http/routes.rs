//! The table of routes. A route that is not listed here is not served.

use auth::scope::{
    APPROVALS_READ, FILES_READ, FILES_WRITE, METRICS_READ, RUNS_READ, SERVERS_REGISTER, TOOLS_CALL,
    TOOLS_READ,
};
use operations::Row;

pub(super) const MCP: &str = "/mcp";
pub(super) const DISCOVER: &str = "/mcp/discover";
pub(super) const PROMPT: &str = "/mcp/prompt/{domain}/{name}/{major}";
pub(super) const TOOL: &str = "/mcp/tool/{*tool}";
pub(super) const SCHEMA: &str = "/mcp/schema/{*reference}";
/// An agent's own doors: each of those that begin with `/mcp`, under its name.
pub(super) const AGENT: &str = "/agents/{agent}/{*door}";
pub(super) const CALLS: &str = "/v1/calls";
/// What the audit row of a refused batch is about.
pub(super) const BATCH: &str = "calls";
pub(super) const SERVERS: &str = "/v1/servers";
pub(super) const SERVER: &str = "/v1/servers/{name}";
pub(super) const HEARTBEAT: &str = "/v1/servers/{name}/heartbeat";
pub(super) const FILES: &str = "/v1/files";
pub(super) const FILE_CONTENT: &str = "/v1/files/{id}/content";
pub(super) const FILE_TEXT: &str = "/v1/files/{id}/text";
pub(super) const UPLOADS: &str = "/v1/files/uploads";
pub(super) const UPLOAD: &str = "/v1/files/uploads/{id}";
pub(super) const APPROVAL_EVENTS: &str = "/v1/approvals/events";
pub(super) const WORKFLOW_EVENTS: &str = "/v1/workflows/{id}/events";
pub(super) const WORKFLOW_GRAPH: &str = "/v1/workflows/{id}/graph.svg";
pub(super) const APPROVAL_LINK: &str = "/approve/{token}";
pub(super) const OPENAPI: &str = "/openapi.json";
pub(super) const HEALTHZ: &str = "/healthz";
pub(super) const READYZ: &str = "/readyz";
pub(super) const METRICS: &str = "/metrics";
pub(super) const RESOURCE: &str = auth::METADATA_PATH;
pub(super) const RESOURCE_OF: &str = "/.well-known/oauth-protected-resource/{*path}";
pub(super) const OAUTH_LOGIN: &str = "/oauth/login";
pub(super) const OAUTH_CALLBACK: &str = "/oauth/callback";
pub(super) const OAUTH_CLIENT: &str = "/oauth/client.json";

/// Whether a path is an MCP door, of the gateway or of an agent, where errors are JSON-RPC errors.
pub(super) fn is_mcp(path: &str) -> bool {
    let of_agent = path.strip_prefix("/agents/").and_then(|rest| rest.split_once('/'));
    path == MCP || of_agent.is_some_and(|(_, door)| door == MCP.trim_start_matches('/'))
}

/// The rights that a route needs where callers need credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Anyone, by any name: a probe.
    Nothing,
    /// Anyone, but under the name of this server where that is checked.
    OurName,
    /// A caller with this scope.
    Scope(&'static str),
    /// A caller with this scope, to make something work. A request that is refused before that leaves an audit row, and
    /// counts against the rate.
    Call { scope: &'static str, calls: Calls },
    /// A caller with this scope, or the bearer of a link that the gateway signed; the handler checks it.
    LinkOr(&'static str),
    /// A browser that is signed in to the dashboard. Others are redirected to the sign-in page, and their forms are
    /// refused, as are forms that were not sent by our pages.
    Session,
}

/// What a route calls; audit rows of refused requests are about this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// The tool that its path names.
    ToolInPath,
    /// A tool, or what else it makes work.
    Named(&'static str),
}

/// One route of the HTTP door.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The methods that it takes.
    pub methods: &'static str,
    /// The pattern that it is served under.
    pub pattern: &'static str,
    /// The path as people read it.
    pub path: &'static str,
    /// Its purpose, for the list of routes.
    pub purpose: &'static str,
    /// The rights that it needs.
    pub needs: Needs,
}

const fn get(
    pattern: &'static str,
    path: &'static str,
    purpose: &'static str,
    needs: Needs,
) -> Route {
    Route { methods: "GET", pattern, path, purpose, needs }
}

/// A route for servers, which bring a registration token.
const fn registration(
    methods: &'static str,
    pattern: &'static str,
    purpose: &'static str,
) -> Route {
    Route { methods, pattern, path: pattern, purpose, needs: Needs::Scope(SERVERS_REGISTER) }
}

/// A route about files.
const fn files(
    methods: &'static str,
    pattern: &'static str,
    purpose: &'static str,
    scope: &'static str,
) -> Route {
    Route { methods, pattern, path: pattern, purpose, needs: Needs::Scope(scope) }
}

/// The routes that are served by hand-written code; the operations table has the others.
pub const ROUTES: &[Route] = &[
    Route {
        methods: "POST, GET, DELETE",
        pattern: MCP,
        path: MCP,
        purpose: "Model Context Protocol, streamable HTTP",
        // Calls that change something need more, which is checked when the message is read.
        needs: Needs::Scope(TOOLS_READ),
    },
    Route {
        methods: "POST",
        pattern: TOOL,
        path: "/mcp/tool/{toolName}",
        purpose: "call a tool; the body is its input, the answer an envelope",
        needs: Needs::Call { scope: TOOLS_CALL, calls: Calls::ToolInPath },
    },
    get(DISCOVER, DISCOVER, "tools, prompts and health", Needs::Scope(TOOLS_READ)),
    get(PROMPT, PROMPT, "a prompt's body and spec", Needs::Scope(TOOLS_READ)),
    get(
        SCHEMA,
        "/mcp/schema/{tool@major}/{input|output}",
        "a tool's JSON Schema",
        Needs::Scope(TOOLS_READ),
    ),
    Route {
        methods: "POST, GET, DELETE",
        pattern: AGENT,
        path: "/agents/{agent}/mcp",
        purpose: "the same for an agent, as are the routes below it",
        needs: Needs::Scope(TOOLS_READ),
    },
    Route {
        methods: "POST",
        pattern: CALLS,
        path: CALLS,
        purpose: "a batch of calls, side by side where they do not depend on each other",
        needs: Needs::Call { scope: TOOLS_CALL, calls: Calls::Named(BATCH) },
    },
    registration("POST", SERVERS, "a server registers itself"),
    registration("POST", HEARTBEAT, "a registered server renews its lease"),
    registration("DELETE", SERVER, "a registered server says goodbye"),
    files("POST", FILES, "store a file: a form, or the body itself with ?name=", FILES_WRITE),
    get(
        FILE_CONTENT,
        FILE_CONTENT,
        "a file's bytes, also by a signed link",
        Needs::LinkOr(FILES_READ),
    ),
    files("GET", FILE_TEXT, "the text of a file", FILES_READ),
    files("POST", UPLOADS, "begin an upload in parts", FILES_WRITE),
    files("GET, HEAD, PATCH, DELETE", UPLOAD, "an upload in parts", FILES_WRITE),
    get(
        APPROVAL_EVENTS,
        APPROVAL_EVENTS,
        "changes of approvals, as server-sent events",
        Needs::Scope(APPROVALS_READ),
    ),
    get(
        WORKFLOW_EVENTS,
        WORKFLOW_EVENTS,
        "the events of a workflow, as server-sent events",
        Needs::Scope(RUNS_READ),
    ),
    get(WORKFLOW_GRAPH, WORKFLOW_GRAPH, "a workflow as a drawing", Needs::Scope(RUNS_READ)),
    // The link needs no token: its address is signed for one call and one decision.
    Route {
        methods: "GET, POST",
        pattern: APPROVAL_LINK,
        path: APPROVAL_LINK,
        purpose: "a signed link: shows the call, and decides by its button",
        needs: Needs::OurName,
    },
    get(OPENAPI, OPENAPI, "this API as OpenAPI 3.1", Needs::Scope(TOOLS_READ)),
    get(HEALTHZ, HEALTHZ, "whether the process lives", Needs::Nothing),
    get(READYZ, READYZ, "whether it can do its work", Needs::OurName),
    get(METRICS, METRICS, "metrics in Prometheus' text format", Needs::Scope(METRICS_READ)),
    get(RESOURCE, RESOURCE, "who gives out tokens for this gateway (RFC 9728)", Needs::OurName),
    get(RESOURCE_OF, RESOURCE_OF, "the same for one of its doors", Needs::OurName),
    // A browser brings no token; what it brings instead was given to one person, for one use.
    Route {
        methods: "GET, POST",
        pattern: OAUTH_LOGIN,
        path: OAUTH_LOGIN,
        purpose: "where a browser begins a login to a server",
        needs: Needs::OurName,
    },
    get(
        OAUTH_CALLBACK,
        OAUTH_CALLBACK,
        "where a browser comes back to after a login to a server",
        Needs::OurName,
    ),
    get(
        OAUTH_CLIENT,
        OAUTH_CLIENT,
        "what authorization servers may know about this gateway",
        Needs::OurName,
    ),
];

impl Route {
    /// The route of an operation, if it has one.
    pub(super) fn of(row: &'static Row) -> Option<Self> {
        let route = row.route?;
        let scope = route.scope;
        let needs = match route.calls {
            Some(about) => Needs::Call { scope, calls: Calls::Named(about) },
            None => Needs::Scope(scope),
        };
        Some(Self {
            methods: route.method.as_str(),
            pattern: route.path,
            path: route.path,
            purpose: row.summary,
            needs,
        })
    }
}
