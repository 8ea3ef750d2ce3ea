//! What every page can reach.

use std::sync::Arc;

use auth::{Access, AdminToken, Attempts, Session, Sessions, SignInCodes};
use doors::{BodyReader, ServerRegistration, is_own_origin};
use http::HeaderMap;
use operations::install::ServerInstaller;
use operations::workflows::WorkflowConsole;
use operations::{Console, Table};
use proto::Clock;
use strip::Strip;
use tokio_util::sync::CancellationToken;

use crate::headers;
use crate::servers::Drafts;
use crate::service::DashboardService;
use crate::tries::Tries;

/// What the pages are made from.
pub struct Parts {
    pub strip: Arc<Strip>,
    pub access: Access,
    pub admin: Option<Arc<AdminToken>>,
    /// The codes of sign-in links for the operator.
    pub sign_in_codes: Option<Arc<SignInCodes>>,
    pub servers: Option<Arc<dyn ServerRegistration>>,
    pub service: Option<Arc<dyn DashboardService>>,
    /// Adds servers to the config file.
    pub installer: Option<Arc<dyn ServerInstaller>>,
    /// The servers and calls of the gateway.
    pub console: Arc<dyn Console>,
    pub workflows: Option<Arc<dyn WorkflowConsole>>,
    /// All operations, for pages that do what commands do.
    pub operations: Arc<Table>,
    /// Cancelled when the process begins to stop.
    pub shutdown: CancellationToken,
    /// The largest form that is read.
    pub max_body_bytes: usize,
    /// The reader of the HTTP door, so that forms count against the same memory.
    pub bodies: Arc<BodyReader>,
}

/// The dashboard, shared by all its pages.
#[derive(Clone)]
pub(crate) struct Dashboard(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) parts: Parts,
    pub(crate) sessions: Sessions,
    pub(crate) attempts: Attempts,
    pub(crate) tries: Tries,
    pub(crate) drafts: Drafts,
    pub(crate) clock: Clock,
}

impl std::ops::Deref for Dashboard {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Dashboard {
    pub(crate) fn new(parts: Parts) -> Self {
        let clock = parts.strip.clock().clone();
        Self(Arc::new(Inner {
            sessions: Sessions::new(clock.clone()),
            attempts: Attempts::new(clock.clone()),
            tries: Tries::default(),
            drafts: Drafts::default(),
            parts,
            clock,
        }))
    }

    /// The session that a browser's cookie names.
    pub(crate) fn find_session(&self, headers: &HeaderMap) -> Option<Arc<Session>> {
        let id = headers::cookie(headers, &headers::session_cookie(headers, self.is_secure()))?;
        self.sessions.find(id)
    }

    /// Whether the credential that began a session still identifies the same principal. Ends the session if not.
    pub(crate) async fn is_valid(&self, session: &Session) -> bool {
        let Some(credential) = session.credential() else { return true };
        let valid = match credential.token().await {
            Some(token) => match self.parts.access.admit_bearer(&token).await {
                Ok(principal) => *principal == *session.principal,
                // An unreachable issuer ends no session: the token was valid and has not expired.
                Err(refusal) => matches!(refusal, auth::Refusal::Unreachable(_)),
            },
            // The provider gives no further tokens.
            None => false,
        };
        if !valid {
            self.sessions.end(session);
        }
        valid
    }

    /// The address of this gateway as the browser knows it, without a slash at the end.
    pub(crate) fn base_url(&self, headers: &HeaderMap) -> String {
        match self.parts.access.origin() {
            Some(origin) => origin.to_owned(),
            // Admission has checked the host.
            None => {
                headers::host(headers).map_or_else(String::new, |host| format!("http://{host}"))
            }
        }
    }

    /// Whether browsers reach us over https.
    pub(crate) fn is_secure(&self) -> bool {
        self.parts.access.origin().is_some_and(|origin| origin.starts_with("https://"))
    }

    /// Whether a form comes from one of our pages, by its `Origin` header.
    pub(crate) fn is_own_form(&self, headers: &HeaderMap) -> bool {
        is_own_origin(headers, self.parts.access.origin())
    }
}
