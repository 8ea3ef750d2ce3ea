//! The base of capability servers: typed tools, prompts and resources over MCP.
//!
//! A server is described once and speaks every supported revision of the protocol, over stdio or streamable HTTP:
//!
//! ```no_run
//! use kit::{Ctx, Fault, Server, ToolSpec};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Text { text: String }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Count { words: usize }
//!
//! async fn count(input: Text, _ctx: Ctx) -> Result<Count, Fault> {
//!     Ok(Count { words: input.text.split_whitespace().count() })
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     kit::main(Server::new("words-mcp", "0.1.0").tool(ToolSpec::new("count_words", "Counts the words of a text."), count))
//! }
//! ```
//!
//! A server that reads untrusted bytes, runs programs or has flags of its own uses [`start`].
//!
//! A server uses [`main_with`] for protocol features that the kit does not model: it takes any rmcp `ServerHandler` around
//! the [`Capability`]. A capability server runs on its own; given the URL of a gateway, it registers itself there over HTTP.

mod announce;
mod answer;
mod base;
mod build_error;
mod call;
mod capability;
mod computed;
mod context;
mod cut;
mod fault;
mod fetch;
mod given;
pub mod http;
pub mod jobs;
mod limits;
mod office;
mod options;
mod program;
mod programs;
mod progress;
mod prompt;
mod resource;
mod run;
mod server;
mod shared;
mod start;
mod stdio;
mod stored;
mod tool;

pub use answer::{Answer, Blocks, NoInput, Raw};
pub use build_error::BuildError;
pub use capability::Capability;
pub use computed::{Computed, compute, is_long};
pub use context::Ctx;
pub use documents::{Form, Metadata, Unreadable};
pub use fault::Fault;
pub use fetch::{FetchOptions, Fetched};
pub use given::{GivenFile, Skipped, blocking};
pub use limits::Limits;
pub use office::{Office, OfficeFile};
pub use options::{GatewayOptions, Options};
pub use program::{Engine, Program, Ran, Task};
pub use prompt::PromptArguments;
pub use proto::{Code, FileArgs, FileStrategy, clean};
pub use reading::{Content, Document, Done, ReadDocument, Refused, Work};
pub use resource::Locator;
pub use rmcp;
pub use run::{main, main_with};
pub use server::Server;
pub use start::{NoFlags, start};
pub use stored::{Linked, StorageLimits, StoredBytes, StoredRef};
pub use tool::ToolSpec;
