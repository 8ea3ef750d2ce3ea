//! How tasks run: lists, sub-workflows, conditions, retries, failures, compensation, large outputs, crashes.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::eventually;

use crate::workflows::support::{
    call, crash, hold, ledger, pair, ready, release, start, statuses, work,
};

async fn run(gateway: &testkit::Gateway, tasks: Value) -> Value {
    call(gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await
}

#[tokio::test]
async fn lists_conditions_and_sub_workflows() {
    let gateway = start("").await;
    let tasks = json!([
        {"id": "list", "tool": "t:work", "arguments": {"task": "list", "items": 3}},
        {"id": "each", "tool": "t:work", "for_each": "{{ tasks.list.output.items }}",
         "arguments": {"task": "each", "value": "{{ item }}"}},
        {"id": "never", "tool": "t:work", "arguments": {"task": "never"}, "when": "tasks.list.output.items | length > 5"},
        {"id": "after", "tool": "t:work", "arguments": {"task": "after"}, "depends_on": ["never"]},
        {"id": "sub", "arguments": {"name": "{{ tasks.list.output.task }}"}, "workflow": {"tasks": [
            {"id": "x", "tool": "t:work", "arguments": {"task": "{{ input.name }}-x"}},
            {"id": "y", "tool": "t:work", "arguments": {"task": "y", "value": "{{ tasks.x.output.task }}"}},
        ]}},
        {"id": "end", "tool": "t:work", "arguments": {"task": "end", "value": "{{ tasks.sub.output.y.value }}"}},
    ]);
    let answer = run(&gateway, tasks).await;
    assert_eq!(answer["status"], "complete", "{answer:#}");
    let done = [
        pair("list", "success"),
        pair("each", "success"),
        pair("never", "skipped"),
        pair("after", "skipped"),
        pair("sub", "success"),
        pair("end", "success"),
    ];
    assert_eq!(statuses(&answer["results"]), done);
    let results = &answer["results"];
    let values: Vec<_> =
        results[1]["output"].as_array().unwrap().iter().map(|item| item["value"].clone()).collect();
    assert_eq!(json!(values), json!([0, 1, 2]), "{answer:#}");
    assert_eq!(results[1]["items"].as_array().unwrap().len(), 3);
    let id = answer["workflow_id"].as_str().unwrap();
    assert_eq!(results[1]["output"][2]["key"], format!("{id}/each/2/1"));
    assert_eq!(results[4]["output"]["x"]["task"], "list-x");
    assert_eq!(results[4]["output"]["x"]["key"], format!("{id}/sub/x/1"));
    assert_eq!(results[5]["output"]["value"], "list-x");
}

#[tokio::test]
async fn outputs_are_never_templates() {
    let gateway = start("").await;
    let text = "{{ tasks.a.output }} {% for x in y %}";
    let tasks = json!([
        {"id": "a", "tool": "demo.echo", "arguments": {"message": "x"}},
        {"id": "b", "tool": "t:work", "arguments": {"task": "b", "value": "{{ tasks.c.output.value }}"}},
        {"id": "c", "tool": "t:work", "arguments": {"task": "c", "value": format!("{{{{ \"{}\" }}}}", text.replace('"', ""))}},
    ]);
    let answer = run(&gateway, tasks).await;
    assert_eq!(answer["results"][1]["output"]["value"], text, "{answer:#}");
}

#[tokio::test]
async fn a_retryable_failure_is_retried_within_its_attempt() {
    let gateway = start("").await;
    let tasks = json!([{
        "id": "a", "tool": "t:work", "retry": {"max": 2, "backoff_ms": 10}, "timeout_ms": 150,
        "arguments": {"task": "a", "ms": 30_000},
    }]);
    let answer = run(&gateway, tasks).await;
    assert_eq!(answer["status"], "failed", "{answer:#}");
    assert_eq!(answer["results"][0]["error"]["code"], "TIMEOUT");
    assert_eq!(answer["results"][0]["attempt"], 1);
    let report =
        call(&gateway, "workflow_status", json!({"workflow_id": answer["workflow_id"]})).await;
    let started =
        report["events"].as_array().unwrap().iter().filter(|event| event["kind"] == "task_started");
    assert_eq!(started.count(), 3, "{report:#}");
}

#[tokio::test]
async fn a_failed_workflow_is_compensated_in_reverse_order() {
    let gateway = start("").await;
    let undo = |id: &str| json!({"tool": "t:undo", "arguments": {"task": format!("undo {id}"), "value": format!("{{{{ tasks.{id}.output.task }}}}")}});
    let mut one = work("one", &[]);
    one["compensate"] = undo("one");
    let mut two = work("two", &["one"]);
    two["compensate"] = undo("two");
    let fail = json!({"id": "bad", "tool": "t:fail", "depends_on": ["two"], "arguments": {"task": "bad", "times": 9, "retryable": false}});
    let tolerated = json!({"id": "soft", "tool": "t:fail", "on_error": "continue", "arguments": {"task": "soft", "times": 9, "retryable": false}});
    let answer = run(
        &gateway,
        json!([one, two, fail, tolerated, work("rest", &["bad"]), work("runs", &["soft"])]),
    )
    .await;
    assert_eq!(answer["status"], "failed", "{answer:#}");
    assert_eq!(answer["failed_tasks"], json!(["bad"]));
    let undone = statuses(&answer["compensations"]);
    assert_eq!(undone, [pair("two", "success"), pair("one", "success")], "{answer:#}");
    assert_eq!(answer["compensations"][0]["output"]["value"], "two");
    let runs = statuses(&answer["results"]);
    assert!(runs.contains(&pair("runs", "success")), "{runs:?}");
}

#[tokio::test]
async fn large_outputs_pass_between_tasks_and_become_references_in_answers() {
    let gateway = start("").await;
    let large =
        |id: &str| json!({"id": id, "tool": "t:work", "arguments": {"task": id, "items": 10_000}});
    let mut tasks: Vec<Value> = (0..25).map(|n| large(&format!("l{n}"))).collect();
    tasks.push(json!({"id": "sum", "tool": "t:work", "arguments": {"task": "sum", "value": "{{ tasks.l7.output.items | length }}"}}));
    let answer = run(&gateway, json!(tasks)).await;
    assert_eq!(answer["status"], "complete", "{}", &answer.to_string()[..300]);
    let size = answer.to_string().len();
    assert!(size < 1 << 20, "{size}");
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results[25]["output"]["value"], 10_000);
    let reference = results.iter().find_map(|result| result["output"]["ref_id"].as_str());
    let content = gateway.get(&format!("/v1/files/{}/content", reference.unwrap())).await;
    assert_eq!(
        content.body["items"].as_array().map(Vec::len),
        Some(10_000),
        "{:?}",
        content.status
    );
}

