//! Changing a paused workflow: retry, skip, modify, inject; and the limits of commands.

use serde_json::{Value, json};

use crate::workflows::support::{call, hold, pair, per_layer, release, start, statuses, work};

#[tokio::test]
async fn a_failed_task_is_retried_and_its_dependants_follow() {
    let gateway = start("").await;
    let failing = json!({"id": "a", "tool": "t:fail", "arguments": {"task": "a", "times": 9, "retryable": false}});
    let tasks = json!([failing, work("b", &["a"])]);
    let first = call(&gateway, "execute_dag", per_layer(tasks)).await;
    assert_eq!(first["checkpoint_type"], "task_failed", "{first:#}");
    assert_eq!(first["failed_tasks"], json!(["a"]));
    assert_eq!(first["options"], json!(["retry_task", "continue", "replan", "abort"]));
    assert_eq!(first["layer_results"][0]["error"]["retryable"], false, "{first:#}");
    let id = first["workflow_id"].clone();
    let skipped = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(statuses(&skipped["layer_results"]), [pair("b", "skipped")], "{skipped:#}");

    let wrong = call(&gateway, "retry_task", json!({"workflow_id": id, "task_id": "b"})).await;
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let bad = json!({"workflow_id": id, "task_id": "a", "arguments": {"task": 1}});
    let bad = call(&gateway, "retry_task", bad).await;
    assert_eq!(bad["error"]["data"]["faults"][0]["code"], "bad_arguments", "{bad}");
    let other = json!({"task": "a", "times": 0, "retryable": false});
    let retry = json!({"workflow_id": id, "task_id": "a", "arguments": other});
    let retried = call(&gateway, "retry_task", retry).await;
    assert_eq!(statuses(&retried["layer_results"]), [pair("a", "success")], "{retried:#}");
    assert_eq!(retried["layer_results"][0]["attempt"], 2);
    let key = retried["layer_results"][0]["output"]["key"].as_str().unwrap();
    assert!(key.ends_with("/a/2"), "{key}");
    let next = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(statuses(&next["layer_results"]), [pair("b", "success")], "{next:#}");
    let last = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(last["status"], "complete", "{last:#}");
}

#[tokio::test]
async fn tasks_are_modified_skipped_and_added_while_the_workflow_is_paused() {
    let gateway = start("").await;
    let tasks = json!([work("a", &[]), work("b", &["a"]), work("c", &["a"])]);
    let first = call(&gateway, "execute_dag", per_layer(tasks)).await;
    let id = first["workflow_id"].clone();
    let started = json!({"workflow_id": id, "task_id": "a", "arguments": {"task": "x"}});
    let started = call(&gateway, "modify_args", started).await;
    assert_eq!(started["error"]["code"], -32602, "{started}");
    let modify = json!({"workflow_id": id, "task_id": "b", "arguments": {"task": "other", "value": "{{ tasks.a.output.task }}"}});
    let modified = call(&gateway, "modify_args", modify).await;
    assert_eq!(modified, first, "the checkpoint again: {modified:#}");
    let skipped = call(&gateway, "skip_task", json!({"workflow_id": id, "task_id": "c"})).await;
    assert_eq!(skipped["next_layer_preview"][0]["id"], "b", "{skipped:#}");
    let cycle = json!({"workflow_id": id, "tasks": [work("d", &["e"]), work("e", &["d"])]});
    let refused = call(&gateway, "inject_tasks", cycle).await;
    assert!(
        refused["error"]["data"]["faults"][0]["message"].as_str().unwrap().contains("d → e → d"),
        "{refused}"
    );
    let bad =
        json!({"workflow_id": id, "tasks": [{"id": "x", "tool": "t:wrok", "on_eror": "skip"}, 7]});
    let bad = call(&gateway, "inject_tasks", bad).await;
    let faults = bad["error"]["data"]["faults"].to_string();
    for path in ["/tasks/0/tool", "/tasks/0/on_eror", "/tasks/1"] {
        assert!(faults.contains(&format!("\"{path}\"")), "{path}: {bad}");
    }
    let more = json!({"workflow_id": id, "tasks": [work("d", &["a"])]});
    let added = call(&gateway, "inject_tasks", more).await;
    assert_eq!(
        (&added["status"], &added["new_tasks"][0]["id"]),
        (&json!("replanned"), &json!("d")),
        "{added}"
    );
    assert_eq!(added["options"], json!(["continue", "abort"]));
    let replan = json!({"workflow_id": id, "new_requirement": "more"});
    let refused = call(&gateway, "replan", replan).await;
    assert_eq!(refused["error"]["code"], -32602, "nothing fits: {refused}");

    let gateway = gateway.restart().await;
    crate::workflows::support::ready(&gateway).await;
    let second = call(&gateway, "continue", json!({"workflow_id": id})).await;
    let done = [pair("b", "success"), pair("c", "skipped"), pair("d", "success")];
    assert_eq!(statuses(&second["layer_results"]), done, "{second:#}");
    assert_eq!(second["layer_results"][0]["output"]["value"], "a");
    assert_eq!(second["layer_results"][0]["output"]["task"], "other");
}

