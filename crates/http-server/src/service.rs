use std::sync::Arc;

use axum::extract::Request;
use axum::response::Response;
use futures_util::future::BoxFuture;

use crate::server::Peer;

/// Answers the requests of all connections.
pub trait HttpService: Send + Sync + 'static {
    /// Answers a request that arrived on a connection.
    fn answer(self: Arc<Self>, request: Request, peer: Arc<Peer>) -> BoxFuture<'static, Response>;

    /// Looks after what requests leave behind, for as long as the server runs.
    fn tend(&self) -> BoxFuture<'_, ()>;

    /// Cancels the requests that are still running; each of them is answered.
    fn stop_requests(&self);
}
