//! The research flow: from a topic to perspectives, questions, sources, notes, an outline, and a report in which every
//! sentence is cited.
//!
//! Each step is a tool of its own; `research.execute` joins them in a durable workflow.

pub mod citations_tool;
pub mod collection_tools;
pub mod compose;
pub mod diff;
pub mod execute;
pub mod export;
pub mod graph;
pub mod hitl;
mod knowledge;
pub mod load;
pub mod map;
pub mod notes;
pub mod operations;
pub mod outline;
pub mod perspectives;
pub mod rerank;
pub mod search_tool;
pub mod source;
mod tools;
mod writer;

pub use knowledge::SERVER as KNOWLEDGE_SERVER;
pub use tools::{Parts, SOURCE, tools};
pub use writer::CurrentModel;
