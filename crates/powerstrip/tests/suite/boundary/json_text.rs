//! JSON text where a tool takes JSON is read or refused; it never counts as a document without parts.

use serde_json::{Value, json};
use testkit::Gateway;

#[tokio::test]
async fn json_text_is_read_or_refused() {
    let gateway = Gateway::start().await;
    let selected = |document: Value| {
        let input = json!({"document": document, "path": "$.a"});
        let gateway = &gateway;
        async move { gateway.call("json.select", &input).await.body }
    };
    for document in [json!({"a": 1}), json!("{\"a\": 1}")] {
        assert_eq!(selected(document).await["data"]["matches"], json!([1]));
    }
    assert_eq!(selected(json!("a: 1")).await["errors"][0]["code"], "INVALID_INPUT");

    let task = json!({"id": "a", "tool": "demo.echo", "arguments": {"message": "hi"}});
    let id = "00000000-0000-4000-8000-000000000000";
    for (tool, input) in [
        ("powerstrip:execute_dag", json!({"workflow": json!({"tasks": [task]}).to_string()})),
        ("powerstrip:execute_dag", json!({"workflow": {"tasks": json!([task]).to_string()}})),
        ("powerstrip:inject_tasks", json!({"workflow_id": id, "tasks": json!([task]).to_string()})),
        ("powerstrip:modify_input", json!({"workflow_id": id, "task_id": "a", "arguments": "{}"})),
        ("powerstrip:call_tool", json!({"id": "demo.echo", "arguments": "{\"message\": \"hi\"}"})),
        ("powerstrip:complete_workflow", json!({"summary": "x", "artifacts": "[]"})),
    ] {
        let answer = gateway.call(tool, &input).await.body;
        let code = &answer["errors"][0]["code"];
        assert!(
            ["INVALID_INPUT", "NOT_FOUND"].iter().any(|known| code == known),
            "{tool}: {answer}"
        );
    }
}
