//! The pure core: what a workflow does next, as a function of its state and an event.
//!
//! It evaluates nothing, calls nothing and stores nothing: the driver does what its actions say, and reports the result as
//! the next event. A result counts once it is committed, so after each layer the core waits for [`EventKind::Committed`].

mod command;
mod event;
mod graph;
mod rebuild;
mod state;
mod step;
mod undo;
mod walk;

pub use event::{Action, CallOutcome, Event, EventKind, Prepared, Record, RecordStatus, Refusal};
pub use graph::{Address, Graph, Node, Step, WHOLE};
pub use rebuild::rebuild;
pub use state::{
    Cell, CellStage, Outcome, Overflow, Pause, PauseKind, Phase, Rules, Saved, Scope, Stage, State,
    TaskState, Undo, UndoStage, Verdict,
};
pub use step::{has_failed, step};

#[cfg(test)]
mod tests;
