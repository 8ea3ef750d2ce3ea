use dag::Task;
use serde_json::json;

use super::*;

fn missing(task_id: &str, argument: &str, schema: Value) -> MissingArgument {
    MissingArgument { task_id: task_id.to_owned(), argument: argument.to_owned(), schema }
}

fn proposal(missing: Vec<MissingArgument>) -> Proposal {
    let task = |id: &str| Task {
        id: id.to_owned(),
        tool: Some("mail:send".to_owned()),
        ..Task::default()
    };
    Proposal { tasks: vec![task("a"), task("b")], missing, ..Proposal::default() }
}

#[test]
fn a_form_has_a_field_for_each_missing_argument() {
    let text = json!({"type": "string", "description": "The\u{200b} address", "pattern": "@"});
    let plan =
        proposal(vec![missing("a", "to", text), missing("b", "count", json!({"type": "integer"}))]);
    let form = form("Send mails", &plan).unwrap();
    assert_eq!(
        form["requestedSchema"],
        json!({"type": "object", "required": ["count", "to"], "properties": {
            "to": {"type": "string", "title": "to", "description": "The\\u{200b} address"},
            "count": {"type": "integer", "title": "count"},
        }})
    );
}

#[test]
fn values_that_no_form_can_hold_are_not_asked_for() {
    let plan = proposal(vec![missing("a", "rows", json!({"type": "array"}))]);
    assert_eq!(form("Send mails", &plan), None);
    assert_eq!(form("Send mails", &proposal(Vec::new())), None);
}

#[test]
fn given_values_are_no_templates_and_the_rest_stays_missing() {
    let text = || json!({"type": "string"});
    let mut plan = proposal(vec![
        missing("a", "to", text()),
        missing("b", "to", text()),
        missing("b", "about.title", text()),
    ]);
    let given = json!({"a.to": "{{ 7 * 7 }}", "about.title": "hello", "other": 1});
    fill(&mut plan, given.as_object().unwrap());
    assert_eq!(json!(plan.tasks[0].arguments), json!({"to": "{{ \"{{ 7 * 7 }}\" }}"}));
    assert_eq!(json!(plan.tasks[1].arguments), json!({"about": {"title": "hello"}}));
    assert_eq!(plan.missing, [missing("b", "to", text())]);
}
