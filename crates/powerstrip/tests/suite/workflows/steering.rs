//! Starting, continuing, changing and ending workflows.

use serde_json::{Value, json};

use crate::workflows::support::{call, pair, per_layer, start, statuses, work};

#[tokio::test]
async fn a_dag_runs_to_its_end_and_outputs_are_passed_on() {
    let gateway = start("").await;
    let tasks = json!([
        {"id": "a", "tool": "t:work", "arguments": {"task": "a", "value": {"n": 7}}},
        {"id": "b", "tool": "t:work", "arguments": {"task": "b", "value": "{{ tasks.a.output.value.n }}"}},
        {"id": "c", "tool": "t:work", "arguments": {"task": "{{ tasks.b.output.task }}-c"}},
    ]);
    let answer = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
    assert_eq!(answer["status"], "complete", "{answer:#}");
    let done = [pair("a", "success"), pair("b", "success"), pair("c", "success")];
    assert_eq!(statuses(&answer["results"]), done);
    assert_eq!(answer["results"][1]["output"]["value"], 7, "a single expression keeps its type");
    assert_eq!(answer["results"][2]["output"]["task"], "b-c");
    let id = &answer["workflow_id"];
    let key = answer["results"][0]["output"]["key"].as_str().unwrap();
    assert_eq!(key, format!("{}/a/1", id.as_str().unwrap()));

    let again = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(again, answer, "an ended workflow repeats its answer");
    let late = call(&gateway, "abort", json!({"workflow_id": id, "reason": "late"})).await;
    assert_eq!(late["error"]["code"], -32004, "{late}");
    assert_eq!(late["error"]["message"], "Workflow not found or expired");
    let status = call(&gateway, "workflow_status", json!({"workflow_id": id})).await;
    assert_eq!((&status["status"], &status["state"]), (&json!("report"), &json!("ended")));
}

#[tokio::test]
async fn a_workflow_pauses_after_each_layer_and_can_be_aborted() {
    let gateway = start("").await;
    let tasks = json!([work("a", &[]), work("b", &["a"]), work("c", &["b"])]);
    let first = call(&gateway, "execute_dag", per_layer(tasks)).await;
    assert_eq!(first["status"], "layer_complete", "{first:#}");
    assert_eq!(first["layer_index"], 0);
    assert_eq!(statuses(&first["layer_results"]), [pair("a", "success")]);
    assert_eq!(
        first["next_layer_preview"],
        json!([{"id": "b", "tool": "t:work@1", "depends_on": ["a"]}])
    );
    assert_eq!(first["options"], json!(["continue", "replan", "abort"]));
    let id = first["workflow_id"].clone();

    for unknown in ["chk_other", "latest", "0"] {
        let unknown = json!({"workflow_id": id, "checkpoint_id": unknown});
        let refused = call(&gateway, "continue", unknown).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let current = &first["checkpoint_id"];
        assert_eq!(refused["error"]["data"]["checkpoint_id"], *current, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(current.as_str().unwrap()), "{refused}");
    }
    let report = call(&gateway, "workflow_status", json!({"workflow_id": id})).await;
    assert_eq!(report["state"], "paused", "{report}");
    assert_eq!(report["checkpoint"], first);
    // A model that fills every field.
    let filled = json!({"workflow_id": id, "reason": "", "checkpoint_id": "", "wait_ms": 20_000});
    let second = call(&gateway, "continue", filled).await;
    assert_eq!((&second["layer_index"], &second["status"]), (&json!(1), &json!("layer_complete")));
    let stale = json!({"workflow_id": id, "checkpoint_id": first["checkpoint_id"]});
    assert_eq!(call(&gateway, "continue", stale).await, second, "a stale id repeats the answer");

    let aborted = call(&gateway, "abort", json!({"workflow_id": id, "reason": "enough"})).await;
    assert_eq!(aborted["status"], "aborted", "{aborted}");
    assert_eq!((&aborted["completed_layers"], &aborted["reason"]), (&json!(2), &json!("enough")));
    let results = [pair("a", "success"), pair("b", "success")];
    assert_eq!(statuses(&aborted["partial_results"]), results);
    let again = call(&gateway, "abort", json!({"workflow_id": id, "reason": "enough"})).await;
    assert_eq!(again, aborted);
    let gone = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(gone["error"]["code"], -32004, "{gone}");
}

#[tokio::test]
async fn a_paused_workflow_continues_after_a_restart() {
    let gateway = start("").await;
    let tasks = json!([work("a", &[]), work("b", &["a"])]);
    let first = call(&gateway, "execute_dag", per_layer(tasks)).await;
    let id = first["workflow_id"].clone();
    let gateway = gateway.restart().await;
    crate::workflows::support::ready(&gateway).await;
    let report = call(&gateway, "workflow_status", json!({"workflow_id": id})).await;
    assert_eq!(report["checkpoint"], first, "{report:#}");
    let second = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(statuses(&second["layer_results"]), [pair("b", "success")], "{second:#}");
    assert_eq!(second["layer_results"][0]["output"]["runs"], 1, "{second:#}");
    let last = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(last["status"], "complete", "{last:#}");
    assert_eq!(statuses(&last["results"]), [pair("a", "success"), pair("b", "success")]);
}

#[tokio::test]
async fn a_body_cannot_name_another_workflow_than_the_path() {
    let gateway = start("").await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let tasks = json!([work("a", &[]), work("b", &["a"])]);
        let paused = call(&gateway, "execute_dag", per_layer(tasks)).await;
        ids.push(paused["workflow_id"].as_str().unwrap().to_owned());
    }
    let url = gateway.url(&format!("/v1/workflows/{}/abort", ids[0]));
    for field in [r#""id""#, r#""\u0069d""#] {
        let body = format!(r#"{{"reason":"x",{field}:"{}"}}"#, ids[1]);
        let post = reqwest::Client::new().post(&url).header("content-type", "application/json");
        let refused = testkit::send(post.body(body)).await;
        let error = &refused.body["errors"][0];
        assert_eq!((refused.status, &error["code"]), (400, &json!("INVALID_INPUT")), "{refused:?}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("duplicate field `id`"), "{message}");
    }
    for id in &ids {
        let report = call(&gateway, "workflow_status", json!({"workflow_id": id})).await;
        assert_eq!(report["state"], "paused", "{report:#}");
    }
}

#[tokio::test]
async fn bad_dags_and_unknown_workflows_are_refused() {
    let gateway = start("").await;
    let tasks = json!([
        {"id": "a", "tool": "t:wrok", "depends_on": ["b"]},
        {"id": "b", "tool": "t:work", "arguments": {"task": 5}, "depends_on": ["a"]},
    ]);
    let answer = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer:#}");
    let faults = answer["error"]["data"]["faults"].as_array().unwrap();
    let codes: Vec<&str> = faults.iter().map(|fault| fault["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"cycle") && codes.contains(&"unknown_tool"), "{answer:#}");
    assert!(codes.contains(&"bad_arguments"), "{answer:#}");

    let unknown = json!({"workflow_id": "550e8400-e29b-41d4-a716-446655440000"});
    let answer = call(&gateway, "continue", unknown).await;
    assert_eq!(answer["error"]["message"], "Workflow not found or expired", "{answer}");
    let answer = call(&gateway, "continue", json!({"workflow_id": "seven"})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let both = json!({"intent": "do it", "workflow": {"tasks": [work("a", &[])]}});
    let answer = call(&gateway, "execute_dag", both).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let missing: Value = call(&gateway, "abort", json!({"workflow_id": "x"})).await;
    assert_eq!(missing["error"]["code"], -32602, "guard failures have the same form: {missing}");
}
