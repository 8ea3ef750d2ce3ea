//! A gateway in another process or on another machine: calls over HTTP, and a client on pipes that is bridged to it.

mod bridge;
mod client;
mod frame;
mod gateway;
mod invocation;
mod ledger;

pub use bridge::bridge;
pub use client::{Client, MessageReader, MessageWriter};
pub use frame::{FrameReader, Framing};
pub use gateway::{Remote, modern_request, parse_url};
pub use invocation::Invocation;
pub use ledger::Ledger;
