//! Workflows of another tenant, and of another caller of the same tenant.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Response, send};

use crate::access::support::{Caller, Setup};

/// The routes about one workflow.
pub(super) const PATHS: [&str; 12] = [
    "/v1/workflows/{id}",
    "/v1/workflows/{id}/events",
    "/v1/workflows/{id}/graph.svg",
    "/v1/workflows/{id}/continue",
    "/v1/workflows/{id}/replan",
    "/v1/workflows/{id}/abort",
    "/v1/workflows/{id}/approval_response",
    "/v1/workflows/{id}/retry_task",
    "/v1/workflows/{id}/modify_args",
    "/v1/workflows/{id}/skip_task",
    "/v1/workflows/{id}/inject_tasks",
    "/v1/workflows/{id}/workflow_status",
];

const ALL: &str = "tools:read tools:call runs:read";

fn caller<'a>(setup: &'a Setup, org: &str, sub: &str, scope: &str) -> Caller<'a> {
    setup.caller(json!({"org": org, "sub": sub, "scope": scope}))
}

async fn post(caller: &Caller<'_>, path: &str, body: &Value) -> Response {
    send(caller.request(Method::POST, path).json(body)).await
}

/// The id of a paused workflow of ann.
async fn paused(setup: &Setup) -> String {
    let ann = caller(setup, "acme", "ann", ALL);
    let task = |id: &str, after: &[&str]| json!({"id": id, "tool": "demo.echo", "arguments": {"message": "hers"}, "depends_on": after});
    let body = json!({"workflow": {"tasks": [task("a", &[]), task("b", &["a"])]},
        "config": {"per_layer_validation": true}});
    let started = post(&ann, "/v1/workflows", &body).await;
    assert_eq!(started.body["data"]["status"], "layer_complete", "{started:?}");
    started.body["data"]["workflow_id"].as_str().unwrap().to_owned()
}

/// People with `runs:read` see the workflows of their tenant, and no others.
pub(super) async fn reading(setup: &Setup) {
    let id = paused(setup).await;
    let outsider = caller(setup, "globex", "ann", ALL);
    let colleague = caller(setup, "acme", "amy", ALL);
    let unable = caller(setup, "acme", "amy", "tools:read tools:call");
    let listed = outsider.get("/v1/workflows").await.body;
    assert!(listed["workflows"].is_array() && !listed.to_string().contains(&id), "{listed}");
    assert!(colleague.get("/v1/workflows").await.body.to_string().contains(&id));
    assert_eq!(unable.get("/v1/workflows").await.status, 403);
    for path in &PATHS[..3] {
        let path = path.replace("{id}", &id);
        let answer = outsider.get(&path).await;
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert_eq!(answer.body["errors"][0]["message"], "Workflow not found or expired");
        assert_eq!(unable.get(&path).await.status, 403, "{path}");
        if !path.ends_with("events") {
            let found = colleague.request(Method::GET, &path).send().await.unwrap();
            assert_eq!(found.status(), 200, "{path}");
        }
    }
}

/// A plan names only tools that its caller may use, and needs the right to call them.
pub(super) async fn planning(setup: &Setup) {
    let body = json!({"intent": "Echo the message 'hello'"});
    let ann = caller(setup, "acme", "ann", ALL);
    let plan = post(&ann, "/v1/workflows/plan", &body).await;
    assert_eq!(plan.status, 200, "{plan:?}");
    assert_eq!(plan.body["tasks"][0]["tool"], "demo.echo", "{plan:?}");
    let unable = caller(setup, "acme", "ann", "tools:read runs:read");
    assert_eq!(post(&unable, "/v1/workflows/plan", &body).await.status, 403);
    let listed = ann.get("/v1/workflows").await.body;
    assert!(!listed.to_string().contains("Echo the message"), "nothing is stored: {listed}");
}

/// Only the caller who started a workflow steers it; others get the same words as for one that never was.
pub(super) async fn steering(setup: &Setup) {
    let id = paused(setup).await;
    let others = [
        ("another tenant", caller(setup, "globex", "ann", ALL)),
        ("a colleague", caller(setup, "acme", "amy", ALL)),
        (
            "an agent of hers",
            setup.caller(json!({"org": "acme", "sub": "ann", "agent": "bot", "scope": ALL})),
        ),
    ];
    let unable = caller(setup, "acme", "ann", "tools:read runs:read");
    assert_eq!(post(&unable, "/v1/workflows", &json!({})).await.status, 403);
    let arguments = json!({"message": "x"});
    let bodies = [
        json!({}),
        json!({"new_requirement": "more"}),
        json!({"reason": "not mine"}),
        json!({"checkpoint_id": "chk_x", "approved": true}),
        json!({"task_id": "a"}),
        json!({"task_id": "b", "arguments": arguments}),
        json!({"task_id": "b"}),
        json!({"tasks": [{"id": "c", "tool": "demo.echo", "arguments": arguments}]}),
        json!({}),
    ];
    for (path, body) in PATHS[3..].iter().zip(&bodies) {
        assert_eq!(post(&unable, &path.replace("{id}", &id), body).await.status, 403, "{path}");
        for (who, other) in &others {
            let answer = post(other, &path.replace("{id}", &id), body).await;
            assert_eq!(answer.status, 404, "{path} by {who}: {answer:?}");
            let never = path.replace("{id}", "550e8400-e29b-41d4-a716-446655440000");
            let never = post(other, &never, body).await;
            let message = |answer: &Response| answer.body["errors"][0]["message"].clone();
            assert_eq!(message(&answer), message(&never), "{path} by {who}");
        }
    }
    let ann = caller(setup, "acme", "ann", ALL);
    let status = post(&ann, &format!("/v1/workflows/{id}/workflow_status"), &json!({})).await;
    assert_eq!(status.body["data"]["state"], "paused", "nothing happened to it: {status:?}");
}
