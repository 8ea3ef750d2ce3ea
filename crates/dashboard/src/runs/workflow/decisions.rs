//! The approvals that a workflow waits for: what is to be called, why a person is asked, and the way to the decision.

use auth::scope;
use maud::{Markup, html};
use operations::workflows::WorkflowDetails;
use serde_json::Value;

use crate::viewer::Viewer;
use crate::words::{approval_page, count, inert, json, short};

/// How many are shown; the page of approvals has all.
const MAX_SHOWN: usize = 5;

pub(super) fn show(details: &WorkflowDetails, viewer: &Viewer) -> Markup {
    let open = details.checkpoint.as_ref().and_then(|answer| answer.get("decisions")?.as_array());
    let open = open.map(Vec::as_slice).unwrap_or_default();
    html! { div #decisions data-swap { (list(open, viewer.may(scope::APPROVALS_READ))) } }
}

fn list(open: &[Value], may_read: bool) -> Markup {
    html! {
        @if !open.is_empty() {
            h2 { "Approval needed" }
            @for one in open.iter().take(MAX_SHOWN) { (decision(one, may_read)) }
            @if open.len() > MAX_SHOWN {
                p { a href="/dashboard/approvals" { (count(open.len() - MAX_SHOWN, "more approval", "more approvals")) } }
            }
        }
    }
}

fn decision(one: &Value, may_read: bool) -> Markup {
    let text = |field: &str| one.get(field).and_then(Value::as_str).unwrap_or_default();
    let arguments = one.get("arguments").filter(|arguments| !arguments.is_null());
    html! {
        section.rule {
            p { "Task " code { (short(text("task_id"), 60)) } " wants to call " code { (short(text("tool"), 80)) } "." }
            @if !text("reason").is_empty() { blockquote { (inert(text("reason"))) } }
            @if let Some(arguments) = arguments { pre.code tabindex="0" { (json(arguments)) } }
            div.buttons {
                @if may_read { a.button.primary href=(approval_page(text("approval_id"))) { "Review and decide" } }
                @else { span.soft { "A person with the scope " code { (scope::APPROVALS_DECIDE) } " decides." } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_approval_shows_tool_reason_and_arguments() {
        let one = json!({"approval_id": "apr_1", "task_id": "pay", "tool": "bank:pay@1",
            "reason": "over <100>", "arguments": {"sum": 120}});
        let shown = list(&vec![one; 7], true).into_string();
        for part in ["/dashboard/approvals/apr_1", "bank:pay@1", "over &lt;100&gt;", "120"] {
            assert_eq!(shown.matches(part).count(), MAX_SHOWN, "{part}: {shown}");
        }
        assert!(shown.contains("2 more approvals"), "{shown}");
        assert!(!list(&[json!({})], false).into_string().contains("Review and decide"));
        assert!(list(&[], true).into_string().is_empty());
    }
}
