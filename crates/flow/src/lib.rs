//! The research flow: from a topic to perspectives, questions, sources, notes, an outline, and a report in which every
//! sentence is cited.
//!
//! Each step is a tool of its own; `research.execute` joins them in a durable workflow.

pub mod graph;
pub mod load;
pub mod note;
pub mod operations;
pub mod outline;
pub mod rerank;
pub mod search_tool;
pub mod source;
