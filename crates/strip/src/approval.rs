//! Calls that a person must approve: the crate `approvals`.

pub(crate) use approvals::{Approvals, DecideError, Decider, ShownFile, question, run_to_end};
pub(crate) use approvals::{Damage, Grant, Grounds, Outcome, RuleQuery, stored_arguments};
