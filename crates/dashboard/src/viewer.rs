//! Who looks at a page, and how they want it.

use std::sync::Arc;

use auth::{Session, scope};
use axum::extract::FromRequestParts;
use axum::response::Response;
use http::StatusCode;
use http::request::Parts;
use proto::Principal;

use crate::state::Dashboard;
use crate::theme::Theme;
use crate::{approvals, layout, posted};

/// One person looking at one page.
pub(super) struct Viewer {
    pub(super) session: Arc<Session>,
    pub(super) theme: Theme,
    /// The page's own address, to come back to.
    pub(super) here: String,
    pub(super) now_ms: u64,
    /// Whether their browser sends its cookies to us alone.
    pub(super) secure: bool,
    /// How many calls wait for a person.
    pub(super) waiting: usize,
}

impl Viewer {
    pub(super) fn principal(&self) -> &Arc<Principal> {
        &self.session.principal
    }

    /// Whether they may do what a scope stands for.
    pub(super) fn may(&self, scope: &str) -> bool {
        scope::covers(self.principal(), scope)
    }

    /// Whether they run this gateway.
    pub(super) fn is_operator(&self) -> bool {
        self.may(scope::ADMIN)
    }

    /// Whose rows they see: their tenant's, or everybody's if they run the gateway.
    pub(super) fn tenant(&self) -> Option<String> {
        (!self.is_operator()).then(|| self.principal().tenant.to_string())
    }

    /// The page for who may not see or do this.
    pub(super) fn refused(&self, scope: &str) -> Response {
        layout::trouble(
            self,
            StatusCode::FORBIDDEN,
            "Not for you",
            &format!("This needs the scope `{scope}`, which your sign-in does not cover."),
        )
    }

    /// The page for what is not there, or not theirs.
    pub(super) fn missing(&self, what: &str) -> Response {
        layout::trouble(self, StatusCode::NOT_FOUND, "Not found", what)
    }
}

impl FromRequestParts<Dashboard> for Viewer {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, board: &Dashboard) -> Result<Self, Response> {
        // Admission has put it there; without it there is no page.
        let session = parts.extensions.get::<Arc<Session>>().cloned();
        let session =
            session.ok_or_else(|| posted::trouble(StatusCode::UNAUTHORIZED, "Sign in first."))?;
        let operator = scope::covers(&session.principal, scope::ADMIN);
        let tenant = (!operator).then(|| session.principal.tenant.to_string());
        let waiting = match scope::covers(&session.principal, scope::APPROVALS_READ) {
            true => approvals::waiting(board, tenant).await.len(),
            false => 0,
        };
        Ok(Self {
            theme: Theme::of(&parts.headers),
            here: parts.uri.path_and_query().map_or_else(String::new, ToString::to_string),
            now_ms: board.clock.unix_ms(),
            secure: board.is_secure(),
            waiting,
            session,
        })
    }
}
