//! Who sees a workflow, and what happens when its owner loses its rights.
#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value, json};
use testkit::{Gateway, GuardedGateway, eventually};

use crate::support::{per_layer, ready_as, with_ledger, work};

const SCOPES: &str = "tools:read tools:call runs:read";

async fn call_as(gateway: &Gateway, token: &str, tool: &str, input: Value) -> Value {
    let url = gateway.url(&format!("/mcp/tool/powerstrip:{tool}"));
    let request = reqwest::Client::new().post(url).bearer_auth(token).json(&input);
    testkit::send(request).await.body
}

#[tokio::test]
async fn another_caller_cannot_tell_that_a_workflow_exists() {
    let guarded = GuardedGateway::start(with_ledger(""), "").await;
    let gateway = &guarded.gateway;
    let token = |sub: &str, org: &str, scope: &str| {
        guarded.token(json!({"sub": sub, "org": org, "scope": scope}))
    };
    let ann = token("ann", "acme", SCOPES);
    ready_as(gateway, &ann).await;
    let input = per_layer(json!([work("a", &[]), work("b", &["a"])]));
    let first = call_as(gateway, &ann, "execute_dag", input).await;
    let id = first["data"]["workflow_id"].clone();
    let unknown = "550e8400-e29b-41d4-a716-446655440000";
    for (sub, org) in [("bob", "acme"), ("ann", "other")] {
        let other = token(sub, org, SCOPES);
        for (tool, more) in [
            ("continue", json!({})),
            ("abort", json!({"reason": "x"})),
            ("workflow_status", json!({})),
            ("retry_task", json!({"task_id": "a"})),
            ("skip_task", json!({"task_id": "b"})),
            ("modify_args", json!({"task_id": "b", "arguments": {}})),
            ("inject_tasks", json!({"tasks": [work("c", &[])]})),
            ("approval_response", json!({"checkpoint_id": "chk_0", "approved": false})),
            ("replan", json!({"new_requirement": "x"})),
        ] {
            let with = |id: &Value| {
                let mut input = more.clone();
                input["workflow_id"] = id.clone();
                input
            };
            let theirs = call_as(gateway, &other, tool, with(&id)).await;
            let none = call_as(gateway, &other, tool, with(&json!(unknown))).await;
            assert_eq!(theirs["errors"][0]["code"], "NOT_FOUND", "{tool}: {theirs}");
            assert_eq!(theirs["errors"][0]["message"], none["errors"][0]["message"], "{tool}");
        }
    }
    let own = call_as(gateway, &ann, "continue", json!({"workflow_id": id})).await;
    assert_eq!(own["data"]["layer_index"], 1, "{own}");
}

#[tokio::test]
async fn a_second_person_approves_and_the_starter_may_not() {
    let gated = "skills:\n  careful: { tools: ['t:deploy'], auto_approve: false }\n";
    let guarded = GuardedGateway::start(with_ledger(gated), "").await;
    let gateway = &guarded.gateway;
    let scopes = format!("{SCOPES} approvals:decide");
    let token = |sub: &str| guarded.token(json!({"sub": sub, "org": "acme", "scope": scopes}));
    let (ann, eve) = (token("ann"), token("eve"));
    ready_as(gateway, &ann).await;
    let tasks = json!([{"id": "d", "tool": "t:deploy", "arguments": {"task": "d"}}]);
    let first = call_as(gateway, &ann, "execute_dag", json!({"workflow": {"tasks": tasks}})).await
        ["data"]
        .clone();
    let approve = json!({"workflow_id": first["workflow_id"], "checkpoint_id": first["checkpoint_id"], "approved": true});
    let own = call_as(gateway, &ann, "approval_response", approve.clone()).await;
    assert_eq!(own["errors"][0]["code"], "DENIED", "{own}");
    let stranger = guarded.token(json!({"sub": "bob", "org": "acme", "scope": SCOPES}));
    let unseen = call_as(gateway, &stranger, "approval_response", approve.clone()).await;
    assert_eq!(unseen["errors"][0]["code"], "NOT_FOUND", "{unseen}");
    let done = call_as(gateway, &eve, "approval_response", approve).await;
    assert_eq!(done["data"]["status"], "complete", "{done}");
}

#[tokio::test]
async fn a_revoked_key_stops_the_workflow() {
    let gateway = with_ledger("auth: {}\n").start().await;
    let added = gateway.run(&["keys", "add", "ci"]).await;
    let key = added.ok().trim().to_owned();
    ready_as(&gateway, &key).await;
    let slow = json!({"id": "a", "tool": "t:work", "arguments": {"task": "a", "ms": 1500}});
    let input =
        json!({"workflow": {"tasks": [slow, work("b", &["a"])]}, "config": {"wait_ms": 100}});
    let first = call_as(&gateway, &key, "execute_dag", input).await;
    let id = first["data"]["workflow_id"].as_str().unwrap_or_else(|| panic!("{first}")).to_owned();
    gateway.run(&["keys", "revoke", "ci"]).await.ok();
    let run = format!("/v1/runs/run_{}", id.replace('-', ""));
    let calls = eventually("the first task ends", || async {
        let get = reqwest::Client::new().get(gateway.url(&run)).bearer_auth(gateway.admin_token());
        let shown = testkit::send(get).await.body;
        shown["calls"].as_array().filter(|calls| !calls.is_empty()).cloned()
    })
    .await;
    assert_eq!(calls.len(), 1, "nothing runs for an owner who is gone: {calls:?}");
    let events = eventually("the workflow pauses", || async {
        let log = gateway.log();
        log.contains("owner_gone").then_some(log)
    })
    .await;
    assert!(!events.is_empty());
}
