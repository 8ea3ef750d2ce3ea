//! The question to the person at the caller's own client, and how their answer is read.

use serde_json::{Map, Value, json};
use store::ApprovalRow;

use super::{Decision, Verdict, inert};
use crate::{Request, Resume};

/// The name of the question in an answer that asks for input.
const NAME: &str = "powerstrip.approval";

/// The request by which a client asks its person.
pub(crate) const METHOD: &str = "elicitation/create";

/// The longest reason that is kept.
const MAX_REASON: usize = 2_000;

/// Whether a caller's client can show forms.
pub(crate) fn can_ask(call: &Request) -> bool {
    let declared = call.client.as_ref().and_then(|client| client.capabilities().get("elicitation"));
    match declared {
        Some(Value::Object(modes)) => modes.is_empty() || modes.contains_key("form"),
        _ => false,
    }
}

/// The form, with everything that is to be approved.
pub(crate) fn form(row: &ApprovalRow) -> Value {
    let caller = row.agent.as_deref().map_or_else(String::new, |agent| format!(" (agent {agent})"));
    let arguments = inert(row.arguments.as_deref().unwrap_or_default());
    let files = match row.files.as_str() {
        "" | "[]" => String::new(),
        files => format!("\n\nFiles that they name:\n\n{}", inert(files)),
    };
    let key = row.idempotency_key.as_deref().map_or_else(String::new, |key| {
        format!("\n\nIdempotency key, which reaches the tool: {}", inert(&json!(key).to_string()))
    });
    json!({
        "mode": "form",
        "message": format!(
            "{}{caller} wants to call {} {} with these arguments:\n\n{arguments}{files}{key}\n\nMay it?",
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

/// The answer that asks a caller of 2026-07-28 or later, who then repeats its call.
pub(crate) fn round(row: &ApprovalRow) -> Value {
    json!({
        "resultType": "input_required",
        "inputRequests": {NAME: {"method": METHOD, "params": form(row)}},
    })
}

/// Takes the answer to this question out of a repeated call; the rest is for its tool.
pub(crate) fn take_answer(call: &mut Request) -> Option<Value> {
    let resume = call.resume.as_ref()?;
    let answer = resume.responses.get(NAME)?.clone();
    let mut rest = Resume::clone(resume);
    rest.responses.remove(NAME);
    let more = !rest.responses.is_empty() || rest.state.is_some();
    call.resume = more.then(|| rest.into());
    Some(answer)
}

/// The decision of an answer; none if the person closed the form.
pub(crate) fn decided(answer: &Value) -> Option<Decision> {
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
