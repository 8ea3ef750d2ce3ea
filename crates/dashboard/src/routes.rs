//! The table of the pages and their router.

use std::sync::Arc;

use auth::Session;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::{get, post};
use doors::{Needs, Pages, Route};
use http::{HeaderMap, Method, StatusCode, Uri};

use crate::layout::bare_refusal;
use crate::state::Dashboard;
use crate::{
    agents, approvals, assets, calls, catalog, connect, files, headers, keys, live, overview,
    paths, plans, posted, prompts, provider, research, runs, secrets, servers, settings, sign_in,
    theme, tool, tries, vault,
};

/// A page that needs a signed-in browser.
const fn page(methods: &'static str, pattern: &'static str, purpose: &'static str) -> Route {
    Route { methods, pattern, path: pattern, purpose, needs: Needs::Session }
}

/// A page that a browser needs in order to sign in.
const fn public(methods: &'static str, pattern: &'static str, purpose: &'static str) -> Route {
    Route { methods, pattern, path: pattern, purpose, needs: Needs::OurName }
}

/// All pages.
pub const ROUTES: &[Route] = &[
    public("GET", paths::ROOT, "redirects to the dashboard"),
    page("GET", paths::HOME, "the dashboard: an overview"),
    public("GET, POST", paths::SIGN_IN, "sign in to the dashboard"),
    // No session exists yet: the handlers check that the same browser begins and ends the sign-in.
    public("POST", paths::START, "go to the identity provider to sign in"),
    public("GET", paths::CALLBACK, "where the identity provider sends a browser back to"),
    public("GET", paths::ASSET, "its stylesheet and script"),
    page("POST", paths::SIGN_OUT, "sign out of the dashboard"),
    page("POST", paths::THEME, "choose its colours"),
    page("GET", paths::LIVE, "changes, as server-sent events for open pages"),
    page("GET", paths::SERVERS, "the servers and their states"),
    page("GET, POST", paths::SERVER, "one server, and a form to restart, disable or enable it"),
    page("GET, POST", paths::ADD_SERVER, "the catalog of servers, and a form to add one"),
    page(
        "GET, POST",
        paths::REVIEW_SERVER,
        "what a new server will do, and forms to test and add it",
    ),
    page("GET", paths::AGENTS, "agents, their skills and their tools"),
    page("GET", paths::CONNECT, "how to connect clients"),
    page("GET", paths::CATALOG, "the tools, with a search"),
    page("GET, POST", paths::TOOL, "one tool, and a form to try it"),
    page("POST", paths::TRUST, "trust a tool in quarantine"),
    page("GET, POST", paths::TRY, "a call that was tried, and its answer"),
    page("GET", paths::APPROVALS, "pending approvals"),
    page("GET, POST", paths::APPROVAL, "one approval, and a form to decide"),
    page("GET, POST", paths::RULES, "standing approvals"),
    page("GET", paths::CALLS, "the audit trail"),
    page("GET", paths::TRACE, "the calls of one trace"),
    page("GET", paths::RUNS, "runs of calls"),
    page("GET, POST", paths::RUN, "one run, and a form to answer its questions"),
    page("GET, POST", paths::NEW_WORKFLOW, "a plan from an intent, and a form to run it"),
    page("GET", paths::RUN_GRAPH, "the DAG of a workflow as an SVG file"),
    page("GET", paths::RUN_DIFF, "the mind map of a research run compared with another one"),
    page("POST", paths::RUN_STEER, "continue or abort a workflow, retry or skip a task"),
    page("GET, POST", paths::RUN_AGAIN, "a form to run a workflow again with changes"),
    page("GET, POST", paths::FILES, "files and artifacts, and a form to upload one"),
    page("GET, POST", paths::FILE, "one file, and a form to delete it"),
    page("GET", paths::FILE_CONTENT, "the bytes of a file"),
    page("GET", paths::FILE_IMAGE, "a file that is an image, as an image"),
    page("GET", paths::PROMPTS, "the prompts"),
    page("GET, POST", paths::PROMPT, "one prompt, and a form to render it"),
    page(
        "GET, POST",
        paths::SECRETS,
        "the viewer's own secrets, and forms to store and remove them",
    ),
    page(
        "GET, POST",
        paths::VAULT,
        "the secrets of the gateway, and forms to store, remove and prune them",
    ),
    page("GET, POST", paths::KEYS, "keys, and forms to make and revoke them"),
    page("GET", paths::SETTINGS, "findings about the settings"),
];

