//! Reads the rows of approvals and rules, and finds those that are damaged.

use proto::{Digest, canonical, digest};
use serde_json::json;

use super::{ApprovalRow, ApprovalRuleRow, ApprovalState};
use crate::StoreError;
use crate::sql::Row;

/// The digest of everything of an approval that never changes. The arguments have a digest of their own.
pub(super) fn digest_request(row: &ApprovalRow) -> Digest {
    let caller = json!([row.tenant, row.owner, row.agent, row.decider, row.door, row.run]);
    let tool = json!([row.tool, row.version, row.definition, row.code]);
    let call = json!([row.arguments_digest, row.files, row.idempotency_key, row.request_reason]);
    let times = json!([row.created_unix_ms, row.deadline_unix_ms]);
    let request = json!([row.id, row.fingerprint, row.trace, caller, tool, call, times]);
    digest(&canonical::bytes(&request))
}

/// The digest of everything of a standing rule that never changes.
pub(super) fn digest_rule(rule: &ApprovalRuleRow) -> Digest {
    let caller = json!([rule.tenant, rule.owner, rule.agent, rule.run]);
    let tool = json!([rule.tool, rule.definition, rule.code]);
    let call = json!([rule.arguments_digest, rule.arguments]);
    let origin = json!([rule.created_by, rule.created_unix_ms, rule.expires_unix_ms]);
    digest(&canonical::bytes(&json!([rule.id, caller, tool, call, origin])))
}

/// Fails if a row is not as it was stored. Rows of earlier versions have no digest.
fn check_digest(
    row: &Row,
    column: &'static str,
    compute: impl FnOnce() -> Digest,
) -> Result<(), StoreError> {
    match row.optional::<Digest>(column)? {
        Some(stored) if stored != compute() => {
            Err(StoreError::Unreadable { column, value: stored.to_string() })
        }
        _ => Ok(()),
    }
}

pub(super) fn read(row: &Row) -> Result<ApprovalRow, StoreError> {
    let approval = ApprovalRow {
        id: row.get("id")?,
        tenant: row.get("tenant")?,
        owner: row.get("owner")?,
        agent: row.optional("agent")?,
        decider: row.get("decider")?,
        tool: row.get("tool")?,
        version: row.get("version")?,
        definition: row.get("definition")?,
        code: row.optional("code")?,
        idempotency_key: row.optional("idempotency_key")?,
        request_reason: row.optional("request_reason")?,
        arguments: row.optional("arguments")?,
        arguments_bytes: row.get("arguments_bytes")?,
        arguments_digest: row.get("arguments_digest")?,
        files: row.get("files")?,
        fingerprint: row.get("fingerprint")?,
        trace: row.get("trace")?,
        run: row.optional("run")?,
        door: row.get("door")?,
        created_unix_ms: row.get("created_ms")?,
        deadline_unix_ms: row.get("deadline_ms")?,
        state: row.parsed("state")?,
        decided_by: row.optional("decided_by")?,
        decided_via: row.optional("decided_via")?,
        reason: row.optional("reason")?,
        decided_unix_ms: row.optional("decided_ms")?,
        good_until_unix_ms: row.optional("good_until_ms")?,
    };
    // A reviewer would be shown another call than the one that would run.
    check_digest(row, "request_digest", || digest_request(&approval))?;
    Ok(approval)
}

/// What can be read of a damaged row; the rest is empty.
pub(super) fn read_damaged(row: &Row) -> ApprovalRow {
    let text = |column| row.get::<String>(column).unwrap_or_default();
    let optional = |column| row.optional::<String>(column).unwrap_or_default();
    let time = |column| row.optional::<u64>(column).unwrap_or_default();
    let digest_of = |column| row.get::<Digest>(column).unwrap_or_else(|_| digest(b""));
    ApprovalRow {
        id: text("id"),
        tenant: text("tenant"),
        owner: text("owner"),
        agent: optional("agent"),
        decider: row.get("decider").unwrap_or_default(),
        tool: text("tool"),
        version: text("version"),
        definition: digest_of("definition"),
        code: row.optional("code").unwrap_or_default(),
        idempotency_key: optional("idempotency_key"),
        request_reason: optional("request_reason"),
        arguments: optional("arguments"),
        arguments_bytes: row.get("arguments_bytes").unwrap_or_default(),
        arguments_digest: digest_of("arguments_digest"),
        files: text("files"),
        fingerprint: digest_of("fingerprint"),
        trace: text("trace"),
        run: optional("run"),
        door: text("door"),
        created_unix_ms: time("created_ms").unwrap_or_default(),
        deadline_unix_ms: time("deadline_ms").unwrap_or_default(),
        state: row.parsed("state").unwrap_or(ApprovalState::Pending),
        decided_by: optional("decided_by"),
        decided_via: optional("decided_via"),
        reason: optional("reason"),
        decided_unix_ms: time("decided_ms"),
        good_until_unix_ms: time("good_until_ms"),
    }
}

pub(super) fn read_rule(row: &Row) -> Result<ApprovalRuleRow, StoreError> {
    let arguments: Option<String> = row.optional("arguments")?;
    let arguments_digest: Option<Digest> = row.optional("arguments_digest")?;
    // A rule for any arguments has neither: read as one, a rule that lost its digest would allow more than was approved.
    let lost = match (&arguments, &arguments_digest) {
        (Some(_), None) => Some("arguments_digest"),
        (None, Some(_)) => Some("arguments"),
        _ => None,
    };
    if let Some(column) = lost {
        return Err(StoreError::Unreadable { column, value: "null".to_owned() });
    }
    let rule = ApprovalRuleRow {
        id: row.get("id")?,
        tenant: row.get("tenant")?,
        owner: row.get("owner")?,
        agent: row.optional("agent")?,
        tool: row.get("tool")?,
        definition: row.get("definition")?,
        code: row.optional("code")?,
        arguments_digest,
        arguments,
        run: row.optional("run")?,
        created_by: row.get("created_by")?,
        created_unix_ms: row.get("created_ms")?,
        expires_unix_ms: row.get("expires_ms")?,
        uses: row.get("uses")?,
    };
    // It would allow other calls than were approved.
    check_digest(row, "rule_digest", || digest_rule(&rule))?;
    Ok(rule)
}
