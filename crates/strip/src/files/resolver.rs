//! Fetches from servers what they store under the references that they issued.

use std::sync::Weak;

use async_trait::async_trait;
use proto::{Failure, Principal};

use crate::{Output, Request};

/// The way to the files of servers, which leads through the guards.
#[async_trait]
pub(crate) trait GuardedServers: Send + Sync {
    /// Whether a caller sees anything of a server.
    fn can_reach(&self, principal: &Principal, server: &str) -> bool;

    /// Reads a resource of a server; none if the server is gone. It is counted, limited and audited like a client's request.
    async fn read_resource(
        &self,
        server: &str,
        request: Request,
    ) -> Option<Result<Output, Failure>>;
}

/// Fetches files of servers for callers that may use these servers.
pub(crate) struct FileResolver {
    /// Weak because the guards own the resolver. They live as long as any call.
    pub(crate) servers: Weak<dyn GuardedServers>,
}

impl FileResolver {
    /// Whether a caller sees anything of a server.
    pub(super) fn can_reach(&self, principal: &Principal, server: &str) -> bool {
        self.servers.upgrade().is_some_and(|servers| servers.can_reach(principal, server))
    }

    /// Reads a resource of a server; none if the server is gone.
    pub(super) async fn read(
        &self,
        server: &str,
        request: Request,
    ) -> Option<Result<Output, Failure>> {
        self.servers.upgrade()?.read_resource(server, request).await
    }
}
