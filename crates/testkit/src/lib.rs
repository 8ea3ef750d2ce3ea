//! Tools for boundary tests: a real gateway process on a free port, its data in a temporary folder, clients for each of
//! its doors, and fake servers.

mod app_server;
mod browser;
mod content;
mod doors;
mod gateway;
mod guarded;
mod issuer;
mod mcp;
mod mcp_server;
mod oauth;
mod postgres;
mod process;
mod provider;
mod service;
mod signer;
mod skip;
mod sqlite;
mod sse_server;
pub mod web;
mod workspace;

pub use app_server::AppServer;
pub use browser::{Browser, Page};
pub use content::{multipart, noise};
pub use doors::{Door, StdioSession};
pub use gateway::{Gateway, GatewayBuilder, Response, send};
pub use guarded::GuardedGateway;
pub use issuer::Issuer;
pub use mcp::{
    MODERN, initialize_message, legacy_request, mcp, mcp_call, mcp_request, mcp_request_with,
    mcp_tools,
};
pub use mcp_server::McpServer;
pub use oauth::{CANARY, ClientAuth, Misbehaviour, ProtectedServer, TokenRequest};
pub use postgres::{PostgresServer, new_database, on_postgres};
pub use process::{CommandOutput, ServerProcess, sibling_program};
pub use provider::OidcProvider;
pub use service::Service;
pub use signer::{Signer, hmac_token, s256, unsigned_token};
pub use skip::{skip_on_this_host, skip_without};
pub use sqlite::SqliteConnection;
pub use sse_server::SseServer;
pub use workspace::{ReservedPort, eventually, powerstrip_binary};
