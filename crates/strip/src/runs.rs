//! Runs: the crate `runs`, the membership of a call in its run, and the operations on runs.

mod forms;
pub mod operations;
mod ticket;

pub use proto::SlotType;
pub(crate) use runs::{NewQuestion, REMEMBERED};
pub use runs::{
    QuestionView, Run, RunCall, RunChange, RunDetails, RunEnd, RunEvent, RunFilter, RunOf,
    RunSummary, Runs,
};

pub(crate) use forms::{Repeated, park_questions, repeat};
pub(crate) use ticket::Ticket;
