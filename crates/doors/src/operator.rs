//! What local doors need from the process around them.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use proto::Principal;
use serde_json::Value;
use strip::Failure;

/// Reports the state of the servers behind the strip, as a list; doors forward it unread.
pub type ServersReport = Arc<dyn Fn() -> Value + Send + Sync>;

/// Returns the link by which a principal logs in to a server, by the server's name; `None` if no login is needed.
pub type LoginService = Arc<
    dyn Fn(String, Arc<Principal>) -> BoxFuture<'static, Result<Option<String>, Failure>>
        + Send
        + Sync,
>;

/// Answers the methods of the operator's own commands. A door without an operator has none of them, and neither has the
/// door that agents connect to.
#[async_trait]
pub trait Operator: Send + Sync + 'static {
    /// Answers a method, or returns why not; `None` if there is no such method.
    async fn ask(&self, method: &str, params: Value) -> Option<Result<Value, String>>;
}