#[tokio::test]
async fn a_caller_that_does_not_wait_long_enough_waits_again() {
    let gateway = start("").await;
    hold(&gateway, "a");
    let input = json!({"workflow": {"tasks": [work("a", &[])]}, "config": {"wait_ms": 50}});
    let first = call(&gateway, "execute_dag", input).await;
    assert_eq!(first["status"], "running", "{first}");
    assert_eq!((&first["done"], &first["total"]), (&json!(0), &json!(1)));
    let id = first["workflow_id"].clone();
    release(&gateway, "a");
    let last = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(last["status"], "complete", "{last}");
}

#[tokio::test]
async fn an_abort_cancels_running_calls() {
    let gateway = start("").await;
    let slow = json!({"id": "a", "tool": "t:work", "arguments": {"task": "a", "ms": 20_000}});
    let input =
        json!({"workflow": {"tasks": [slow, work("b", &["a"])]}, "config": {"wait_ms": 100}});
    let first = call(&gateway, "execute_dag", input).await;
    let id = first["workflow_id"].clone();
    let aborted = tokio::time::timeout(
        Duration::from_secs(10),
        call(&gateway, "abort", json!({"workflow_id": id, "reason": "enough"})),
    );
    let aborted = aborted.await.unwrap();
    assert_eq!(aborted["status"], "aborted", "{aborted}");
    assert_eq!(statuses(&aborted["partial_results"]), [pair("a", "failed")]);
    assert_eq!(aborted["partial_results"][0]["error"]["details"]["cancelled"], true, "{aborted}");
    assert_eq!(aborted["completed_layers"], 0, "the first layer was interrupted: {aborted}");
}

#[tokio::test]
async fn an_abort_keeps_finished_items_and_names_what_it_cancelled() {
    let gateway = start("").await;
    let items: Vec<_> = (0..30).map(|item| if item < 18 { 0 } else { 20_000 }).collect();
    let tasks = json!([
        {"id": "gated", "tool": "t:work", "arguments": {"task": "gated"}, "approval": {}},
        {"id": "each", "tool": "t:work", "for_each": items, "arguments": {"task": "each", "ms": "{{ item }}"}},
    ]);
    let input = json!({"workflow": {"tasks": tasks}, "config": {"wait_ms": 100}});
    let first = call(&gateway, "execute_dag", input).await;
    // Eight run at once: when the last of these has begun, the first 18 have ended.
    eventually("the slow items run", || async { (ledger(&gateway).len() == 26).then_some(()) })
        .await;
    let abort = json!({"workflow_id": first["workflow_id"], "reason": "enough"});
    let aborted = call(&gateway, "abort", abort).await;
    let results = &aborted["partial_results"];
    assert_eq!(statuses(results), [pair("gated", "failed"), pair("each", "failed")], "{aborted:#}");
    for result in results.as_array().unwrap() {
        assert_eq!(result["error"]["details"]["cancelled"], true, "{result:#}");
    }
    let items = results[1]["items"].as_array().unwrap();
    let count = |status: &str| items.iter().filter(|item| item["status"] == status).count();
    assert_eq!((count("success"), count("failed"), count("skipped")), (18, 8, 4), "{aborted:#}");
    assert!(
        items[18..26].iter().all(|item| item["error"]["details"]["cancelled"] == true),
        "{aborted:#}"
    );
    let outputs = results[1]["output"].as_array().unwrap();
    assert!(outputs[..18].iter().all(|output| output["task"] == "each"), "{aborted:#}");
}

#[tokio::test]
async fn a_killed_gateway_goes_on_where_it_was() {
    let gateway = start("").await;
    let slow = |id: &str, after: &[&str]| json!({"id": id, "tool": "t:work", "depends_on": after, "arguments": {"task": id, "ms": 1000}});
    let input = json!({"workflow": {"tasks": [work("a", &[]), slow("b", &["a"]), slow("c", &["b"])]}, "config": {"wait_ms": 300}});
    let first = call(&gateway, "execute_dag", input).await;
    let id = first["workflow_id"].clone();
    assert_eq!(first["layer_index"], 1, "{first}");
    let gateway = crash(gateway).await;
    ready(&gateway).await;
    let answer = eventually("the workflow ends", || async {
        let answer = call(&gateway, "continue", json!({"workflow_id": id})).await;
        (answer["status"] != "running").then_some(answer)
    })
    .await;
    assert_eq!(answer["status"], "complete", "{answer:#}");
    let runs = |place: usize| answer["results"][place]["output"]["runs"].clone();
    assert_eq!(runs(0), 1, "what was committed does not run again: {answer:#}");
    assert!(runs(1).as_u64().unwrap() <= 2, "{answer:#}");
    assert_eq!(runs(2), 1);
}
