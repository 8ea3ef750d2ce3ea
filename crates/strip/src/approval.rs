//! Calls that a person must approve: the crate `approvals`.

pub(crate) use approvals::{
    ApprovalView, Approvals, DecideError, Decider, Decision, ShownFile, Standing, Verdict, question, run_to_end,
};
pub(crate) use approvals::{Grant, Grounds, Outcome, RuleQuery};
