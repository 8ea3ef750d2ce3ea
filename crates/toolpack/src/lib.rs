//! Declarative tools: a `*.tool.yaml` dropped into a folder becomes a tool of the strip.
//!
//! Nothing here starts a process or opens a connection by itself, and nothing reads the process environment:
//! packs run through `egress`, with what the binary put into [`Runtime`].

mod contract;
mod fault;
mod lint;
mod loader;
mod manifest;
mod pack;
mod root;
mod runtime;
mod schemas;
mod select;
mod template;
mod tool;
mod watch;
mod workers;

pub use fault::Fault;
pub use lint::{CannedCall, canned_calls, lint, pack_ids, replacements, unportable};
pub use loader::{Loaded, Toolpacks};
pub use manifest::{Example, Manifest, parse_pack};
pub use runtime::Runtime;
pub use template::render_template;
pub use tool::{PackHealth, PackTool};
pub use watch::SOURCE;
