//! Everything that is reached over HTTP: one router, one place where a request is let in.

mod admission;
mod agents;
mod approvals;
pub(crate) mod body;
mod calls;
mod envelope;
pub(crate) mod files;
mod health;
mod links;
mod login;
mod mcp;
mod meter;
mod openapi;
pub(crate) mod pages;
mod reply;
mod resource;
mod routes;
mod runs;
mod scopes;
mod servers;
mod sessions;

use std::sync::Arc;
use std::time::Duration;

use auth::client::OAuthClient;
use auth::{Access, AdminToken, ApprovalLinks};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{any, delete, get, post};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use proto::{Principal, TraceId};
use strip::{Door, Failure, RefusedRequest, Strip};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

pub use routes::{Needs, ROUTES, Route};
pub use servers::{Announced, Declined, Granted, ServerDesk};
pub(crate) use sessions::SessionUse;

pub use body::{BodyFault, BodyReader};
pub use pages::{Pages, is_own_origin};

use crate::Metrics;
use crate::server::Peer;
use crate::size::{MAX_MESSAGE_BYTES, message_limit};

/// What an operator may set about the HTTP door.
#[derive(Clone)]
pub struct Options {
    /// Cancelled when the process begins to stop; give `serve` the same token.
    pub shutdown: CancellationToken,
    /// What `/metrics` shows; without it the route says that nothing is recorded.
    pub metrics: Option<Metrics>,
    /// What opens the routes of operators; without it only tokens and keys with the scopes do.
    pub admin: Option<Arc<AdminToken>>,
    /// Opens the links by which calls are decided about; without it there are none.
    pub approval_links: Option<Arc<ApprovalLinks>>,
    /// Where browsers come back to when a person has logged in to a server.
    pub logins: Option<Arc<OAuthClient>>,
    /// No request body above this size is ever read, unless a tool takes a larger input.
    pub max_body_bytes: usize,
    /// Reads the bodies of all requests, those of the pages included.
    pub bodies: Arc<BodyReader>,
    /// How many sessions of MCP clients before 2026-07-28 may stand at once.
    pub max_sessions: usize,
    /// How many of them one caller may have.
    pub sessions_per_caller: usize,
    /// After how long without a request, a call or a stream such a session ends.
    pub session_idle: Duration,
    /// After how long without a request that needs more than a plain call takes its memory is given back.
    pub session_park: Duration,
    /// How many streams one caller may listen to over MCP.
    pub streams_per_caller: usize,
    /// Where servers register themselves; without it nobody can.
    pub servers: Option<Arc<dyn ServerDesk>>,
    /// Pages for browsers, such as the dashboard.
    pub pages: Option<Arc<dyn Pages>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            shutdown: CancellationToken::new(),
            metrics: None,
            admin: None,
            approval_links: None,
            logins: None,
            max_body_bytes: MAX_MESSAGE_BYTES,
            bodies: Arc::default(),
            max_sessions: 10_000,
            sessions_per_caller: 5_000,
            session_idle: Duration::from_secs(10 * 60),
            session_park: Duration::from_secs(5),
            streams_per_caller: 1_024,
            servers: None,
            pages: None,
        }
    }
}

/// What every handler can reach.
#[derive(Clone)]
struct Shared(Arc<Inner>);

struct Inner {
    strip: Arc<Strip>,
    access: Access,
    options: Options,
    mcp: mcp::McpDoor,
    meter: meter::Meter,
    bodies: Arc<BodyReader>,
}

impl Inner {
    /// The largest body that is read now.
    fn max_body(&self) -> usize {
        message_limit(&self.strip, self.options.max_body_bytes)
    }

    /// The refusal of a request whose body was not read. It leaves an audit row if the caller is the cause.
    async fn refuse_body(
        &self,
        fault: &BodyFault,
        about: &str,
        principal: &Arc<Principal>,
        trace: TraceId,
    ) -> Failure {
        let failure = fault.failure();
        if fault.is_callers() {
            let door = if about == routes::MCP { Door::McpHttp } else { Door::Http };
            let principal = Arc::clone(principal);
            let request = RefusedRequest { about, principal, door, trace };
            self.strip.record_refusal(request, &failure).await;
        }
        failure
    }
}

impl std::ops::Deref for Shared {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// The gateway as it is reached over HTTP.
pub struct HttpDoor {
    shared: Shared,
    router: Router,
}

impl HttpDoor {
    /// All routes of the gateway, each behind the same admission.
    pub fn new(strip: Arc<Strip>, access: impl Into<Access>, options: Options) -> Self {
        let shared = shared(strip, access.into(), options);
        Self { router: router(shared.clone()), shared }
    }

