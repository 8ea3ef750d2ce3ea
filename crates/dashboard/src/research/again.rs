//! The input of research that a new one may begin with.

use auth::scope;
use axum::response::Response;
use maud::{Markup, html};
use proto::Code;
use serde_json::{Map, Value, json};

use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::in_url;

/// The tool that researches.
const TOOL: &str = "research.execute";

/// How many questions of a perspective each depth asks.
const DEPTHS: [(u64, &str); 3] = [(1, "quick"), (3, "standard"), (5, "deep")];

/// The link to the form of the tool, filled with the input of a run.
pub(crate) fn link(run: &str) -> Markup {
    html! { a href=(format!("/dashboard/tools/{TOOL}?run={}", in_url(run))) { "Research again with changes" } }
}

/// The input with which the research of a run was started, as far as its workflow shows it.
pub(crate) async fn input_of_run(
    dashboard: &Dashboard,
    viewer: &Viewer,
    tool: &str,
    run: &str,
) -> Result<Option<Value>, Response> {
    let asked = tool == TOOL && !run.is_empty() && viewer.may(scope::RUNS_READ);
    let Some(console) = dashboard.parts.workflows.as_ref().filter(|_| asked) else {
        return Ok(None);
    };
    match console.definition(&viewer.caller(), run).await {
        Ok(definition) => Ok(input_of(&definition.dag)),
        Err(error) if error.code == Code::NotFound => Ok(None),
        Err(error) => Err(viewer.failed("Not available", &error)),
    }
}

/// The input of the research that has these tasks.
fn input_of(dag: &Value) -> Option<Value> {
    let tasks = dag["tasks"].as_array()?;
    let task = |id: &str| tasks.iter().find(|task| task["id"] == id);
    let plan = &task("plan")?["arguments"];
    let mut input = Map::new();
    input.insert("topic".to_owned(), text(&plan["topic"])?.into());
    if let Some(names) = plan["perspectives"].as_array() {
        input.insert("perspectives".to_owned(), names.iter().filter_map(text).collect());
    }
    let asked = plan["per_perspective"].as_u64();
    if let Some((_, depth)) = DEPTHS.iter().find(|(count, _)| Some(*count) == asked) {
        input.insert("depth".to_owned(), (*depth).into());
    }
    let names = plan["collections"].as_array().into_iter().flatten();
    let collections: Vec<String> = names.filter_map(text).collect();
    let web = task("search").is_some();
    input.insert("sources".to_owned(), json!({"web": web, "collections": collections}));
    input.insert("merge_questions".to_owned(), task("merge_questions").is_some().into());
    input.insert("approve_outline".to_owned(), task("review_outline").is_some().into());
    input.insert("rerank".to_owned(), task("order").is_some().into());
    let formats: Vec<&str> = tasks
        .iter()
        .filter_map(|task| task["id"].as_str()?.strip_prefix("store_report_"))
        .collect();
    input.insert("formats".to_owned(), json!(formats));
    Some(Value::Object(input))
}

/// A text of the caller; one with braces is written as an expression.
fn text(value: &Value) -> Option<String> {
    let written = value.as_str()?;
    let quoted = written.strip_prefix("{{ ").and_then(|rest| rest.strip_suffix(" }}"));
    // may fail: a topic may begin with braces itself.
    quoted.and_then(|quoted| serde_json::from_str(quoted).ok()).or(Some(written.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tasks_of_research_show_its_input() {
        let dag = json!({"tasks": [
            {"id": "plan", "arguments": {"topic": "{{ \"why {{ x }}\" }}", "per_perspective": 5, "collections": ["notes"]}},
            {"id": "review_outline"}, {"id": "store_report_html"},
        ]});
        let input = input_of(&dag).unwrap();
        assert_eq!(input["topic"], "why {{ x }}");
        assert_eq!((&input["depth"], &input["formats"]), (&json!("deep"), &json!(["html"])));
        assert_eq!(input["sources"], json!({"web": false, "collections": ["notes"]}));
        assert_eq!((&input["approve_outline"], &input["rerank"]), (&json!(true), &json!(false)));
        assert!(input_of(&json!({"tasks": [{"id": "a"}]})).is_none());
    }
}
