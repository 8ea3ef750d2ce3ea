use std::sync::Arc;

use super::graph::{Address, Graph};
use super::state::Verdict;

/// Something that happened. Ids and times come with it, so that equal events have equal effects.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub at_unix_ms: u64,
    /// The id of a checkpoint, if the event leads to one.
    pub new_id: String,
    pub kind: EventKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// Everything up to the last [`Action::Save`] is committed.
    Committed,
    /// The owner's credential is valid, or why it is not.
    OwnerChecked(Result<(), String>),
    Prepared {
        task: Address,
        outcome: Prepared,
    },
    /// The input of a sub-workflow was evaluated.
    Entered {
        cell: Address,
        fits: bool,
    },
    Called {
        cell: Address,
        undo: bool,
        outcome: CallOutcome,
    },
    /// A delay is over.
    Due {
        cell: Address,
        undo: bool,
    },
    /// A person has decided about a call, or answered its questions.
    Settled {
        cell: Address,
        undo: bool,
        approved: bool,
        feedback: Option<String>,
    },
    Continue {
        checkpoint_id: Option<String>,
    },
    /// An operator has a quarantined workflow continue.
    Release,
    Abort {
        reason: String,
    },
    /// Call a failed task again.
    Retry {
        task: usize,
    },
    Skip {
        task: usize,
    },
    /// The arguments of a task that has not begun were replaced.
    Modify {
        task: usize,
    },
    /// The DAG has more tasks.
    Extend {
        graph: Arc<Graph>,
    },
}

/// The result of `when` and `for_each`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prepared {
    Skip,
    One,
    Items(usize),
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    Success,
    Failed {
        retryable: bool,
    },
    Rejected,
    /// A person must approve it.
    Parked,
    /// It has asked a person.
    Asking,
    /// A person must approve it, and no more calls of this caller may wait for that.
    Full,
}

/// What the driver does next, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    CheckOwner,
    StartLayer {
        layer: usize,
    },
    /// Evaluate `when` and `for_each`.
    Prepare {
        task: Address,
    },
    /// Evaluate the input of a sub-workflow.
    Enter {
        cell: Address,
    },
    Call {
        cell: Address,
        undo: bool,
    },
    Delay {
        cell: Address,
        undo: bool,
        until_unix_ms: u64,
    },
    /// Cancel the running calls; each still ends with an event.
    Cancel,
    /// Cancel the approvals and questions of parked calls.
    Withdraw,
    Record(Record),
    /// Commit all records and the state, and answer with [`EventKind::Committed`].
    Save,
    /// Hand all records and the state to the writer without waiting.
    Submit,
    /// A command had no effect.
    Refuse(Refusal),
    /// A command had no effect because the workflow is past it: repeat the current answer.
    Repeat,
}

impl Action {
    /// Whether tools are called or templates evaluated because of it.
    pub fn begins_work(&self) -> bool {
        match self {
            Self::CheckOwner
            | Self::StartLayer { .. }
            | Self::Prepare { .. }
            | Self::Enter { .. }
            | Self::Call { .. }
            | Self::Delay { .. } => true,
            Self::Cancel
            | Self::Withdraw
            | Self::Record(_)
            | Self::Save
            | Self::Submit
            | Self::Refuse(_)
            | Self::Repeat => false,
        }
    }
}

/// Why a command had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Only a paused workflow can be changed.
    NotPaused,
    /// A rejected workflow can only get other tasks, or be aborted.
    Rejected,
    /// It waits for a person, or its owner is gone.
    Waits,
    NotFailed,
    Started,
    /// A task has ended the run.
    Completed,
    /// Only an operator continues it.
    Quarantined,
}

/// The stored state of a task or an item.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub address: Address,
    /// It is about the compensation of the call.
    pub undo: bool,
    pub status: RecordStatus,
    pub attempt: u32,
    pub sequence: u64,
    pub because: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordStatus {
    /// A `for_each` has so many items.
    Open {
        items: usize,
    },
    Ended(Verdict),
    /// It had begun, and failed because the workflow was aborted.
    Cancelled,
    Parked,
    Asking,
    /// It is called again from the start.
    Reset,
}
