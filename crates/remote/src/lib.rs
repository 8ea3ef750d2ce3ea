//! A gateway in another process or on another machine: calls over HTTP, a client on pipes that is bridged to it, and
//! requests over its local socket.

mod bridge;
mod client;
mod frame;
mod gateway;
mod invocation;
mod ledger;
mod lsp;

pub use bridge::bridge;
pub use client::{Client, MessageReader, MessageWriter};
pub use frame::{FrameReader, Framing};
pub use gateway::{Remote, modern_request, parse_url};
pub use invocation::Invocation;
pub use ledger::Ledger;
pub use lsp::{LspClient, LspError};
