//! `research.execute`: the steps of the flow as one durable workflow.

mod answer;
mod dag;
mod input;
mod tool;

pub use input::{Depth, ExportFormat, Input, SourceChoice};
pub use tool::Execute;

#[cfg(test)]
mod tests;
