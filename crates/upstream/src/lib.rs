//! MCP servers as tools of the strip: child processes and URLs, both protocol eras, replicas. The tools stay in the
//! catalog while a server is down, and a failing server affects only its own callers.

mod allowance;
mod backoff;
mod caller;
mod context;
mod conversation;
mod definition;
mod deps;
mod era;
mod error;
mod fault;
mod forward;
mod handshake;
mod http;
mod instances;
mod journal;
mod listing;
mod message_buffer;
mod notifications;
mod openapi;
mod outage;
mod outcome;
mod pending;
mod personal;
mod questions;
mod random;
mod registry;
mod rpc;
mod scrub;
mod selection;
mod server;
mod share;
mod status;
mod stdio;
mod subscription;
mod suspended;
mod tasks;
mod timing;
mod tool;
mod transport;
mod unanswerable;
mod upstream;
mod upstreams;

pub use deps::{Deps, ListStore, OtherOfferings, Publish, PublishOwn, ToolList};
pub use era::Era;
pub use registry::operations;
pub use registry::{
    AddressFault, Announcement, Grant, Holder, LeaseStatus, NameStore, Registry, RegistryFault,
    ReplicaLease, Terms,
};
pub use status::{ListFault, ReplicaStatus, Status};
pub use timing::Timing;
pub use upstream::Upstream;
pub use upstreams::Upstreams;
