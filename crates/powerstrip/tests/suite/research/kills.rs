//! `kill -9` of the gateway during research: the report has the same bytes as without.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use testkit::{Gateway, Response, eventually, send};

use crate::commands::project::Project;
use crate::workflows::support::{as_admin, crash};

const TOPIC: &str = "urban heat islands";

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/urban-heat");

const DOCUMENTS: [&str; 10] = [
    "cool-roofs-review.md",
    "green-roofs.html",
    "history-of-urban-heat-research.md",
    "income-and-tree-cover.md",
    "older-people-and-heat.md",
    "outdoor-workers.html",
    "redlining-and-heat.md",
    "singapore.md",
    "trees-cooling-review.md",
    "urban-heat-island.md",
];

/// The stages of the workflow, and how many items of a stage have ended when the gateway is killed.
const KILLS: [(&str, usize); 5] =
    [("find", 0), ("order", 5), ("notes", 0), ("notes", 12), ("compose", 0)];

/// The order of the tasks, one after the other.
const STAGES: [&str; 11] = [
    "plan",
    "find",
    "order",
    "notes",
    "compose",
    "report",
    "store_outline",
    "store_bibliography",
    "store_map",
    "store_map_json",
    "audit",
];

/// The documents, in a folder `docs`.
fn write_documents(folder: &Path) {
    std::fs::create_dir(folder.join("docs")).unwrap();
    for name in DOCUMENTS {
        std::fs::copy(Path::new(EXAMPLE).join(name), folder.join("docs").join(name)).unwrap();
    }
}

/// The files of an undisturbed run, which uses SQLite whatever the engine of the tests is.
fn undisturbed() -> BTreeMap<String, Vec<u8>> {
    let project = Project::new();
    write_documents(project.path());
    let arguments = ["research", TOPIC, "--depth", "deep", "--corpus", "docs", "--out", "out"];
    project.run(&arguments).ok();
    let files = std::fs::read_dir(project.path().join("out")).unwrap();
    files
        .map(|file| file.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect()
}

/// Asks for the research; a repeated request attaches to the first one.
async fn research(gateway: &Gateway, wait_ms: u64) -> Value {
    let input = json!({
        "topic": TOPIC,
        "depth": "deep",
        "sources": {"web": false, "collections": ["city"]},
        "wait_ms": wait_ms,
    });
    let request = reqwest::Client::new().post(gateway.url("/v1/research")).json(&input);
    let Response { body, .. } = send(request.header("idempotency-key", "heat")).await;
    assert_eq!(body["ok"], true, "{body:#}");
    body["data"].clone()
}

async fn workflow(gateway: &Gateway, id: &str) -> Value {
    let path = format!("/v1/workflows/{id}");
    as_admin(gateway, reqwest::Method::GET, &path, &Value::Null).await.body
}

/// Whether the journal of a workflow has come to a stage.
fn has_reached(workflow: &Value, stage: &str, items: usize) -> bool {
    let place = |name: &str| STAGES.iter().position(|stage| *stage == name);
    let events = workflow["events"].as_array().unwrap();
    events.iter().any(|event| {
        let data = &event["data"];
        let Some(at) = data["task_id"].as_str() else { return false };
        let item = data["item"].as_u64().map_or(0, |item| item as usize);
        // A report is stored last.
        place(at).is_none_or(|at| Some(at) > place(stage)) || at == stage && item >= items
    })
}

#[tokio::test]
async fn a_report_survives_five_kills_of_the_gateway() {
    let expected = tokio::task::spawn_blocking(undisturbed);
    // One task after the other, so that each kill finds work to do.
    let config = "research: {browser: off}\nworkflows: {parallel_tasks: 1}\n";
    let mut gateway = Gateway::with().config(config).start().await;
    write_documents(gateway.folder());
    gateway.run(&["collections", "add", "city", "docs"]).await.ok();
    let expected = expected.await.unwrap();

    let started = research(&gateway, 1).await;
    assert_eq!(started["status"], "running", "{started:#}");
    let id = started["workflow_id"].as_str().unwrap().to_owned();
    for (stage, items) in KILLS {
        let seen =
            eventually(&format!("the workflow comes to item {items} of `{stage}`"), || async {
                let seen = workflow(&gateway, &id).await;
                has_reached(&seen, stage, items).then_some(seen)
            })
            .await;
        assert_eq!(seen["workflow"]["state"], "running", "killed too late, at `{stage}`: {seen:#}");
        gateway = crash(gateway).await;
    }
    // Five crashes during one workflow are a case for the operator, however far it came.
    let quarantined = workflow(&gateway, &id).await;
    assert_eq!(quarantined["checkpoint"]["checkpoint_type"], "quarantined", "{quarantined:#}");
    gateway.run(&["workflows", "continue", &id, "--force"]).await.ok();

    let done = research(&gateway, 60_000).await;
    assert_eq!(done["status"], "complete", "{done:#}");
    assert_eq!(done["workflow_id"], id, "{done:#}");
    let mut found = BTreeMap::new();
    for artifact in done["artifacts"].as_array().unwrap() {
        let path = format!("/v1/files/{}/content", artifact["file_id"].as_str().unwrap());
        let answer = reqwest::get(gateway.url(&path)).await.unwrap().bytes().await.unwrap();
        found.insert(artifact["file_name"].as_str().unwrap().to_owned(), answer.to_vec());
    }
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{done:#}");
    for (name, bytes) in &expected {
        let (found, expected) =
            (String::from_utf8_lossy(&found[name]), String::from_utf8_lossy(bytes));
        assert_eq!(found, expected, "{name}");
    }
    // No task has stored its file twice.
    let files = gateway.get("/v1/files").await.body;
    let files = files["data"]["files"].as_array().unwrap();
    let stored = files.iter().filter(|file| file["kind"] == "artifact").count();
    assert_eq!(stored, expected.len(), "{files:#?}");
}
