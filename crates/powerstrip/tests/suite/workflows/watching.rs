//! Workflows over REST: started, steered, followed as server-sent events, and drawn.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Gateway, Response, mcp_tools, send};

use crate::workflows::support::{per_layer, ready, start, work};

async fn post(gateway: &Gateway, path: &str, body: Value) -> Response {
    let client = reqwest::Client::new();
    send(client.request(Method::POST, gateway.url(path)).json(&body)).await
}

/// Reads events until one of this kind, as `(id, kind, data)`.
async fn events(gateway: &Gateway, id: &str, after: u64, last: &str) -> Vec<(u64, String, Value)> {
    let client = reqwest::Client::new();
    let request = client.get(gateway.url(&format!("/v1/workflows/{id}/events")));
    let mut answer = request.header("last-event-id", after.to_string()).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let mut text = String::new();
    let mut found = Vec::new();
    let read = async {
        while let Some(piece) = answer.chunk().await.unwrap() {
            text.push_str(&String::from_utf8_lossy(&piece));
            while let Some((event, rest)) =
                text.split_once("\n\n").map(|(a, b)| (a.to_owned(), b.to_owned()))
            {
                text = rest;
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let Some(kind) = field("event: ") else { continue };
                let data = serde_json::from_str(field("data: ").unwrap()).unwrap();
                found.push((field("id: ").unwrap().parse().unwrap(), kind.to_owned(), data));
                if kind == last {
                    return;
                }
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), read).await.unwrap();
    found
}

#[tokio::test]
async fn a_workflow_is_steered_and_followed_over_rest() {
    let gateway = start("").await;
    let tasks = json!([work("a", &[]), work("b", &["a"]), work("c", &["b"])]);
    let started = post(&gateway, "/v1/workflows", per_layer(tasks)).await;
    assert_eq!((started.status, &started.body["ok"]), (200, &json!(true)), "{started:?}");
    let answer = &started.body["data"];
    assert_eq!(answer["status"], "layer_complete", "{answer:#}");
    let id = answer["workflow_id"].as_str().unwrap().to_owned();

    let listed = gateway.get("/v1/workflows").await.body["workflows"][0].clone();
    assert_eq!((&listed["tasks_done"], &listed["tasks_total"]), (&json!(1), &json!(3)), "{listed}");

    let first = events(&gateway, &id, 0, "layer_complete").await;
    let kinds: Vec<_> = first.iter().map(|(_, kind, _)| kind.as_str()).collect();
    for kind in ["layer_started", "task_started", "task_done", "layer_complete"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    assert!(first.windows(2).all(|pair| pair[0].0 < pair[1].0), "{first:?}");
    let (seen, _, paused) = first.last().unwrap();
    assert_eq!(paused["checkpoint_id"], answer["checkpoint_id"], "{paused}");
    assert!(paused["at"].as_str().unwrap().ends_with('Z'), "{paused}");

    let path = format!("/v1/workflows/{id}");
    let next = post(&gateway, &format!("{path}/continue"), json!({"reason": "fine"})).await;
    assert_eq!(next.body["data"]["layer_index"], 1, "{next:?}");
    let later = events(&gateway, &id, *seen, "layer_complete").await;
    assert!(later.iter().all(|(number, _, _)| number > seen), "{later:?}");
    assert!(later.iter().any(|(_, kind, data)| kind == "task_done" && data["task_id"] == "b"));

    let shown = gateway.get(&path).await.body;
    assert_eq!(shown["workflow"]["state"], "paused", "{shown:#}");
    assert_eq!(shown["tasks"][1]["status"], "success", "{shown:#}");
    let skipped = post(&gateway, &format!("{path}/skip_task"), json!({"task_id": "c"})).await;
    assert_eq!(skipped.status, 200, "{skipped:?}");
    let unknown =
        post(&gateway, &format!("{path}/skip_task"), json!({"task_id": "c", "x": 1})).await;
    assert_eq!(unknown.status, 400, "{unknown:?}");
    let ended = post(&gateway, &format!("{path}/abort"), json!({"reason": "enough"})).await;
    assert_eq!(ended.body["data"]["status"], "aborted", "{ended:?}");
    let all = events(&gateway, &id, 0, "aborted").await;
    assert_eq!(all.last().unwrap().1, "aborted", "the journal stays after the end");
    // Nothing follows, so the stream ends.
    let last = all.last().unwrap().0;
    for after in [last, last + 1, last + 100] {
        assert_eq!(events(&gateway, &id, after, "none").await, [], "after {after}");
    }
    let listed = gateway.get("/v1/workflows").await.body;
    assert!(listed.to_string().contains(&id), "{listed}");
}

#[tokio::test]
async fn a_workflow_is_drawn() {
    let gateway = start("").await;
    let tasks = json!([work("first", &[]), work("second", &["first"])]);
    let started = post(&gateway, "/v1/workflows", json!({"workflow": {"tasks": tasks}})).await;
    let id = started.body["data"]["workflow_id"].as_str().unwrap().to_owned();
    let client = reqwest::Client::new();
    let graph = client.get(gateway.url(&format!("/v1/workflows/{id}/graph.svg")));
    let graph = graph.send().await.unwrap();
    assert_eq!(graph.headers()["content-type"], "image/svg+xml");
    let drawn = graph.text().await.unwrap();
    assert!(
        drawn.starts_with("<svg") && drawn.contains("first") && drawn.contains("Layer 1"),
        "{drawn}"
    );
    assert!(drawn.contains("success"), "{drawn}");

    for path in ["events", "graph.svg"] {
        let unknown = format!("/v1/workflows/550e8400-e29b-41d4-a716-446655440000/{path}");
        let answer = gateway.get(&unknown).await;
        assert_eq!(answer.status, 404, "{answer:?}");
        assert_eq!(answer.body["errors"][0]["message"], "Workflow not found or expired");
    }
    for path in ["", "/events", "/graph.svg"] {
        let answer = gateway.get(&format!("/v1/workflows/seven{path}")).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert_eq!(answer.body["errors"][0]["code"], "INVALID_INPUT", "{answer:?}");
    }
    let answer = post(&gateway, "/v1/workflows/seven/continue", json!({})).await;
    assert_eq!((answer.status, &answer.body["errors"][0]["details"]), (400, &Value::Null));
    let bad = client.get(gateway.url(&format!("/v1/workflows/{id}/events")));
    assert_eq!(send(bad.header("last-event-id", "soon")).await.status, 400);
}

#[tokio::test]
async fn large_outputs_are_shown_with_their_size_and_beginning() {
    let gateway = start("").await;
    let large = |id: &str, items: u64| json!({"id": id, "tool": "t:work", "arguments": {"task": id, "items": items, "bytes": 30_000}});
    let first = json!({"id": "first", "tool": "t:work", "arguments": {"task": "{{ 'first' }}"}});
    let tasks = json!([first, large("a", 0), large("b", 10_000)]);
    let started = post(&gateway, "/v1/workflows", per_layer(tasks)).await;
    let id = started.body["data"]["workflow_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/workflows/{id}");
    let check = |shown: &Value, bytes: u64| {
        let size = shown["bytes"].as_u64().unwrap_or_else(|| panic!("{shown}"));
        assert!((bytes..bytes + 200).contains(&size), "{shown}");
        let preview = shown["preview"].as_str().unwrap();
        assert!(preview.starts_with('{') && preview.len() == 1_000, "{shown}");
    };
    let gateway = gateway.restart().await;
    ready(&gateway).await;
    let shown = gateway.get(&path).await.body;
    check(&shown["tasks"][1]["output"], 30_000);
    check(&shown["tasks"][2]["output"], 78_889);
    assert_eq!(shown["tasks"][0]["arguments"]["task"], "first", "templates are filled in");
    let ended = post(&gateway, &format!("{path}/continue"), json!({})).await;
    assert_eq!(ended.body["data"]["status"], "complete", "{:.500}", ended.body.to_string());
    let shown = gateway.get(&path).await.body;
    assert_eq!(shown["tasks"][1]["output"]["text"].as_str().unwrap().len(), 30_000);
    check(&shown["tasks"][2]["output"], 78_889);
}

#[tokio::test]
async fn a_bad_dag_is_refused_with_all_faults() {
    let gateway = start("").await;
    let inner = json!([{"id": "in", "tool": "t:work", "argumnts": {}}]);
    let tasks = json!([
        {"id": "a", "tool": "t:wrok", "on_error": "explode"},
        {"id": "a", "tool": "t:work", "arguments": {"task": 1}, "depends_on": ["missing"]},
        {"id": "c d", "workflow": {"tasks": inner}, "wen": "true"},
    ]);
    let answer = post(&gateway, "/v1/workflows", json!({"workflow": {"tasks": tasks}})).await;
    assert_eq!(answer.status, 400, "{answer:?}");
    let faults = answer.body["errors"][0]["details"]["faults"].as_array().unwrap().clone();
    let codes: Vec<_> = faults.iter().map(|fault| fault["code"].as_str().unwrap()).collect();
    for code in ["unknown_tool", "duplicate_id", "bad_arguments"] {
        assert!(codes.contains(&code), "{code}: {faults:?}");
    }
    let paths: Vec<_> = faults.iter().map(|fault| fault["path"].as_str().unwrap()).collect();
    for path in [
        "/tasks/0/on_error",
        "/tasks/1/depends_on/0",
        "/tasks/2/id",
        "/tasks/2/wen",
        "/tasks/2/workflow/tasks/0/argumnts",
    ] {
        assert!(paths.contains(&path), "{path}: {faults:?}");
    }
    let tools = mcp_tools(&gateway.url("/mcp")).await;
    let listed = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    for (name, idempotent) in [("execute_dag", false), ("retry_task", false), ("abort", true)] {
        let hints = &listed(&format!("powerstrip__{name}"))["annotations"];
        assert_eq!(hints["idempotentHint"], idempotent, "{name}: {hints}");
    }
    let task = &listed("powerstrip__execute_dag")["inputSchema"]["properties"]["workflow"]["properties"]
        ["tasks"]["items"];
    assert_eq!(task["properties"]["on_error"]["enum"], json!(["fail", "skip", "continue"]));
    let many: Vec<_> = (0..501).map(|n| work(&format!("t{n}"), &[])).collect();
    let answer = post(&gateway, "/v1/workflows", json!({"workflow": {"tasks": many}})).await;
    assert!(answer.body["errors"][0]["details"].to_string().contains("501"), "{answer:?}");
    assert_eq!(gateway.get("/v1/workflows").await.body["workflows"], json!([]), "nothing began");
}
