//! The dashboard: pages for people, made on the server and served by the binary. Every page is a deep link and works
//! without script where it can; a little script of our own keeps what is shown live.

#![expect(clippy::result_large_err, reason = "what is shown instead of a page is a page")]

mod approvals;
mod assets;
mod calls;
mod catalog;
mod chart;
mod desk;
mod files;
mod form;
mod headers;
mod layout;
mod live;
mod overview;
mod posted;
mod prompts;
mod provider;
mod runs;
mod settings;
mod sign_in;
mod theme;
mod time;
mod tool;
mod tries;
mod viewer;
mod words;

use std::sync::Arc;

use auth::{Access, AdminToken, Attempts, Session, Sessions};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::{get, post};
use http::{HeaderMap, Method, Uri};
use proto::Clock;
use strip::Strip;
use tokio_util::sync::CancellationToken;

pub use desk::{Checkup, DashboardDesk, Held};

use crate::http::ServerDesk;
use crate::http::body::BodyReader;

pub(crate) const HOME: &str = "/dashboard";
pub(crate) const SIGN_IN: &str = "/dashboard/sign-in";
pub(crate) const START: &str = "/dashboard/sign-in/start";
pub(crate) const CALLBACK: &str = auth::client::SIGN_IN_CALLBACK;
pub(crate) const SIGN_OUT: &str = "/dashboard/sign-out";
pub(crate) const THEME: &str = "/dashboard/theme";
pub(crate) const ASSET: &str = "/dashboard/assets/{name}";
pub(crate) const LIVE: &str = "/dashboard/live";
pub(crate) const CATALOG: &str = "/dashboard/catalog";
pub(crate) const TOOL: &str = "/dashboard/tools/{*tool}";
pub(crate) const TRUST: &str = "/dashboard/trust";
pub(crate) const TRY: &str = "/dashboard/tries/{id}";
pub(crate) const APPROVALS: &str = "/dashboard/approvals";
pub(crate) const APPROVAL: &str = "/dashboard/approvals/{id}";
pub(crate) const RULES: &str = "/dashboard/rules";
pub(crate) const CALLS: &str = "/dashboard/calls";
pub(crate) const TRACE: &str = "/dashboard/calls/{trace}";
pub(crate) const RUNS: &str = "/dashboard/runs";
pub(crate) const RUN: &str = "/dashboard/runs/{id}";
pub(crate) const FILES: &str = "/dashboard/files";
pub(crate) const FILE: &str = "/dashboard/files/{id}";
pub(crate) const FILE_CONTENT: &str = "/dashboard/files/{id}/content";
pub(crate) const PROMPTS: &str = "/dashboard/prompts";
pub(crate) const PROMPT: &str = "/dashboard/prompts/{domain}/{name}/{major}";
pub(crate) const SETTINGS: &str = "/dashboard/settings";

/// What the pages are made from.
pub(crate) struct Parts {
    pub(crate) strip: Arc<Strip>,
    pub(crate) access: Access,
    pub(crate) admin: Option<Arc<AdminToken>>,
    pub(crate) servers: Option<Arc<dyn ServerDesk>>,
    pub(crate) desk: Option<Arc<dyn DashboardDesk>>,
    pub(crate) shutdown: CancellationToken,
    /// No form larger than this is read.
    pub(crate) max_body_bytes: usize,
    pub(crate) bodies: Arc<BodyReader>,
}

/// What every page can reach.
#[derive(Clone)]
pub(crate) struct Dashboard(Arc<Inner>);

pub(crate) struct Inner {
    parts: Parts,
    sessions: Sessions,
    attempts: Attempts,
    tries: tries::Tries,
    clock: Clock,
}

impl std::ops::Deref for Dashboard {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Dashboard {
    pub(crate) fn new(parts: Parts) -> Self {
        let clock = Clock::default();
        Self(Arc::new(Inner {
            sessions: Sessions::new(clock.clone()),
            attempts: Attempts::new(clock.clone()),
            tries: tries::Tries::default(),
            parts,
            clock,
        }))
    }

    /// All pages.
    pub(crate) fn routes(&self) -> Router {
        Router::new()
            .route(HOME, get(overview::page))
            .route(SIGN_IN, get(sign_in::page).post(sign_in::enter))
            .route(START, post(provider::start))
            .route(CALLBACK, get(provider::callback))
            .route(SIGN_OUT, post(sign_in::leave))
            .route(THEME, post(theme::choose))
            .route(ASSET, get(assets::serve))
            .route(LIVE, get(live::events))
            .route(CATALOG, get(catalog::page))
            .route(TOOL, get(tool::page).post(tool::attempt))
            .route(TRUST, post(tool::trust))
            .route(TRY, get(tries::page).post(tries::cancel))
            .route(APPROVALS, get(approvals::page))
            .route(APPROVAL, get(approvals::one).post(approvals::decide))
            .route(RULES, get(approvals::rules).post(approvals::forget))
            .route(CALLS, get(calls::page))
            .route(TRACE, get(calls::trace))
            .route(RUNS, get(runs::page))
            .route(RUN, get(runs::one).post(runs::answer))
            .route(FILES, get(files::page).post(files::upload).layer(DefaultBodyLimit::disable()))
            .route(FILE, get(files::one).post(files::delete))
            .route(FILE_CONTENT, get(files::content))
            .route(PROMPTS, get(prompts::list))
            .route(PROMPT, get(prompts::page).post(prompts::render))
            .route(SETTINGS, get(settings::page))
            .layer(map_response(headers::guarded))
            .with_state(self.clone())
    }

    /// Whose browser this is.
    pub(crate) fn session(&self, headers: &HeaderMap) -> Option<Arc<Session>> {
        let id = headers::cookie(headers, &headers::session_cookie(headers, self.is_secure()))?;
        self.sessions.find(id)
    }

    /// Whether the credential that a session was begun with still opens what it did.
    pub(crate) async fn still_stands(&self, session: &Session) -> bool {
        let Some(credential) = session.credential() else { return true };
        let stands = match credential.token().await {
            Some(token) => match self.parts.access.admit_bearer(&token).await {
                Ok(principal) => *principal == *session.principal,
                // An issuer that is down takes nobody's session away: the token was good, and still has its time.
                Err(refusal) => matches!(refusal, auth::Refusal::Unreachable(_)),
            },
            // It has said that there will be no further one.
            None => false,
        };
        if !stands {
            self.sessions.end(session);
        }
        stands
    }

    /// Whether browsers reach us over https.
    fn is_secure(&self) -> bool {
        self.parts.access.origin().is_some_and(|origin| origin.starts_with("https://"))
    }

    /// Whether a form comes from a page of ours: browsers say from where, and a form that does not is not taken.
    pub(crate) fn is_own_form(&self, headers: &HeaderMap) -> bool {
        headers::is_own_origin(headers, self.parts.access.origin())
    }

    /// The answer to somebody who has not signed in.
    pub(crate) fn turn_away(&self, method: &Method, uri: &Uri) -> Response {
        match *method {
            Method::GET | Method::HEAD => sign_in::redirect(uri),
            _ => sign_in::refuse(),
        }
    }
}

/// The answer to a form that is not of a page of ours.
pub(crate) fn foreign_form() -> Response {
    posted::foreign()
}
