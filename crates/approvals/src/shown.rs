//! What a reviewer is shown: everything, with nothing that could act on their screen.

use proto::{Digest, canonical, clean, digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{ApprovalRow, ApprovalRuleRow, ApprovalState};

/// A file that the arguments of a call name, as a reviewer sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownFile {
    pub id: String,
    pub name: String,
    pub size: u64,
    pub sha256: String,
}

/// Arguments as a person reads them: laid out, whole, with all that would not be seen written as JSON escapes. Read as
/// JSON, it is the same value.
pub fn inert(value: &Value) -> String {
    clean::visible_json(&format!("{value:#}"))
}

/// Damage of a stored call: it cannot be shown as it will run, so it cannot be approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    #[error(
        "the stored approval is damaged ({column}), so it is unknown what would be approved: reject it"
    )]
    Row { column: &'static str },
    #[error(
        "the stored list of this call's files cannot be read, so it is unknown what would be approved: reject it"
    )]
    Files,
    #[error(
        "the arguments of this call are not stored, so it is unknown what would be approved: reject it"
    )]
    NoArguments,
    #[error(
        "the stored arguments of this call are not JSON, so it is unknown what would be approved: reject it"
    )]
    NotJson,
    #[error(
        "the stored arguments of this call are not those that would run, so it is unknown what would be approved: reject it"
    )]
    OtherArguments,
}

/// The files that the arguments of a call name.
pub fn shown_files(row: &ApprovalRow) -> Result<Vec<ShownFile>, Damage> {
    serde_json::from_str(&row.files).map_err(|error| {
        tracing::error!(%error, approval = row.id, "the stored files of an approval cannot be read");
        Damage::Files
    })
}

/// The arguments of a call, if they are stored and have the digest of the arguments that would run.
pub fn stored_arguments(row: &ApprovalRow) -> Result<Value, Damage> {
    let read = || {
        let text = row.arguments.as_deref().filter(|text| !text.is_empty());
        let text = text.ok_or(Damage::NoArguments)?;
        let value: Value = serde_json::from_str(text).map_err(|_| Damage::NotJson)?;
        let is_same = digest(&canonical::bytes(&value)) == row.arguments_digest;
        if is_same { Ok(value) } else { Err(Damage::OtherArguments) }
    };
    read().inspect_err(|damage| {
        tracing::error!(%damage, approval = row.id, "the stored arguments of an approval are damaged");
    })
}

/// The arguments of a call as a reviewer reads them.
pub fn shown_arguments(row: &ApprovalRow) -> Result<String, Damage> {
    stored_arguments(row).map(|arguments| inert(&arguments))
}

/// An approval as doors and commands show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    pub id: String,
    pub tenant: String,
    /// The subject that made the call.
    pub owner: String,
    pub agent: Option<String>,
    pub tool: String,
    pub version: String,
    #[schemars(with = "String")]
    pub definition: Digest,
    /// The digest of the code that the call would run; none if the tool runs no code of the gateway's host.
    #[schemars(with = "Option<String>")]
    pub code: Option<Digest>,
    pub idempotency_key: Option<String>,
    /// Why the author of a workflow's task wants a person to approve it.
    #[serde(default)]
    pub request_reason: Option<String>,
    /// The canonical arguments; a list leaves long ones out.
    pub arguments: Option<String>,
    pub arguments_bytes: u64,
    #[schemars(with = "String")]
    pub arguments_digest: Digest,
    /// The same as `argumentsDigest`.
    #[serde(rename = "argumentsSum", default)]
    #[schemars(with = "Option<String>", extend("deprecated" = true))]
    deprecated_digest: Option<Digest>,
    /// Why the arguments cannot be shown; then the call cannot be approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_error: Option<String>,
    pub files: Vec<ShownFile>,
    /// Why the files cannot be listed; then the call cannot be approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_error: Option<String>,
    /// The arguments laid out, with everything invisible as JSON escapes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    pub trace: String,
    pub run: Option<String>,
    pub door: String,
    pub created_unix_ms: u64,
    pub deadline_unix_ms: u64,
    #[schemars(with = "String")]
    pub state: ApprovalState,
    pub decided_by: Option<String>,
    pub decided_via: Option<String>,
    pub reason: Option<String>,
    pub decided_unix_ms: Option<u64>,
    /// Until when an approval that no call has used yet may be used.
    pub good_until_unix_ms: Option<u64>,
}

impl From<ApprovalRow> for ApprovalView {
    fn from(row: ApprovalRow) -> Self {
        let (files, files_error) = match shown_files(&row) {
            Ok(files) => (files, None),
            Err(damage) => (Vec::new(), Some(damage.to_string())),
        };
        // Lists leave long arguments out.
        let shown = row.arguments.is_some().then(|| shown_arguments(&row));
        let (shown, arguments_error) = match shown.transpose() {
            Ok(shown) => (shown, None),
            Err(damage) => (None, Some(damage.to_string())),
        };
        Self {
            id: row.id,
            tenant: row.tenant,
            owner: row.owner,
            agent: row.agent,
            tool: row.tool,
            version: row.version,
            definition: row.definition,
            code: row.code,
            idempotency_key: row.idempotency_key,
            request_reason: row.request_reason,
            shown,
            arguments: row.arguments,
            arguments_bytes: row.arguments_bytes,
            arguments_digest: row.arguments_digest,
            deprecated_digest: Some(row.arguments_digest),
            arguments_error,
            files,
            files_error,
            trace: row.trace,
            run: row.run,
            door: row.door,
            created_unix_ms: row.created_unix_ms,
            deadline_unix_ms: row.deadline_unix_ms,
            state: row.state,
            decided_by: row.decided_by,
            decided_via: row.decided_via,
            reason: row.reason,
            decided_unix_ms: row.decided_unix_ms,
            good_until_unix_ms: row.good_until_unix_ms,
        }
    }
}

/// A standing rule as doors and commands show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RuleView {
    #[serde(flatten)]
    pub rule: ApprovalRuleRow,
    /// A deprecated name of the rule's `argumentsDigest`.
    #[serde(rename = "argumentsSum", default)]
    deprecated_digest: Option<Digest>,
}

impl From<ApprovalRuleRow> for RuleView {
    fn from(rule: ApprovalRuleRow) -> Self {
        Self { deprecated_digest: rule.arguments_digest, rule }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_reviewer_sees_everything_and_nothing_acts() {
        let hostile = json!({
            "to": "pay\u{202e}moc.live\u{2066}",
            "ansi": "\u{1b}[2J\u{1b}]0;gone\u{7}\u{9b}31m",
            "hidden": "a\u{200b}b\u{e0041}\u{fe0f}c\u{2028}d\u{3164}",
            "page": "<script>alert(1)</script>\r\n\ttext",
            "big": "x".repeat(64 * 1024),
        });
        let shown = inert(&hostile);
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), hostile, "whole");
        for character in shown.chars() {
            let plain = character == '\n' || character == ' ' || !character.is_whitespace();
            assert!(plain && (character == '\n' || !character.is_control()), "{character:?}");
        }
        for hidden in ["\u{202e}", "\u{1b}", "\u{200b}", "\u{e0041}", "\u{3164}"] {
            assert!(!shown.contains(hidden), "{hidden:?}");
        }
        assert!(shown.contains("\\u202e") && shown.contains("\\u001b"));
    }
}
