//! Forms of MCP servers, and the end of a run, inside workflows.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Gateway, eventually, mcp_tools, sibling_program};

use crate::workflows::support::{
    as_admin, call, ledger, pair, per_layer, ready, run_path, start, statuses, work,
};

/// Waits until a tool is listed.
async fn listed(gateway: &Gateway, name: &str) {
    eventually(name, || async {
        let tools = mcp_tools(&gateway.url("/mcp")).await;
        tools.iter().any(|tool| tool["name"] == name).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_form_of_a_server_is_one_question_for_each_field_in_both_eras() {
    let fixture = sibling_program("powerstrip-fixture");
    let servers = ["modern", "legacy"]
        .map(|era| format!("  {era}: {{ command: '{}', era: {era} }}\n", fixture.display()));
    let mut gateway = start(&servers.concat()).await;
    for era in ["modern", "legacy"] {
        listed(&gateway, &format!("{era}__test_elicitation")).await;
        let form = json!({"id": "form", "tool": format!("{era}:test_elicitation"), "arguments": {"message": "Who are you?"}});
        let tasks = json!([form, work("after", &["form"])]);
        let first = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
        assert_eq!(first["checkpoint_type"], "input_required", "{era}: {first:#}");
        let questions = first["questions"].as_array().unwrap().clone();
        assert_eq!(questions.len(), 2, "{era}: {first:#}");
        assert!(questions.iter().all(|one| one["task_id"] == "form"), "{era}: {first:#}");
        let id = first["workflow_id"].clone();
        // A legacy server does not know its question any more; its task starts again.
        gateway = gateway.restart().await;
        ready(&gateway).await;
        listed(&gateway, &format!("{era}__test_elicitation")).await;
        let path = format!("{}/answers", run_path(&id));
        let reply = async |question: &Value, value: &str| {
            let answer = json!({"slot_id": question["slot_id"], "value": value});
            as_admin(&gateway, Method::POST, &path, &answer).await
        };
        let answered = reply(&questions[0], "one@example.org").await;
        assert_eq!(answered.status, 200, "{era}: {answered:?}");
        let half = call(&gateway, "continue", json!({"workflow_id": id, "wait_ms": 500})).await;
        assert_eq!(half["checkpoint_type"], "input_required", "{era}: one is open: {half:#}");
        let answered = reply(&questions[1], "two@example.org").await;
        assert_eq!(answered.status, 200, "{era}: {answered:?}");
        let last = eventually("the workflow ends", || async {
            let answer = call(&gateway, "continue", json!({"workflow_id": id})).await;
            (answer["status"] == "complete").then_some(answer)
        })
        .await;
        let output = last["results"][0]["output"].to_string();
        for part in ["action=accept", "one@example.org", "two@example.org"] {
            assert!(output.contains(part), "{era}: {last:#}");
        }
        assert_eq!(statuses(&last["results"]), [pair("form", "success"), pair("after", "success")]);
    }
}

#[tokio::test]
async fn complete_workflow_ends_the_run_as_outside_a_workflow() {
    let gateway = start("").await;
    let end = json!({"id": "end", "tool": "powerstrip:complete_workflow", "depends_on": ["b"], "arguments": {"summary": "Did {{ tasks.a.output.task }} and b."}});
    let tasks = json!([work("a", &[]), work("b", &["a"]), end]);
    let done = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
    assert_eq!(done["status"], "complete", "{done:#}");
    let output = &done["results"][2]["output"];
    assert_eq!(
        (&output["status"], &output["data_tools"]),
        (&json!("completed"), &json!(2)),
        "{done:#}"
    );
    let run = gateway.get(&run_path(&done["workflow_id"])).await.body;
    assert_eq!(
        (&run["state"], &run["summary"]),
        (&json!("completed"), &json!("Did a and b.")),
        "{run:#}"
    );

    // A person is asked after two data tools only, inside as outside.
    let question = json!({"slot_type": "text", "slot_id": "tone", "prompt_key": "Which tone?"});
    let ask = json!({"id": "ask", "tool": "powerstrip:request_user_input", "depends_on": ["a"], "arguments": question});
    let early = json!({"workflow": {"tasks": [work("a", &[]), ask]}});
    let failed = call(&gateway, "execute_dag", early).await;
    assert_eq!(failed["status"], "failed", "{failed:#}");
    let inside = &failed["results"][1]["error"];
    let run = [("powerstrip-run", "early")];
    let outside = gateway.call_with("powerstrip:request_user_input", &question, &run).await;
    assert_eq!(inside["code"], "DENIED", "{inside}");
    assert_eq!(inside["code"], outside.body["errors"][0]["code"], "{outside:?}");

    // Nothing may follow the end, and it comes once.
    let end = json!({"id": "end", "tool": "powerstrip:complete_workflow", "depends_on": ["a", "b"], "arguments": {"summary": "x"}});
    let tasks = json!([work("a", &[]), work("b", &[]), end]);
    let first = call(&gateway, "execute_dag", per_layer(tasks)).await;
    let id = first["workflow_id"].clone();
    for more in [
        work("late", &["end"]),
        json!({"id": "end2", "tool": "powerstrip:complete_workflow", "arguments": {"summary": "x"}}),
    ] {
        let refused =
            call(&gateway, "inject_tasks", json!({"workflow_id": id, "tasks": [more]})).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let second = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(statuses(&second["layer_results"]), [pair("end", "success")], "{second:#}");
    let begun = ledger(&gateway).len();
    let late =
        call(&gateway, "inject_tasks", json!({"workflow_id": id, "tasks": [work("late", &[])]}))
            .await;
    assert_eq!(late["error"]["code"], -32602, "the run has ended: {late}");
    let last = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(last["status"], "complete", "{last:#}");
    assert_eq!(ledger(&gateway).len(), begun, "nothing runs after the end");
}

#[tokio::test]
async fn an_abort_after_complete_workflow_still_compensates() {
    let gateway = start("").await;
    let mut first = work("a", &[]);
    first["compensate"] = json!({"tool": "t:undo", "arguments": {"task": "undo a"}});
    let end = json!({"id": "end", "tool": "powerstrip:complete_workflow", "depends_on": ["a"], "arguments": {"summary": "x"}});
    let paused = call(&gateway, "execute_dag", per_layer(json!([first, end]))).await;
    let id = paused["workflow_id"].clone();
    let ended = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(statuses(&ended["layer_results"]), [pair("end", "success")], "{ended:#}");
    let aborted = call(&gateway, "abort", json!({"workflow_id": id, "reason": "wrong"})).await;
    assert_eq!(statuses(&aborted["compensations"]), [pair("a", "success")], "{aborted:#}");
    assert_eq!(ledger(&gateway), ["a", "undo a"]);
    let run = gateway.get(&run_path(&id)).await.body;
    assert_eq!(run["state"], "aborted", "{run:#}");
}
