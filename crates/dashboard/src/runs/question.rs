//! The questions of a run.

use auth::scope;
use maud::{Markup, html};
use runs::QuestionView;
use serde_json::Value;

use crate::layout::csrf;
use crate::posted::PostedForm;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{Tone, inert, json, mark};

/// A question, with a form while it is open.
pub(super) fn show(question: &QuestionView, action: &str, viewer: &Viewer) -> Markup {
    let id = format!("answer-{}", question.slot_id);
    html! {
        article.rule {
            div.rule-head {
                h2 { (inert(&question.prompt)) }
                @match question.state.as_str() {
                    "open" => (mark(Tone::Doubtful, "open")),
                    "answered" => (mark(Tone::Good, "answered")),
                    other => (mark(Tone::Quiet, other)),
                }
            }
            p.soft { code { (inert(&question.slot_id)) } " · asked " (time::ago(question.asked_unix_ms, viewer.now_ms))
                @if let Some(by) = &question.answered_by { " · answered by " (inert(by)) } }
            @if let Some(value) = &question.value { pre.code { (json(value)) } }
            @if question.state == "open" {
                @if viewer.may(scope::RUNS_ANSWER) {
                    form.try method="post" action=(action) {
                        (csrf(viewer))
                        input type="hidden" name="slot" value=(question.slot_id);
                        (field(question, &id))
                        div.buttons { button.primary type="submit" { "Answer" } }
                    }
                } @else { p.soft { "You need the scope " code { (scope::RUNS_ANSWER) } "." } }
            }
        }
    }
}

fn field(question: &QuestionView, id: &str) -> Markup {
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
            _ => div.field { label for=(id) { "Answer" } textarea id=(id) name="answer" rows="3" required {} },
        }
    }
}

/// The answer in a form. The run validates it.
pub(super) fn value(question: &QuestionView, posted: &PostedForm) -> Value {
    let text = posted.text("answer");
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
