//! The server loop: disconnects slow clients, limits connections, shares what there is between callers, and lets running
//! requests finish on shutdown. What answers the requests is a [`HttpService`].

mod server;
mod service;
mod shares;

pub use server::{Peer, ServerLimits, serve, serve_with};
pub use service::HttpService;
pub use shares::{Exceeded, Holder, Share, Shares};
