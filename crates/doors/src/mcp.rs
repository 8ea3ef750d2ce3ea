//! What MCP clients see over any transport: the tools, prompts and resources of the strip, in all protocol revisions.
#![expect(
    deprecated,
    reason = "logging is forwarded for the clients and servers that still use it"
)]

mod apps;
mod call;
mod caller;
mod changes;
mod client;
mod content;
mod context;
mod files;
mod handler;
mod listing;
mod notice_text;
mod notices;
mod prompts;
mod protocol;
mod raw_lists;
mod render;
mod results;
mod servers;
mod state;

pub(crate) use call::{MISSING_CAPABILITY, call, call_options, run_of_header};
pub(crate) use caller::CALLER;
pub(crate) use changes::ListVersions;
pub(crate) use content::ContentKinds;
pub(crate) use handler::{Handler, Identity};
pub(crate) use raw_lists::RawLists;
pub(crate) use state::McpState;