    /// Answers a request. Calls of tools go past the router and its layers, each of which would wrap them once more.
    /// Boxed, because a connection that rests between two requests keeps the room for one.
    pub(crate) fn answer(
        self: Arc<Self>,
        mut request: Request,
        peer: Arc<Peer>,
    ) -> BoxFuture<'static, Response> {
        if request.uri().path() == routes::MCP {
            return async move { self.answer_mcp(request, &peer).await }.boxed();
        }
        request.extensions_mut().insert(peer);
        let answer = self.router.clone().oneshot(request);
        answer.map(|answered| answered.unwrap_or_else(|never| match never {})).boxed()
    }

    /// Looks after sessions for as long as the gateway runs.
    pub(crate) async fn tend(&self) {
        self.shared.mcp.tend().await;
    }

    /// Ends the calls that are still under way; each is answered.
    pub(crate) fn stop_calls(&self) {
        self.shared.strip.stop_calls();
    }

    async fn answer_mcp(&self, request: Request, peer: &Peer) -> Response {
        let serve = |request| mcp::serve_admitted(&self.shared, request);
        admission::admit_to(&self.shared, routes::MCP, request, peer, serve).await
    }
}

fn shared(strip: Arc<Strip>, access: Access, options: Options) -> Shared {
    let mcp = mcp::McpDoor::new(Arc::clone(&strip), &options);
    let meter = meter::Meter::default();
    let bodies = Arc::clone(&options.bodies);
    Shared(Arc::new(Inner { strip, access, options, mcp, meter, bodies }))
}

fn router(shared: Shared) -> Router {
    let pages = shared.options.pages.as_ref().map(|pages| pages.router()).unwrap_or_default();
    let entrance = agents::Entrance {
        shared: shared.clone(),
        doors: callers_doors().with_state(shared.clone()),
    };
    callers_doors()
        .route(routes::AGENT, any(agents::enter).with_state(entrance))
        .route(routes::CALLS, post(calls::batch))
        .route(routes::RUNS, get(runs::list))
        .route(routes::RUN, get(runs::show))
        .route(routes::ANSWERS, post(runs::answer))
        .route(routes::SERVERS, get(servers::list).post(servers::register))
        .route(routes::SERVER, delete(servers::goodbye))
        .route(routes::HEARTBEAT, post(servers::heartbeat))
        .route(
            routes::FILES,
            // How much comes in is for the files' own rules to say; nothing of it is held.
            get(files::list).post(files::put).layer(DefaultBodyLimit::disable()),
        )
        .route(routes::FILE, get(files::metadata).delete(files::delete))
        .route(routes::FILE_CONTENT, get(files::content))
        .route(routes::FILE_TEXT, get(files::text))
        .route(routes::FILE_LINK, get(files::link))
        .route(routes::UPLOADS, post(files::begin))
        .route(routes::UPLOAD, get(files::progress).patch(files::resume).delete(files::forget))
        .route(routes::APPROVALS, get(approvals::list))
        .route(routes::APPROVAL, get(approvals::show).post(approvals::decide))
        .route(routes::APPROVAL_EVENTS, get(approvals::events))
        .route(routes::APPROVAL_RULES, get(approvals::rules))
        .route(routes::APPROVAL_RULE, delete(approvals::remove_rule))
        .route(routes::APPROVAL_LINK, get(links::show).post(links::decide))
        .route(routes::OPENAPI, get(openapi::document))
        .route(routes::HEALTHZ, get(health::alive))
        .route(routes::READYZ, get(health::ready))
        .route(routes::METRICS, get(health::metrics))
        .route(routes::OAUTH_LOGIN, get(login::invite).post(login::depart))
        .route(routes::OAUTH_CALLBACK, get(login::callback))
        .route(routes::OAUTH_CLIENT, get(login::client))
        .route(routes::RESOURCE, get(resource::metadata))
        .route(routes::RESOURCE_OF, get(resource::metadata))
        .with_state(shared.clone())
        .merge(pages)
        .layer(from_fn_with_state(shared, admission::admit))
}

/// The routes by which tools are found and called; every agent has them under its own name, too.
fn callers_doors() -> Router<Shared> {
    Router::new()
        .route(routes::MCP, any(mcp::serve))
        .route(routes::DISCOVER, get(envelope::discover))
        .route(routes::PROMPT, get(envelope::prompt))
        .route(routes::TOOL, post(envelope::call))
        .route(routes::SCHEMA, get(envelope::schema))
        .fallback(routes::unknown)
        .method_not_allowed_fallback(routes::wrong_method)
}
