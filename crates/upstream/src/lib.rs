//! MCP servers as tools of the strip: child processes and URLs, both protocol eras, replicas, and a catalog
//! that stands while a server is down. One bad server costs its own callers and nobody else.

mod backoff;
mod broken;
mod chance;
mod config;
mod conversation;
mod definition;
mod deps;
mod desk;
mod era;
mod gather;
mod hearing;
mod http;
mod link;
mod listing;
mod openapi;
mod outcome;
mod parked;
mod questions;
mod registry;
mod rpc;
mod seal;
mod selection;
mod server;
mod share;
mod sse;
mod status;
mod stdio;
mod timing;
mod tool;
mod upstream;
mod upstreams;
mod who;
mod wishes;

pub use config::{
    ConfigFault, Instances, Kind, Pin, Reach, Sandbox, SandboxMode, ServerConfig, Start,
};
pub use deps::{Beside, Deps, ListStore, Publish, ToolList};
pub use era::Era;
pub use listing::ListFault;
pub use registry::{
    AddressFault, Announcement, Grant, Holder, LeaseStatus, NameStore, Registry, RegistryFault,
    ReplicaLease, Terms,
};
pub use status::{ReplicaStatus, State, Status};
pub use timing::Timing;
pub use upstream::Upstream;
pub use upstreams::Upstreams;
