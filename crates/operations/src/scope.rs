//! The scopes that routes of operations need, by the names that tokens and keys carry.

/// Reading the gateway's metrics and the state of its servers, which cover all tenants together.
pub const METRICS_READ: &str = "metrics:read";

/// Calling tools.
pub const TOOLS_CALL: &str = "tools:call";

/// Reading files of the caller's tenant.
pub const FILES_READ: &str = "files:read";

/// Storing and deleting files.
pub const FILES_WRITE: &str = "files:write";

/// Listing calls that wait for approval, and decisions.
pub const APPROVALS_READ: &str = "approvals:read";

/// Reading runs, their calls and their questions.
pub const RUNS_READ: &str = "runs:read";

/// Answering questions of runs. The local user does not have it: an agent must not answer its own questions.
pub const RUNS_ANSWER: &str = "runs:answer";

/// Reading the audit trail of the caller's tenant: calls, their messages and what was stored of their content.
pub const AUDIT_READ: &str = "audit:read";
