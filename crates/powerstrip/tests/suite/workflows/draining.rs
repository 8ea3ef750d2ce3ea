//! SIGTERM under load: nothing fails, nothing runs twice, no call loses its connection, and workflows go on.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use testkit::{Gateway, ReservedPort, eventually};

use crate::workflows::support::{as_admin, call, ledger, ready, start, with_ledger};

const WORKFLOWS: usize = 10;
const CALLERS: usize = 20;

/// A workflow of three layers, half of whose tasks must not run twice.
fn dag(name: &str) -> Value {
    let task = |id: &str, tool: &str, after: &[&str]| json!({"id": id, "tool": tool, "depends_on": after, "arguments": {"task": format!("{name}.{id}"), "ms": 150}});
    json!({"tasks": [
        task("a", "t:once", &[]), task("b", "t:work", &[]),
        task("c", "t:once", &["a"]), task("d", "t:work", &["b"]),
        task("e", "t:once", &["c", "d"]),
    ]})
}

/// Calls a tool again and again on one connection until the gateway refuses; returns the error of a call that got no
/// answer.
async fn call_until_refused(
    url: String,
    name: usize,
    answered: Arc<AtomicUsize>,
) -> Option<String> {
    let client = reqwest::Client::builder().pool_max_idle_per_host(1).build().unwrap();
    for number in 0.. {
        let input = json!({"task": format!("direct.{name}.{number}"), "ms": 20});
        match client.post(&url).json(&input).send().await {
            Ok(answer) if answer.status() == 200 => {
                answered.fetch_add(1, Ordering::Relaxed);
            }
            Ok(answer) if answer.status() == 503 => {
                assert!(answer.headers().contains_key("retry-after"), "{answer:?}");
                return None;
            }
            Ok(answer) => return Some(format!("{answer:?}")),
            // Nothing was sent.
            Err(error) if error.is_connect() => return None,
            Err(error) => return Some(format!("{error:?}")),
        }
    }
    None
}

#[tokio::test]
async fn a_drain_under_load_loses_nothing() {
    let port = ReservedPort::reserve();
    let gateway = with_ledger("").at(&port).start().await;
    ready(&gateway).await;
    let mut ids = Vec::new();
    for number in 0..WORKFLOWS {
        let input = json!({"workflow": dag(&format!("w{number}")), "config": {"wait_ms": 0}});
        let answer = call(&gateway, "execute_dag", input).await;
        assert_eq!(answer["status"], "running", "{answer}");
        ids.push(answer["workflow_id"].clone());
    }
    // One caller waits for its workflow.
    let url = gateway.url("/mcp/tool/powerstrip:execute_dag");
    let waiting = tokio::spawn(async move {
        let input = json!({"workflow": dag("waiting")});
        testkit::send(reqwest::Client::new().post(url).json(&input)).await
    });
    let answered = Arc::new(AtomicUsize::new(0));
    let calls = (0..CALLERS).map(|name| {
        let url = gateway.url("/mcp/tool/t:work");
        tokio::spawn(call_until_refused(url, name, Arc::clone(&answered)))
    });
    let calls: Vec<_> = calls.collect();
    eventually("workflows and calls are under way", || async {
        let begun = ledger(&gateway);
        let of_workflows = begun.iter().filter(|task| task.starts_with('w')).count();
        (of_workflows > WORKFLOWS && answered.load(Ordering::Relaxed) > CALLERS).then_some(())
    })
    .await;

    let gateway = gateway.restart().await;
    let mut lost = Vec::new();
    for call in calls {
        lost.extend(call.await.unwrap());
    }
    assert!(lost.is_empty(), "{lost:#?}");
    let waited = waiting.await.unwrap();
    assert_eq!(waited.body["ok"], true, "its caller gets to know the workflow: {}", waited.body);
    ids.push(waited.body["data"]["workflow_id"].clone());
    for id in ids {
        let input = json!({"workflow_id": id, "wait_ms": 60_000});
        let last = call(&gateway, "continue", input).await;
        assert_eq!(last["status"], "complete", "{last:#}");
    }
    let mut runs = HashMap::<_, usize>::new();
    for task in ledger(&gateway) {
        *runs.entry(task).or_default() += 1;
    }
    let doubled: Vec<_> = runs.iter().filter(|(_, runs)| **runs > 1).collect();
    assert!(doubled.is_empty(), "{doubled:?}");
    assert_eq!(gateway.stop().await, Some(0));
}

async fn status_of(gateway: &Gateway, id: &Value) -> Value {
    call(gateway, "workflow_status", json!({"workflow_id": id})).await
}

/// A drain starts no task, and what it stopped before does not count as a crash.
#[tokio::test]
async fn a_drained_workflow_goes_on_however_often_it_was_drained() {
    let mut gateway = start("workflows: { parallel_tasks: 1 }").await;
    let task = |id: &str| json!({"id": id, "tool": "t:once", "arguments": {"task": id, "ms": 700}});
    let dag = json!({"tasks": [task("a"), task("b"), task("c"), task("d")]});
    let input = json!({"workflow": dag, "config": {"wait_ms": 0}});
    let id = call(&gateway, "execute_dag", input).await["workflow_id"].clone();
    for round in 1..=3 {
        eventually("the next task runs", || async {
            (ledger(&gateway).len() >= round).then_some(())
        })
        .await;
        let begun = ledger(&gateway).len();
        gateway = gateway.restart().await;
        let report = status_of(&gateway, &id).await;
        assert_ne!(report["state"], "paused", "{report:#}");
        let ended = report["tasks"].as_array().unwrap();
        let ended = ended.iter().filter(|task| task["status"] == "success").count();
        assert!(ended >= begun, "what ran has finished: {begun} {report:#}");
    }
    let last = call(&gateway, "continue", json!({"workflow_id": id, "wait_ms": 60_000})).await;
    assert_eq!(last["status"], "complete", "{last:#}");
    let mut ran = ledger(&gateway);
    ran.sort();
    assert_eq!(ran, ["a", "b", "c", "d"]);
}

/// Its call would wait for longer than the drain.
#[tokio::test]
async fn a_call_that_waits_for_a_person_is_answered_and_its_question_stays() {
    let gateway = start("").await;
    let run = [("powerstrip-run", "r1")];
    for message in ["a", "b"] {
        let done = gateway.call_with("demo.echo", &json!({"message": message}), &run).await;
        assert_eq!(done.status, 200, "{done:?}");
    }
    let url = gateway.url("/mcp/tool/powerstrip:request_user_input");
    let question = json!({"slot_type": "text", "slot_id": "name", "prompt_key": "Your name?"});
    let request = reqwest::Client::new().post(url).header("powerstrip-run", "r1").json(&question);
    let asked = tokio::spawn(testkit::send(request));
    let open = async |gateway: &Gateway| -> Vec<Value> {
        let run = as_admin(gateway, reqwest::Method::GET, "/v1/runs/r1", &Value::Null).await;
        run.body["questions"].as_array().cloned().unwrap_or_default()
    };
    eventually("it is asked", || async { (open(&gateway).await.len() == 1).then_some(()) }).await;
    let gateway = gateway.restart().await;
    let answer = asked.await.unwrap();
    assert_eq!(answer.body["data"]["status"], "waiting", "{}", answer.body);
    let left = open(&gateway).await;
    assert_eq!((left.len(), &left[0]["state"]), (1, &json!("open")), "{left:?}");
}
