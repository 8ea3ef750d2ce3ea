//! What boundary tests are written with: a real gateway process on a free port, its data in a folder that goes
//! away with the test, and clients for each of its doors.

mod doors;
mod gateway;
mod mcp_server;
mod oauth;
mod service;
mod workspace;

pub use doors::{Door, StdioSession};
pub use gateway::{Gateway, GatewayBuilder, Response};
pub use mcp_server::McpServer;
pub use oauth::{CANARY, Oddity, Protected, TokenRequest};
pub use service::Service;
pub use workspace::{eventually, powerstrip_binary};
