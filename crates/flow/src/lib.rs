//! The research flow: from a topic to perspectives, questions, sources, notes, an outline, and a report in which every
//! sentence is cited.
//!
//! Each step is a tool of its own; `research.execute` joins them in a durable workflow.

pub mod graph;
pub mod note;
pub mod outline;
pub mod source;
