//! The ways in: MCP over HTTP and stdio, REST envelopes, LSP framing, health and metrics. A door reads the request,
//! knows who asks, hands a `Request` to the strip, and renders the answer; it never knows how a tool is made.

mod dashboard;
mod http;
mod lapse;
mod lsp;
mod mcp;
mod metrics;
mod schema;
mod server;
mod shares;
mod size;
#[cfg(unix)]
mod socket;
mod stdio;
mod wishes;

pub use dashboard::{Checkup, DashboardDesk, Held};
pub use http::{Announced, Declined, Granted, HttpDoor, Needs, Options, ROUTES, Route, ServerDesk};
pub use lsp::client::{LspClient, LspError};
pub use metrics::{Metrics, MetricsTaken};
pub use server::{ServerLimits, serve, serve_with};
#[cfg(unix)]
pub use socket::SocketDoor;
pub use stdio::{LocalDoor, LoginDesk, Operator, ServersReport, serve_session};
