use std::borrow::Cow;
use std::sync::Arc;

use proto::{Digest, Principal, TraceId};

/// What the audit trail keeps of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    pub trace: TraceId,
    pub at_unix_ms: u64,
    /// Who called; scopes are not kept.
    pub caller: Arc<Principal>,
    pub door: Cow<'static, str>,
    pub tool: Arc<str>,
    pub version: Arc<str>,
    pub definition: Option<Digest>,
    pub arguments: Digest,
    /// What became of a call: `ran`, `replayed`, `shared`, `asked`, `refused`, `failed`, `abandoned` or, where the process
    /// ended first, `interrupted`; or what a person decided about it: `approved`, `rejected` or, without a decision,
    /// `expired`; or `removed` for a protection that a changed config no longer has.
    pub decision: Cow<'static, str>,
    /// `OK`, or the error code.
    pub outcome: Cow<'static, str>,
    pub blame: Option<Cow<'static, str>>,
    pub duration_us: u64,
}

/// Which audit rows to show; a field that is `None` does not narrow the choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFilter {
    pub trace: Option<TraceId>,
    /// Whose calls; whoever asks on behalf of a tenant sets it.
    pub tenant: Option<String>,
    pub tool: Option<String>,
    pub outcome: Option<String>,
    /// Calls of this subject, or of this agent.
    pub caller: Option<String>,
    pub since_unix_ms: Option<u64>,
    pub until_unix_ms: Option<u64>,
    /// Only rows that are older than where an earlier page ended.
    pub after: Option<AuditPlace>,
    pub limit: u32,
}

/// Where a page of the audit trail ends: the next one goes on behind it, whatever has come in since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditPlace {
    pub at_unix_ms: u64,
    pub number: i64,
}

/// Audit rows, newest first, and where to go on if there are more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditPage {
    pub rows: Vec<AuditRow>,
    pub next: Option<AuditPlace>,
}

/// How many calls began within a stretch of time, and how many of them came to no good end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditCount {
    /// Which stretch, counted from the first.
    pub stretch: u64,
    pub calls: u64,
    pub failed: u64,
}

impl Default for AuditFilter {
    fn default() -> Self {
        Self {
            trace: None,
            tenant: None,
            tool: None,
            outcome: None,
            caller: None,
            since_unix_ms: None,
            until_unix_ms: None,
            after: None,
            limit: 100,
        }
    }
}
