//! Research whose documents or whose workflow are gone before its report is written.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Gateway, eventually};

use crate::research::support::report;
use crate::workflows::support::as_admin;

const TEXT: &str = "Cool roofs reflect sunlight and lower the temperature of cities. White roofs kept 40 houses of a street cool in 2019.";

async fn with_collection(config: &str) -> Gateway {
    let gateway = Gateway::with().config(config).start().await;
    let item = json!({"id": "roofs", "text": TEXT, "source": "roofs.md"});
    let added =
        gateway.call("vector.index.add", &json!({"collection": "cooling", "items": [item]})).await;
    assert_eq!(added.body["ok"], true, "{:#}", added.body);
    gateway
}

fn input(asks: &str) -> Value {
    json!({
        "topic": "cooling cities",
        "depth": "quick",
        "sources": {"web": false, "collections": ["cooling"]},
        asks: true,
        "wait_ms": 300,
    })
}

async fn research(gateway: &Gateway, input: &Value) -> Value {
    let answer = gateway.call("research.execute", input).await;
    assert_eq!(answer.body["ok"], true, "{:#}", answer.body);
    answer.body["data"].clone()
}

async fn delete(gateway: &Gateway) {
    let input = json!({"collection": "cooling", "all": true});
    let deleted = gateway.call("vector.index.delete", &input).await;
    assert_eq!(deleted.body["ok"], true, "{:#}", deleted.body);
}

/// Waits until research asks a person; answers with what it offers, changed by `edit`.
async fn answer(gateway: &Gateway, workflow: &Value, edit: impl Fn(&str) -> String) {
    let id = workflow["workflow_id"].as_str().unwrap().replace('-', "");
    let path = format!("/v1/runs/run_{id}");
    let (slot, offered) = eventually("a question is open", || async {
        let shown = gateway.get(&path).await.body;
        let open = shown["questions"].as_array()?.iter().find(|one| one["state"] == "open")?;
        Some((open["slot_id"].clone(), open["options"][0].as_str()?.to_owned()))
    })
    .await;
    let body = json!({"slot_id": slot, "value": edit(&offered)});
    let answered = as_admin(gateway, Method::POST, &format!("{path}/answers"), &body).await;
    assert_eq!(answered.status, 200, "{answered:?}");
}

/// Deletes the collection while research waits for a person, and then answers.
async fn answer_after_delete(gateway: &Gateway, first: &Value, edit: impl Fn(&str) -> String) {
    let id = first["workflow_id"].as_str().unwrap().replace('-', "");
    eventually("a question is open", || async {
        let shown = gateway.get(&format!("/v1/runs/run_{id}")).await.body;
        let mut questions = shown["questions"].as_array()?.iter();
        questions.any(|one| one["state"] == "open").then_some(())
    })
    .await;
    delete(gateway).await;
    answer(gateway, first, edit).await;
}

async fn finished(gateway: &Gateway, input: &Value, first: &Value) -> Value {
    eventually("the research is complete", || async {
        let data = research(gateway, input).await;
        assert_eq!(data["workflow_id"], first["workflow_id"], "{data:#}");
        (data["status"] == "complete").then_some(data)
    })
    .await
}

fn warnings(data: &Value) -> Vec<&str> {
    data["warnings"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_report_keeps_what_was_read_before_its_collection_was_deleted() {
    let gateway = with_collection("").await;
    let input = input("approve_outline");
    let first = research(&gateway, &input).await;
    assert_eq!(first["status"], "running", "{first:#}");
    // The notes are taken when the outline is shown.
    answer_after_delete(&gateway, &first, |outline| {
        format!("{outline}\n## Water\n\n- How does water cool cities?\n")
    })
    .await;
    let done = finished(&gateway, &input, &first).await;
    assert!(report(&gateway, &done).await.contains("Cool roofs reflect"), "{done:#}");
    let said: Vec<&str> =
        warnings(&done).into_iter().filter(|warning| warning.contains("`cooling`")).collect();
    assert_eq!(said.len(), 1, "{done:#}");
    assert!(said[0].contains("there is no collection"), "{done:#}");
}

#[tokio::test]
async fn a_report_without_its_only_collection_says_so_and_claims_nothing() {
    let gateway = with_collection("").await;
    let input = input("merge_questions");
    let first = research(&gateway, &input).await;
    answer_after_delete(&gateway, &first, str::to_owned).await;
    let done = finished(&gateway, &input, &first).await;
    assert_eq!(done["claims"]["total"], 0, "{done:#}");
    let warnings = warnings(&done);
    assert_eq!(warnings[0], "No source that was read answers a question of the outline.");
    assert!(
        warnings.iter().any(|one| one.contains("there is no collection `cooling`")),
        "{done:#}"
    );
}

#[tokio::test]
async fn research_that_expired_unanswered_starts_again() {
    let gateway = with_collection("workflows: { ttl: 2s }\n").await;
    let input = input("approve_outline");
    let first = research(&gateway, &input).await;
    assert_eq!(first["status"], "running", "{first:#}");
    let id = &first["workflow_id"];
    eventually("the workflow's time is over", || async {
        let status = json!({"workflow_id": id});
        let report = gateway.call("powerstrip:workflow_status", &status).await.body;
        (report["data"]["state"] == "ended").then_some(())
    })
    .await;
    // The process remembers the first workflow as one whose report was not read.
    let second = research(&gateway, &input).await;
    assert_eq!(second["status"], "running", "{second:#}");
    assert_ne!(second["workflow_id"], *id, "{second:#}");
}

#[tokio::test]
async fn research_that_expired_starts_again_also_after_a_restart() {
    let gateway = with_collection("workflows: { ttl: 2s }\n").await;
    let input = input("approve_outline");
    let first = research(&gateway, &input).await;
    let gateway = gateway.restart().await;
    eventually("another workflow", || async {
        let answer = gateway.call("research.execute", &input).await.body;
        if answer["ok"] != true {
            // It expired while this call waited for it.
            assert_eq!(answer["errors"][0]["code"], "NOT_FOUND", "{answer:#}");
            return None;
        }
        let data = &answer["data"];
        assert_eq!(data["status"], "running", "{data:#}");
        (data["workflow_id"] != first["workflow_id"]).then_some(())
    })
    .await;
}
