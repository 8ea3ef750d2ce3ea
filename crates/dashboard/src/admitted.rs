//! Finds the viewer of a request, and answers viewers who may not see a page.

use std::sync::Arc;

use auth::{Session, scope};
use axum::extract::FromRequestParts;
use axum::response::Response;
use http::StatusCode;
use http::request::Parts;

use crate::approvals::pending_approvals;
use crate::layout::{bare_error, error_page};
use crate::state::Dashboard;
use crate::theme::Theme;
use crate::viewer::Viewer;

impl Viewer {
    /// Checks that the viewer has a scope; the error is the page to show instead.
    pub(super) fn require(&self, scope: &str) -> Result<(), Response> {
        if self.may(scope) {
            return Ok(());
        }
        let text =
            format!("This page needs the scope `{scope}`, which your sign-in does not have.");
        Err(error_page(self, StatusCode::FORBIDDEN, "Access denied", &text))
    }

    /// The page for something that does not exist or belongs to another tenant.
    pub(super) fn missing(&self, what: &str) -> Response {
        error_page(self, StatusCode::NOT_FOUND, "Not found", what)
    }
}

impl FromRequestParts<Dashboard> for Viewer {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        dashboard: &Dashboard,
    ) -> Result<Self, Response> {
        // Admission has added the session.
        let session = parts.extensions.get::<Arc<Session>>().cloned();
        let session =
            session.ok_or_else(|| bare_error(StatusCode::UNAUTHORIZED, "Sign in first."))?;
        let operator = scope::covers(&session.principal, scope::ADMIN);
        let tenant = (!operator).then(|| session.principal.tenant.to_string());
        let pending = if scope::covers(&session.principal, scope::APPROVALS_READ) {
            pending_approvals(dashboard, tenant).await.ok().map(|pending| pending.len())
        } else {
            Some(0)
        };
        Ok(Self {
            theme: Theme::of(&parts.headers),
            here: parts.uri.path_and_query().map_or_else(String::new, ToString::to_string),
            now_ms: dashboard.clock.unix_ms(),
            base_url: dashboard.base_url(&parts.headers),
            secure: dashboard.is_secure(),
            pending,
            session,
        })
    }
}