#[tokio::test]
async fn the_eleventh_command_of_a_minute_is_refused_and_abort_never_is() {
    let gateway = start("").await;
    let tasks: Vec<_> = (0..13)
        .map(|n| {
            let before = format!("t{}", n - 1);
            work(
                &format!("t{n}"),
                if n == 0 { &[] } else { std::slice::from_ref(&before) }
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .as_slice(),
            )
        })
        .collect();
    let first = call(&gateway, "execute_dag", per_layer(json!(tasks))).await;
    let id = first["workflow_id"].clone();
    for layer in 1..=10 {
        let next = call(&gateway, "continue", json!({"workflow_id": id})).await;
        assert_eq!(next["layer_index"], layer, "{next}");
    }
    let refused = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(refused["error"]["code"], -32029, "{refused}");
    let wait = refused["error"]["data"]["retry_after_ms"].as_u64().unwrap();
    assert!((1..=60_000).contains(&wait), "{refused}");
    assert_eq!(refused["error"]["data"]["retryable"], true, "{refused}");
    let stale = json!({"workflow_id": id, "checkpoint_id": first["checkpoint_id"]});
    assert_eq!(call(&gateway, "continue", stale).await["layer_index"], 10, "waiting is free");
    let status = call(&gateway, "workflow_status", json!({"workflow_id": id})).await;
    assert_eq!(status["state"], "paused");
    let aborted = call(&gateway, "abort", json!({"workflow_id": id, "reason": "enough"})).await;
    assert_eq!(aborted["completed_layers"], 11, "{aborted}");
}

#[tokio::test]
async fn each_command_is_journaled_with_its_outcome_and_counts() {
    let gateway = start("").await;
    let tasks = json!([work("a", &[]), work("b", &["a"])]);
    let first = call(&gateway, "execute_dag", per_layer(tasks)).await;
    let (id, chk) = (first["workflow_id"].clone(), first["checkpoint_id"].clone());
    let of = |task: &str| json!({"workflow_id": id, "task_id": task});
    let with = |task: &str| json!({"workflow_id": id, "task_id": task, "arguments": {"task": "x"}});
    let more = |task: &str| json!({"workflow_id": id, "tasks": [work(task, &["a"])]});
    let (accepted, invalid, limited) = ("accepted", "INVALID_INPUT", "RATE_LIMIT");
    let stale = json!({"workflow_id": id, "checkpoint_id": chk});
    let commands = [
        ("skip_task", of("a"), invalid),
        ("skip_task", of("a"), invalid),
        ("skip_task", of("none"), invalid),
        ("modify_args", with("a"), invalid),
        ("modify_args", with("b"), accepted),
        ("retry_task", with("a"), invalid),
        ("inject_tasks", more("b"), invalid),
        ("inject_tasks", more("c"), accepted),
        (
            "approval_response",
            json!({"workflow_id": id, "checkpoint_id": chk, "approved": false}),
            invalid,
        ),
        ("continue", json!({"workflow_id": id, "reason": "fine"}), accepted),
    ];
    let mut expected = vec![("execute_dag", accepted)];
    for (tool, input, outcome) in commands {
        let answer = call(&gateway, tool, input).await;
        let code = answer["error"]["code"].as_i64();
        assert_eq!(code, (outcome == invalid).then_some(-32602), "{tool}: {answer:#}");
        expected.push((tool, outcome));
    }
    // Those that were refused count as well, also after a restart.
    let gateway = gateway.restart().await;
    crate::workflows::support::ready(&gateway).await;
    let refused = call(&gateway, "skip_task", of("c")).await;
    assert_eq!(refused["error"]["code"], -32029, "{refused:#}");
    expected.push(("skip_task", limited));
    assert_eq!(call(&gateway, "continue", stale).await["layer_index"], 1, "waiting is no command");
    let aborted = call(&gateway, "abort", json!({"workflow_id": id, "reason": "enough"})).await;
    assert_eq!(aborted["status"], "aborted", "{aborted:#}");
    expected.push(("abort", accepted));
    let report = call(&gateway, "workflow_status", json!({"workflow_id": id})).await;
    let events = report["events"].as_array().unwrap();
    let rows = events.iter().filter(|event| event["kind"] == "command");
    let rows = rows.map(|event| &event["data"]);
    let found: Vec<_> = rows
        .map(|data| (data["command"].as_str().unwrap(), data["outcome"].as_str().unwrap_or("none")))
        .collect();
    assert_eq!(found, expected, "{report:#}");
}