#[async_trait::async_trait]
impl Pages for Dashboard {
    fn routes(&self) -> &'static [Route] {
        ROUTES
    }

    fn router(&self) -> Router {
        Router::new()
            .route(paths::ROOT, get(overview::redirect))
            .route(paths::HOME, get(overview::page))
            .route(paths::SIGN_IN, get(sign_in::page).post(sign_in::sign_in))
            .route(paths::START, post(provider::start))
            .route(paths::CALLBACK, get(provider::callback))
            .route(paths::SIGN_OUT, post(sign_in::sign_out))
            .route(paths::THEME, post(theme::choose))
            .route(paths::ASSET, get(assets::serve))
            .route(paths::LIVE, get(live::events))
            .route(paths::SERVERS, get(servers::page))
            .route(paths::SERVER, get(servers::one).post(servers::change))
            .route(paths::ADD_SERVER, get(servers::add).post(servers::draft))
            .route(paths::REVIEW_SERVER, get(servers::review).post(servers::act))
            .route(paths::AGENTS, get(agents::page))
            .route(paths::CONNECT, get(connect::page))
            .route(paths::CATALOG, get(catalog::page))
            .route(paths::TOOL, get(tool::page).post(tool::attempt))
            .route(paths::TRUST, post(tool::trust))
            .route(paths::TRY, get(tries::page).post(tries::cancel))
            .route(paths::APPROVALS, get(approvals::page))
            .route(paths::APPROVAL, get(approvals::one).post(approvals::decide))
            .route(paths::RULES, get(approvals::rules).post(approvals::delete))
            .route(paths::CALLS, get(calls::page))
            .route(paths::TRACE, get(calls::trace))
            .route(paths::RUNS, get(runs::page))
            .route(paths::RUN, get(runs::one).post(runs::answer))
            .route(paths::RUN_GRAPH, get(runs::drawing))
            .route(paths::RUN_DIFF, get(research::compare))
            .route(paths::RUN_STEER, post(runs::steer))
            .route(paths::RUN_AGAIN, get(runs::again).post(runs::start_again))
            .route(paths::NEW_WORKFLOW, get(plans::page).post(plans::act))
            // The limits of the file store apply instead, and nothing is buffered.
            .route(
                paths::FILES,
                get(files::page).post(files::upload).layer(DefaultBodyLimit::disable()),
            )
            .route(paths::FILE, get(files::one).post(files::delete))
            .route(paths::FILE_CONTENT, get(files::content))
            .route(paths::FILE_IMAGE, get(files::image))
            .route(paths::PROMPTS, get(prompts::list))
            .route(paths::PROMPT, get(prompts::page).post(prompts::render))
            .route(paths::SECRETS, get(secrets::page).post(secrets::change))
            .route(paths::VAULT, get(vault::page).post(vault::change))
            .route(paths::KEYS, get(keys::page).post(keys::change))
            .route(paths::SETTINGS, get(settings::page))
            .layer(map_response(headers::guard_response))
            .with_state(self.clone())
    }

    async fn session(&self, headers: &HeaderMap) -> Option<Arc<Session>> {
        let session = self.find_session(headers)?;
        self.is_valid(&session).await.then_some(session)
    }

    fn signed_out(&self, method: &Method, uri: &Uri) -> Response {
        match *method {
            Method::GET | Method::HEAD => sign_in::redirect(uri),
            _ => sign_in::refuse(),
        }
    }

    fn foreign_form(&self) -> Response {
        posted::foreign()
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        bare_refusal(status, message)
    }
}
