//! The ways in: MCP over HTTP and stdio, REST envelopes, LSP framing, health and metrics. A door reads the request,
//! knows who asks, passes a `Request` to the strip, and renders the answer; it never knows how a tool is made.

mod call_options;
mod exact;
mod http;
mod lsp;
mod mcp;
mod metrics;
mod size;
#[cfg(unix)]
mod socket;
mod stdio;
mod validity;

pub use http::files::form::{Form, FormField};
pub use http::{
    Announced, BodyFault, BodyReader, Calls, Declined, Granted, HttpDoor, Needs, Options, Pages,
    ROUTES, Route, ServerRegistration, is_own_origin,
};
pub use metrics::{Metrics, MetricsTaken};
#[cfg(unix)]
pub use socket::SocketDoor;
pub use stdio::{LocalDoor, serve_session};
pub use validity::until_invalid;
