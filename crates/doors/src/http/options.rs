//! The settings of the HTTP door.

use std::sync::Arc;
use std::time::Duration;

use auth::client::OAuthClient;
use auth::{AdminToken, ApprovalLinks};
use operations::Table;
use operations::workflows::WorkflowConsole;
use tokio_util::sync::CancellationToken;

use super::body::BodyReader;
use super::pages::Pages;
use super::registration::ServerRegistration;
use crate::metrics::Metrics;
use crate::size::MAX_MESSAGE_BYTES;

/// What an operator may set about the HTTP door.
#[derive(Clone)]
pub struct Options {
    /// Cancelled when the process begins to stop; give `serve` the same token.
    pub shutdown: CancellationToken,
    /// What `/metrics` shows; without it the route answers that nothing is recorded.
    pub metrics: Option<Metrics>,
    /// Opens the routes of operators; without it only tokens and keys with the scopes do.
    pub admin: Option<Arc<AdminToken>>,
    /// Verifies the signed links by which people decide approvals; without it no link is accepted.
    pub approval_links: Option<Arc<ApprovalLinks>>,
    /// Handles the callbacks of OAuth logins to servers.
    pub logins: Option<Arc<OAuthClient>>,
    /// The largest request body that is read, unless a tool takes a larger input.
    pub max_body_bytes: usize,
    /// Reads the bodies of all requests, those of the pages included.
    pub bodies: Arc<BodyReader>,
    /// How many sessions of MCP clients before 2026-07-28 may be open at once.
    pub max_sessions: usize,
    /// How many of them one caller may have.
    pub sessions_per_caller: usize,
    /// How long such a session may be without a request, a call or a stream before it ends.
    pub session_idle: Duration,
    /// How long such a session may be without a request that needs the protocol library before it is parked.
    pub session_park: Duration,
    /// How many event streams one caller may have open over MCP.
    pub streams_per_caller: usize,
    /// The operations; those that have a route are served.
    pub operations: Arc<Table>,
    /// The workflows, for their events and drawings; without it those routes answer that there are none.
    pub workflows: Option<Arc<dyn WorkflowConsole>>,
    /// Registers servers; without it they cannot register themselves.
    pub servers: Option<Arc<dyn ServerRegistration>>,
    /// Pages for browsers, such as the dashboard.
    pub pages: Option<Arc<dyn Pages>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            shutdown: CancellationToken::new(),
            metrics: None,
            admin: None,
            approval_links: None,
            logins: None,
            max_body_bytes: MAX_MESSAGE_BYTES,
            bodies: Arc::default(),
            max_sessions: 10_000,
            sessions_per_caller: 5_000,
            session_idle: Duration::from_secs(10 * 60),
            session_park: Duration::from_secs(5),
            streams_per_caller: 1_024,
            operations: Arc::default(),
            workflows: None,
            servers: None,
            pages: None,
        }
    }
}
