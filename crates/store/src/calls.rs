use std::sync::Arc;

use proto::{Digest, Principal};

/// What is kept of a call with an idempotency key, so that a retry after a crash does not run it twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// The digest over tenant, caller, tool and the caller's key.
    pub key: Digest,
    /// Who called; scopes are not kept.
    pub caller: Arc<Principal>,
    pub tool: Arc<str>,
    pub arguments: Digest,
    pub state: CallState,
    pub at_unix_ms: u64,
    pub expires_unix_ms: u64,
}

/// How far a recorded call has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    /// The tool may have run.
    Begun,
    /// The tool has run; the answer as text, unless it was too large or had to make room.
    Answered(Option<String>),
}

/// What is known of an earlier call with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCall {
    pub arguments: Digest,
    pub state: CallState,
}

/// A change of the recorded calls, committed in the order of the audit trail.
#[derive(Clone, Debug)]
pub enum CallChange {
    /// Keeps a record in place of an earlier one with the same key.
    Save(CallRecord),
    /// Removes the record of this key: the call did not take effect and may run again.
    Forget(Digest),
}

impl CallChange {
    /// How many bytes wait in memory until the change is committed.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Save(CallRecord { state: CallState::Answered(Some(answer)), .. }) => answer.len(),
            Self::Save(_) | Self::Forget(_) => 0,
        }
    }
}
