//! Calls that a person must approve: the crate `approvals`, and the operations on it.

pub mod operations;

pub use approvals::{
    ApprovalFilter, ApprovalRow, ApprovalRuleRow, ApprovalState, ApprovalView, Approvals,
    DecideError, Decider, Decision, Event, EventKind, Extent, ShownFile, Standing, StoreError,
    Terms, Verdict, inert, question, reach, run_to_end, shown_files,
};
pub(crate) use approvals::{Grant, Grounds, Outcome, RuleQuery};
