//! Errors of sessions.

use rmcp::transport::streamable_http_server::session::local::LocalSessionManagerError;

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub(in crate::http) enum SessionFault {
    #[error("{0} {text}; try again later", text = SessionFault::FULL)]
    Full(usize),
    #[error("you have {0} {text}; close one", text = SessionFault::CALLER_FULL)]
    CallerFull(usize),
    #[error("the request has no principal")]
    NoOwner,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl SessionFault {
    /// Parts of the messages: rmcp passes these errors on as text.
    pub(in crate::http) const FULL: &str = "sessions are open, the limit of this gateway";
    pub(in crate::http) const CALLER_FULL: &str = "sessions open, the limit per caller";
}
