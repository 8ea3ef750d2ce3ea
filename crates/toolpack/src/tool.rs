//! A pack as a tool of the strip.

mod cli;
mod failures;
mod http;
mod pack_tool;
mod process;
mod run;
mod script;
mod verified_copy;

pub use pack_tool::{PackHealth, PackTool};
