//! Calls that a person must approve: the crate `approvals`, and the operations on it.

pub mod operations;

pub(crate) use approvals::{
    ApprovalView, Approvals, DecideError, Decider, Decision, ShownFile, Standing, Verdict, question,
};
pub(crate) use approvals::{Grant, Grounds, Outcome, RuleQuery};
