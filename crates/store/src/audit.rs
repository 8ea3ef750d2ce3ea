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
    /// What became of a call: `ran`, `replayed`, `shared`, `asked`, `refused`, `failed` or `abandoned`; or what a person
    /// decided about it: `approved`, `rejected` or, where nobody did, `expired`.
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
    pub since_unix_ms: Option<u64>,
    pub limit: u32,
}

impl Default for AuditFilter {
    fn default() -> Self {
        Self {
            trace: None,
            tenant: None,
            tool: None,
            outcome: None,
            since_unix_ms: None,
            limit: 100,
        }
    }
}
