use serde_json::json;

use super::dag::{Setting, dag};
use super::input::Input;

fn input(value: serde_json::Value) -> Input {
    serde_json::from_value(value).unwrap()
}

#[test]
fn without_the_web_nothing_is_searched_there() {
    let input =
        input(json!({"topic": "heat", "sources": {"web": false, "collections": ["notes"]}}));
    input.check().unwrap();
    let dag = dag(&input, &Setting { collection: "run_0", accessed: "2026-11-18" });
    let tools: Vec<_> = dag.tasks.iter().filter_map(|task| task.tool.as_deref()).collect();
    assert!(!tools.contains(&"web.search.query"), "{tools:?}");
    let find = dag.tasks.iter().find(|task| task.id == "find").unwrap();
    assert_eq!(find.arguments["collections"], json!(["notes"]));
}

#[test]
fn braces_of_a_topic_are_no_template() {
    let input = input(json!({"topic": "why {{ 7 * 7 }} {% raw %} \"quoted\""}));
    let dag = dag(&input, &Setting { collection: "run_0", accessed: "2026-11-18" });
    let topic = dag.tasks[0].arguments["topic"].as_str().unwrap();
    assert_eq!(topic, r#"{{ "why {{ 7 * 7 }} {% raw %} \"quoted\"" }}"#);
}

#[test]
fn an_input_without_any_source_is_refused() {
    let input = input(json!({"topic": "heat", "sources": {"web": false}}));
    assert!(input.check().unwrap_err().message.contains("sources"));
}
