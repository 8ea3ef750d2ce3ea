//! The caller of the current request.

use std::sync::Arc;

use proto::Principal;

tokio::task_local! {
    /// The caller of the current request, where rmcp looks up a tool or opens a session without its context.
    pub(crate) static CALLER: Arc<Principal>;
}
