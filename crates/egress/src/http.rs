//! The guarded HTTP client, the only one in Powerstrip.
//!
//! A request passes, for itself and for every redirect: URL guard ([`Target`]) → the tool's [`Scope`] →
//! one DNS lookup → [`AddressPolicy`] over *every* answer → a connection to exactly a checked address →
//! a second look at the peer → TLS under the original name. Pooled connections have passed all of it.

mod address;
mod body;
mod client;
mod component;
mod connect;
mod dial;
mod error;
mod host;
mod listeners;
mod partial;
mod policy;
mod pool;
mod redirect;
mod resolve;
mod scope;
mod sent;
mod target;
mod tls;
mod wire;

pub use address::{Class, classify};
pub use body::BodyStream;
pub use client::{
    Client, ClientBuilder, Limits, Request, Response, StreamingResponse, is_framing_header,
};
pub use component::{encode_component, has_dot_segment};
pub(crate) use connect::Connector;
pub(crate) use error::HEADER_CEILING;
pub use error::{FetchError, Part, Phase, Refusal};
pub use host::PatternError;
pub use listeners::OwnListeners;
pub use partial::{Cut, Partial};
pub use policy::{AddressPolicy, Rule};
pub use resolve::{Resolve, ResolveFuture, SystemResolver};
pub use scope::Scope;
pub use sent::{Body, SendFault, SentStream};
pub use target::Target;
