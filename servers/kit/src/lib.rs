//! What a capability server is built with: typed tools, prompts and resources over MCP.
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
//! What the kit does not model, a server reaches through [`main_with`], which takes any rmcp `ServerHandler` built around
//! the [`Capability`]. A capability server works alone; given the address of a gateway, it announces itself there over HTTP,
//! and knows nothing else of it.

mod announce;
mod answer;
mod call;
mod capability;
mod context;
mod fault;
pub mod http;
mod kept;
mod limits;
mod options;
mod prompt;
mod resource;
mod run;
mod server;
mod stdio;
mod tool;

pub use answer::{Answer, Blocks, NoInput, Raw};
pub use capability::Capability;
pub use context::Ctx;
pub use fault::Fault;
pub use kept::{Keeping, Kept, KeptBytes, Linked};
pub use limits::Limits;
pub use options::{GatewayOptions, Options};
pub use prompt::PromptArguments;
pub use proto::{Code, FileArgs, FileStrategy};
pub use resource::Locator;
pub use rmcp;
pub use run::{main, main_with};
pub use server::{BuildError, Server};
pub use tool::ToolSpec;
