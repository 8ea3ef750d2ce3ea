//! The questions of a run.

use auth::scope;
use maud::{Markup, html};
use runs::QuestionView;
use serde_json::Value;

use crate::layout::csrf;
use crate::posted::PostedForm;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{Tone, inert, json, mark, message};

/// The type of a question whose answer is a long text.
const DOCUMENT: &str = "document";

/// How the slots of outlines begin that `hitl.outline_review` asks about.
const OUTLINE: &str = "outline-";

/// The decision of the button that rejects an outline, and how the answer begins that says so.
const REJECT: &str = "reject";

/// An answer that was refused, and why.
pub(super) struct Refused {
    pub(super) slot: String,
    /// What the person wrote; a document is not lost with it.
    pub(super) text: String,
    pub(super) reason: String,
}

/// A question, with a form while it is open.
pub(super) fn show(
    question: &QuestionView,
    refused: Option<&Refused>,
    action: &str,
    viewer: &Viewer,
) -> Markup {
    let refused = refused.filter(|refused| refused.slot == question.slot_id);
    let id = format!("answer-{}", question.slot_id);
    html! {
        article.rule {
            div.rule-head {
                h2 { (message(&question.prompt)) }
                @match question.state.as_str() {
                    "open" => (mark(Tone::Doubtful, "open")),
                    "answered" => (mark(Tone::Good, "answered")),
                    other => (mark(Tone::Quiet, other)),
                }
            }
            p.soft { code { (inert(&question.slot_id)) } " · asked " (time::ago(question.asked_unix_ms, viewer.now_ms))
                @if let Some(by) = &question.answered_by { " · answered by " (inert(by)) } }
            @match &question.value {
                Some(Value::String(text)) if question.slot_type == DOCUMENT => pre.code { (inert(text)) },
                Some(value) => pre.code { (json(value)) },
                None => {}
            }
            @if question.state == "open" {
                @if viewer.may(scope::RUNS_ANSWER) {
                    form.try method="post" action=(action) {
                        (csrf(viewer))
                        input type="hidden" name="slot" value=(question.slot_id);
                        (field(question, refused, &id))
                        (buttons(question, &id))
                    }
                } @else { p.soft { "You need the scope " code { (scope::RUNS_ANSWER) } "." } }
            }
        }
    }
}

fn field(question: &QuestionView, refused: Option<&Refused>, id: &str) -> Markup {
    let options = |kind: &str| {
        html! {
            fieldset {
                legend { "Answer" }
                @for (index, option) in question.options.iter().enumerate() {
                    label.option { input type=(kind) name="answer" value=(index); " " (inert(option)) }
                }
            }
        }
    };
    html! {
        @match question.slot_type.as_str() {
            "choice" => (options("radio")),
            "multi" => (options("checkbox")),
            "confirm" => fieldset {
                legend { "Answer" }
                label.option { input type="radio" name="answer" value="true"; " Yes" }
                label.option { input type="radio" name="answer" value="false"; " No" }
            },
            "number" => div.field { label for=(id) { "Answer" } input id=(id) type="number" step="any" name="answer" required; },
            "file" => div.field { label for=(id) { "File id" } input id=(id) type="text" name="answer" required placeholder="file_…" autocomplete="off"; },
            DOCUMENT => (document(question, refused, id)),
            _ => div.field { label for=(id) { "Answer" } textarea id=(id) name="answer" rows="3" required {} },
        }
    }
}

/// Whether an outline waits, which may be rejected instead of answered.
fn is_outline(question: &QuestionView) -> bool {
    question.slot_type == DOCUMENT && question.slot_id.starts_with(OUTLINE)
}

fn buttons(question: &QuestionView, id: &str) -> Markup {
    let reason = format!("{id}-reason");
    html! {
        @if is_outline(question) {
            div.field {
                label for=(reason) { "Reason, if you reject it" }
                input id=(reason) type="text" name="reason" maxlength="2000" autocomplete="off";
            }
            div.buttons {
                button.primary type="submit" { "Approve" }
                button.danger type="submit" name="decision" value=(REJECT) formnovalidate { "Reject" }
            }
        } @else {
            div.buttons { button.primary type="submit" { "Answer" } }
        }
    }
}

/// A text box with the document, as far as it was edited.
fn document(question: &QuestionView, refused: Option<&Refused>, id: &str) -> Markup {
    let first = question.options.first().map_or("", String::as_str);
    let text = refused.map_or(first, |refused| &refused.text);
    let fault = format!("{id}-fault");
    html! {
        div.field {
            label for=(id) { @if is_outline(question) { "Outline" } @else { "Answer" } }
            // HTML drops the first line break of a text box.
            textarea.code.document id=(id) name="answer" rows="20" required spellcheck="true"
                aria-invalid=[refused.map(|_| "true")] aria-describedby=[refused.map(|_| &fault)] { "\n" (text) }
            @if let Some(refused) = refused { p.fault id=(fault) { (message(&refused.reason)) } }
        }
    }
}

/// The answer in a form. The run validates it.
pub(super) fn value(question: &QuestionView, posted: &PostedForm) -> Value {
    let text = posted.text("answer");
    if is_outline(question) && posted.text("decision") == REJECT {
        return format!("{REJECT}: {}", posted.text("reason").trim()).into();
    }
    let option = |index: &str| {
        let option = index.parse::<usize>().ok().and_then(|index| question.options.get(index));
        option.map_or(Value::Null, |option| Value::String(option.clone()))
    };
    match question.slot_type.as_str() {
        "choice" => option(text),
        "multi" => {
            let chosen = posted.fields().iter().filter(|(name, _)| name == "answer");
            chosen.map(|(_, index)| option(index)).collect()
        }
        "confirm" => match text {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::Null,
        },
        // may fail: `null` is refused as the answer to a question for a number.
        "number" => serde_json::from_str(text.trim()).unwrap_or(Value::Null),
        _ => Value::String(text.to_owned()),
    }
}