#[tokio::test]
async fn a_repeated_key_finds_the_first_workflow() {
    let gateway = start("").await;
    let input = json!({"workflow": {"tasks": [work("a", &[])]}});
    let headers = [("idempotency-key", "order-7")];
    let first = gateway.call_with("powerstrip:execute_dag", &input, &headers).await;
    assert_eq!(first.body["data"]["status"], "complete", "{first:?}");
    let gateway = gateway.restart().await;
    crate::workflows::support::ready(&gateway).await;
    let again = gateway.call_with("powerstrip:execute_dag", &input, &headers).await;
    assert_eq!(again.body["data"], first.body["data"]);
    let other = gateway
        .call_with("powerstrip:execute_dag", &input, &[("idempotency-key", "order-8")])
        .await;
    assert_ne!(other.body["data"]["workflow_id"], first.body["data"]["workflow_id"]);
    // Over REST in the header, in the body, or the same in both.
    let post = async |header: &str, body: &Value| {
        let request = reqwest::Client::new().post(gateway.url("/v1/workflows"));
        testkit::send(request.header("idempotency-key", header).json(body)).await
    };
    for body in [input.clone(), with_key(&input, "order-7")] {
        let again = post("order-7", &body).await;
        assert_eq!(again.body["data"], first.body["data"], "{again:?}");
    }
    for (header, body) in [
        ("order-7", with_key(&input, "order-9")),
        (" ", input.clone()),
        ("order-9", with_key(&input, "")),
    ] {
        let refused = post(header, &body).await;
        assert_eq!(
            (refused.status, &refused.body["errors"][0]["code"]),
            (400, &json!("INVALID_INPUT")),
            "{refused:?}"
        );
    }
}

fn with_key(input: &Value, key: &str) -> Value {
    let mut input = input.clone();
    input["idempotency_key"] = key.into();
    input
}

#[tokio::test]
async fn a_key_with_another_dag_is_refused() {
    let gateway = start("").await;
    hold(&gateway, "a");
    let input = |tasks: &Value, wait_ms: u64| json!({"workflow": {"tasks": tasks}, "config": {"wait_ms": wait_ms}});
    let execute = async |gateway: &testkit::Gateway, input: Value| {
        let headers = [("idempotency-key", "order-9")];
        gateway.call_with("powerstrip:execute_dag", &input, &headers).await
    };
    let tasks = json!([work("a", &[])]);
    let first = execute(&gateway, input(&tasks, 100)).await;
    assert_eq!(first.body["data"]["status"], "running", "{first:?}");
    let id = first.body["data"]["workflow_id"].clone();
    let other = execute(&gateway, input(&json!([work("b", &[])]), 100)).await;
    assert_eq!(other.status, 400, "{other:?}");
    let error = &other.body["errors"][0];
    assert_eq!(error["code"], "INVALID_INPUT", "{error}");
    assert_eq!(error["details"]["workflow_id"], id, "{error}");
    assert!(error["message"].as_str().unwrap().contains("idempotency key"), "{error}");
    let again = execute(&gateway, input(&tasks, 200)).await;
    assert_eq!(
        again.body["data"]["workflow_id"], id,
        "how long a caller waits is no difference: {again:?}"
    );
    release(&gateway, "a");
    let gateway = gateway.restart().await;
    crate::workflows::support::ready(&gateway).await;
    let other = execute(&gateway, input(&json!([work("c", &[])]), 100)).await;
    assert_eq!(other.status, 400, "also after a restart: {other:?}");
    assert!(!crate::workflows::support::ledger(&gateway).contains(&"c".to_owned()));
}
