//! The question to the person at the caller's own client, and how their answer is read.

use serde_json::{Map, Value, json};
use store::ApprovalRow;

use crate::{Decision, Verdict, inert, shown_arguments, shown_files};

/// The name of the question in an answer that asks for input.
pub const NAME: &str = "powerstrip.approval";

/// The request by which a client asks its person.
pub const METHOD: &str = "elicitation/create";

/// The longest reason that is kept.
const MAX_REASON: usize = 2_000;

/// Whether a client with these capabilities can show forms.
pub fn can_show_forms(capabilities: &Map<String, Value>) -> bool {
    match capabilities.get("elicitation") {
        Some(Value::Object(modes)) => modes.is_empty() || modes.contains_key("form"),
        _ => false,
    }
}

/// The form, with everything that is to be approved.
pub fn form(row: &ApprovalRow) -> Value {
    let caller = row.agent.as_deref().map_or_else(String::new, |agent| format!(" (agent {agent})"));
    let arguments = shown_arguments(row).unwrap_or_else(|damage| damage.to_string());
    let files = match shown_files(row) {
        Ok(files) if files.is_empty() => String::new(),
        Ok(files) => format!("\n\nFiles that they name:\n\n{}", inert(&json!(files))),
        Err(damage) => format!("\n\nFiles that they name: {damage}"),
    };
    let key = row.idempotency_key.as_deref().map_or_else(String::new, |key| {
        format!("\n\nIdempotency key, which reaches the tool: {}", inert(&json!(key)))
    });
    let reason = row.request_reason.as_deref().map_or_else(String::new, |reason| {
        format!("\n\nThe reason given: {}", inert(&json!(reason)))
    });
    json!({
        "mode": "form",
        "message": format!(
            "{}{caller} wants to call {} {} with these arguments:\n\n{arguments}{files}{key}{reason}\n\nMay it?",
            row.owner, row.tool, row.version
        ),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "decision": {
                    "type": "string", "title": "Decision", "enum": ["approve", "reject"],
                    "description": "approve runs this call once; reject refuses it",
                },
                "reason": {"type": "string", "title": "Reason", "description": "sent to the caller"},
            },
            "required": ["decision"],
        },
    })
}

/// The form after a decision that was refused.
pub fn form_again(row: &ApprovalRow, refusal: &str) -> Value {
    let mut form = form(row);
    let message = form["message"].as_str().unwrap_or_default();
    form["message"] = format!("Your decision was not accepted: {refusal}\n\n{message}").into();
    form
}

/// The answer that asks a caller of 2026-07-28 or later, who then repeats its call.
pub fn round(form: &Value) -> Value {
    json!({
        "resultType": "input_required",
        "inputRequests": {NAME: {"method": METHOD, "params": form}},
    })
}

/// The decision of an answer; none if the person closed the form.
pub fn decided(answer: &Value) -> Option<Decision> {
    let content = answer.get("content").and_then(Value::as_object);
    let text = |content: &Map<String, Value>, key: &str| {
        content.get(key).and_then(Value::as_str).map(|text| text.chars().take(MAX_REASON).collect())
    };
    let reason: Option<String> = content.and_then(|content| text(content, "reason"));
    match (answer["action"].as_str()?, content.and_then(|content| text(content, "decision"))) {
        ("accept", Some(decision)) if decision == "approve" => {
            Some(Decision::once(Verdict::Approve, reason))
        }
        // An accepted form without `approve` is a rejection.
        ("accept" | "decline", _) => Some(Decision::once(Verdict::Reject, reason)),
        _ => None,
    }
}
