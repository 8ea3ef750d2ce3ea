use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use proto::{Failure, Principal};

/// Knows the state of configured servers, also of those that have never listed their tools.
#[async_trait]
pub trait Outages: Send + Sync + 'static {
    /// The names of all servers.
    fn servers(&self) -> Vec<String>;

    /// The failure of a call to a tool that a server does not list, if that is because the server cannot be used.
    async fn outage(&self, server: &str, principal: &Arc<Principal>) -> Option<Failure>;

    /// Waits until a server that is being started has listed its tools for the first time, or has failed.
    async fn wait_for_first_list(&self, server: &str, limit: Duration);
}
