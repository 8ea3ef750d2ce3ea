//! Runs: the crate `runs`, the membership of a call in its run, and the operations on runs.

mod forms;
pub mod operations;
mod ticket;

pub(crate) use proto::SlotType;
pub(crate) use runs::{NewQuestion, REMEMBERED};
pub(crate) use runs::{QuestionView, Run, RunDetails, RunOf, RunSummary, Runs};

pub(crate) use forms::{park_questions, repeat_task};
pub(crate) use ticket::Ticket;
