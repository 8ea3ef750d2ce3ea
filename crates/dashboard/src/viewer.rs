//! The person who looks at a page.

use std::sync::Arc;

use auth::{Session, scope};
use proto::Principal;

use crate::theme::Theme;

/// One person looking at one page.
pub(super) struct Viewer {
    pub(super) session: Arc<Session>,
    pub(super) theme: Theme,
    /// The address of the page, to return to.
    pub(super) here: String,
    pub(super) now_ms: u64,
    /// The address of this gateway, without a slash at the end.
    pub(super) base_url: String,
    /// Whether the browser uses https, so that it sends its cookies only to us.
    pub(super) secure: bool,
    /// How many approvals are pending; none if they could not be read.
    pub(super) pending: Option<usize>,
}

impl Viewer {
    pub(super) fn principal(&self) -> &Arc<Principal> {
        &self.session.principal
    }

    /// Whether the viewer has a scope.
    pub(super) fn may(&self, scope: &str) -> bool {
        scope::covers(self.principal(), scope)
    }

    /// Whether the viewer operates this gateway.
    pub(super) fn is_operator(&self) -> bool {
        self.may(scope::ADMIN)
    }

    /// The number of pending approvals as a badge shows it; none without any.
    pub(super) fn pending_badge(&self) -> Option<String> {
        match self.pending {
            Some(0) => None,
            Some(pending) => Some(pending.to_string()),
            None => Some("?".to_owned()),
        }
    }

    /// The tenant whose rows the viewer sees; `None` for an operator, who sees all.
    pub(super) fn tenant(&self) -> Option<String> {
        (!self.is_operator()).then(|| self.principal().tenant.to_string())
    }
}
