//! The HTTP door: one router, and one place where requests are admitted.

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
mod operations;
mod options;
pub(crate) mod pages;
mod registration;
mod reply;
mod resource;
mod routes;
mod scopes;
mod servers;
mod sessions;
mod sse;
mod state;
mod unrouted;
mod workflows;
mod wrong_tokens;

use std::sync::Arc;

use auth::Access;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{any, delete, get, post};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join};
use http_server::{HttpService, Peer};
use strip::Strip;
use tower::ServiceExt as _;

pub use body::{BodyFault, BodyReader};
pub(crate) use mcp::StreamNotices;
pub use options::Options;
pub use pages::{Pages, is_own_origin};
pub use registration::{Announced, Declined, Granted, ServerRegistration};
pub use routes::{Calls, Needs, ROUTES, Route};
pub(crate) use sessions::SessionUse;
pub(crate) use state::Shared;

use crate::Metrics;

/// The gateway over HTTP.
pub struct HttpDoor {
    shared: Shared,
    router: Router,
}

impl HttpDoor {
    /// Builds all routes of the gateway, each behind the same admission.
    pub fn new(strip: Arc<Strip>, access: impl Into<Access>, options: Options) -> Self {
        let shared = Shared::new(strip, access.into(), options);
        Self { router: router(shared.clone()), shared }
    }

    async fn answer_mcp(&self, request: Request, peer: &Peer) -> Response {
        let serve = |request| mcp::serve_admitted(&self.shared, request);
        admission::admit_to(&self.shared, routes::MCP, request, peer, serve).await
    }
}

impl HttpService for HttpDoor {
    /// Answers a request. MCP requests bypass the router, whose layers would each wrap their future once more.
    /// Boxed, because an idle connection keeps the space of this future between two requests.
    fn answer(
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

    /// Parks and ends unused sessions and folds metrics for as long as the gateway runs.
    fn tend(&self) -> BoxFuture<'_, ()> {
        join(self.shared.mcp.tend(), Metrics::fold_samples()).map(|_| ()).boxed()
    }

    fn stop_requests(&self) {
        self.shared.strip.stop_calls();
    }
}

fn router(shared: Shared) -> Router {
    let pages = shared.options.pages.as_ref().map(|pages| pages.router()).unwrap_or_default();
    let agent_routes = agents::AgentRoutes {
        shared: shared.clone(),
        routes: tool_routes().with_state(shared.clone()),
    };
    operations::mount(tool_routes(), &shared.options.operations)
        .route(routes::AGENT, any(agents::serve).with_state(agent_routes))
        .route(routes::CALLS, post(calls::batch))
        .route(routes::SERVERS, post(servers::register))
        .route(routes::SERVER, delete(servers::goodbye))
        .route(routes::HEARTBEAT, post(servers::heartbeat))
        .route(
            routes::FILES,
            // The limits of the file store apply instead, and nothing is buffered.
            post(files::put).layer(DefaultBodyLimit::disable()),
        )
        .route(routes::FILE_CONTENT, get(files::content))
        .route(routes::FILE_TEXT, get(files::text))
        .route(routes::UPLOADS, post(files::begin))
        .route(routes::UPLOAD, get(files::progress).patch(files::resume).delete(files::forget))
        .route(routes::APPROVAL_EVENTS, get(approvals::events))
        .route(routes::WORKFLOW_EVENTS, get(workflows::events))
        .route(routes::WORKFLOW_GRAPH, get(workflows::graph))
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

/// The routes that find and call tools; every agent also has them under its own name.
fn tool_routes() -> Router<Shared> {
    Router::new()
        .route(routes::MCP, any(mcp::serve))
        .route(routes::DISCOVER, get(envelope::discover))
        .route(routes::PROMPT, get(envelope::prompt))
        .route(routes::TOOL, post(envelope::call))
        .route(routes::SCHEMA, get(envelope::schema))
        .fallback(unrouted::unknown)
        .method_not_allowed_fallback(unrouted::wrong_method)
}
