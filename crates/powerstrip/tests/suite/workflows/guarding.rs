//! Which callers see a workflow, and what happens when its owner loses its rights.

use serde_json::{Value, json};
use testkit::{GuardedGateway, eventually, mcp_call};

use crate::workflows::support::{
    as_admin, call_as, hold, ledger, per_layer, ready_as, release, start, with_ledger, work,
};

const SCOPES: &str = "tools:read tools:call runs:read";

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
    let other = guarded.token(json!({"sub": "bob", "org": "acme", "scope": SCOPES}));
    let refused = call_as(gateway, &other, "approval_response", approve.clone()).await;
    assert_eq!(refused["errors"][0]["code"], "NOT_FOUND", "{refused}");
    let done = call_as(gateway, &eve, "approval_response", approve).await;
    assert_eq!(done["data"]["status"], "complete", "{done}");
}

#[tokio::test]
async fn a_revoked_key_stops_the_workflow() {
    let gateway = with_ledger("auth: {}\n").start().await;
    let added = gateway.run(&["keys", "add", "ci"]).await;
    let key = added.ok().trim().to_owned();
    ready_as(&gateway, &key).await;
    hold(&gateway, "a");
    let tasks = [work("a", &[]), work("b", &["a"])];
    let input = json!({"workflow": {"tasks": tasks}, "config": {"wait_ms": 100}});
    let first = call_as(&gateway, &key, "execute_dag", input).await;
    let id = first["data"]["workflow_id"].as_str().unwrap_or_else(|| panic!("{first}")).to_owned();
    gateway.run(&["keys", "revoke", "ci"]).await.ok();
    release(&gateway, "a");
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

#[tokio::test]
async fn a_tool_outside_an_agents_view_is_unknown_to_its_workflows() {
    let view = "skills:
  working: { tools: ['t:work', 't:undo', 'powerstrip:execute_dag', 'powerstrip:inject_tasks', 'powerstrip:continue'] }
agents:
  worker: { skills: [working] }
";
    let gateway = start(view).await;
    let door = gateway.url("/agents/worker/mcp");
    let call = async |tool: &str, input: Value| {
        let answer = mcp_call(&door, &format!("powerstrip__{tool}"), input).await;
        assert!(answer["structuredContent"].is_object(), "{tool}: {answer:#}");
        answer["structuredContent"].clone()
    };
    let deploy = json!({"id": "d", "tool": "t:deploy", "arguments": {"task": "d"}});
    let mut undone = work("u", &[]);
    undone["compensate"] = json!({"tool": "t:deploy", "arguments": {"task": "d"}});
    let hidden = [
        (deploy.clone(), "/tool"),
        (json!({"id": "s", "workflow": {"tasks": [deploy]}}), "/workflow/tasks/0/tool"),
        (undone, "/compensate/tool"),
    ];
    let is_unknown = |answer: &Value, path: &str| {
        let faults = answer["error"]["data"]["faults"].as_array().cloned().unwrap_or_default();
        assert_eq!(faults.len(), 1, "{answer:#}");
        assert_eq!(faults[0]["code"], "unknown_tool", "{answer:#}");
        assert!(faults[0]["path"].as_str().unwrap().ends_with(path), "{answer:#}");
        let message = faults[0]["message"].as_str().unwrap();
        assert_eq!(message.matches("t:deploy").count(), 1, "no hint that it exists: {message}");
    };
    for (task, path) in &hidden {
        let refused = call("execute_dag", json!({"workflow": {"tasks": [task]}})).await;
        is_unknown(&refused, path);
    }
    let first = call("execute_dag", per_layer(json!([work("a", &[]), work("b", &["a"])]))).await;
    assert_eq!(first["status"], "layer_complete", "{first:#}");
    let id = first["workflow_id"].clone();
    for (task, path) in &hidden {
        let refused = call("inject_tasks", json!({"workflow_id": id, "tasks": [task]})).await;
        is_unknown(&refused, path);
    }

    // A tool that leaves the view before its task runs is unknown as well.
    let config = std::fs::read_to_string(gateway.folder().join("powerstrip.yaml")).unwrap();
    gateway.write("powerstrip.yaml", &config.replace("'t:work', ", ""));
    eventually("the view is narrower", || async {
        let answer = mcp_call(&door, "t__work", json!({"task": "probe"})).await;
        answer["isError"].as_bool().unwrap_or(true).then_some(())
    })
    .await;
    let before = ledger(&gateway);
    let next = call("continue", json!({"workflow_id": id})).await;
    assert_eq!(next["layer_results"][0]["error"]["code"], "NOT_FOUND", "{next:#}");
    assert_eq!(ledger(&gateway), before, "it did not run");
}

#[tokio::test]
async fn the_audit_names_the_operator_who_steers_a_callers_workflow() {
    let gateway = with_ledger("auth: {}\n").start().await;
    let added = gateway.run(&["keys", "add", "ci"]).await;
    let key = added.ok().trim().to_owned();
    ready_as(&gateway, &key).await;
    let tasks = json!([work("a", &[]), work("b", &["a"]), work("c", &["b"])]);
    let first = call_as(&gateway, &key, "execute_dag", per_layer(tasks)).await;
    let id = first["data"]["workflow_id"].as_str().unwrap_or_else(|| panic!("{first}")).to_owned();
    gateway.run(&["workflows", "continue", &id]).await.ok();
    gateway.run(&["workflows", "abort", &id, "--reason", "too late"]).await.ok();
    let calls = as_admin(&gateway, reqwest::Method::GET, "/v1/calls?limit=200", &Value::Null).await;
    let subject = |tool: &str, door: &str| {
        let calls = calls.body["calls"].as_array().unwrap_or_else(|| panic!("{calls:?}"));
        let of_tool = calls.iter().filter(|call| call["tool"] == tool && call["door"] == door);
        let of_tool: Vec<_> = of_tool.map(|call| call["subject"].as_str().unwrap()).collect();
        assert_eq!(of_tool.len(), 1, "{tool}: {calls:#?}");
        of_tool[0].to_owned()
    };
    let owner = subject("powerstrip:execute_dag", "http");
    for tool in ["powerstrip:continue", "powerstrip:abort"] {
        assert_ne!(subject(tool, "cli"), owner, "{tool}");
    }
    let tasks = calls.body["calls"].as_array().unwrap().iter();
    let mut tasks = tasks.filter(|call| call["door"] == "workflow");
    assert!(tasks.all(|call| call["subject"] == owner.as_str()), "tasks stay the owner's");
    // The owner sees how it ended.
    let own = call_as(&gateway, &key, "abort", json!({"workflow_id": id, "reason": "x"})).await;
    assert_eq!(own["data"]["reason"], "too late", "{own}");
}
