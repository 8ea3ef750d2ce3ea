//! An answer to a checkpoint decides about the calls that the checkpoint showed, and about no others.

use serde_json::{Value, json};
use testkit::{Gateway, GuardedGateway};

use crate::workflows::support::{
    Client, as_admin, call, call_as, ledger, pair, per_layer, ready_as, start, statuses,
    with_ledger, work,
};

/// A task that a person must approve, and that fails the first time.
fn risky(name: &str) -> Value {
    let arguments = json!({"task": name, "times": 1, "retryable": false});
    json!({"id": "g", "tool": "t:fail", "arguments": arguments, "approval": {}})
}

/// A gateway with `auth:` and its callers: one who starts workflows, and one who decides.
struct People {
    guarded: GuardedGateway,
    owner: String,
    reviewer: String,
}

impl People {
    async fn start() -> Self {
        let guarded = GuardedGateway::start(with_ledger(""), "").await;
        let token = |sub: &str, scope: &str| {
            guarded.token(json!({"sub": sub, "org": "acme", "scope": scope}))
        };
        let owner = token("ann", "tools:read tools:call runs:read");
        let reviewer = token("eve", "tools:read tools:call runs:read approvals:decide");
        ready_as(&guarded.gateway, &owner).await;
        Self { guarded, owner, reviewer }
    }

    fn gateway(&self) -> &Gateway {
        &self.guarded.gateway
    }

    /// Calls a tool as the owner.
    async fn own(&self, tool: &str, input: Value) -> Value {
        let answer = call_as(self.gateway(), &self.owner, tool, input).await;
        assert_eq!(answer["ok"], true, "{tool}: {answer:#}");
        answer["data"].clone()
    }

    /// Answers a checkpoint as the reviewer.
    async fn review(&self, checkpoint: &Value, approved: bool) -> Value {
        let input = json!({
            "workflow_id": checkpoint["workflow_id"],
            "checkpoint_id": checkpoint["checkpoint_id"],
            "approved": approved,
        });
        call_as(self.gateway(), &self.reviewer, "approval_response", input).await
    }

    /// The answer to an old checkpoint is refused, and names the current one.
    async fn is_refused(&self, old: &Value, current: &Value) {
        assert_eq!(current["checkpoint_type"], "approval_required", "{current:#}");
        let refused = self.review(old, true).await;
        let error = &refused["errors"][0];
        assert_eq!(error["code"], "INVALID_INPUT", "{refused:#}");
        assert_eq!(error["details"]["checkpoint_id"], current["checkpoint_id"], "{refused:#}");
    }
}

#[tokio::test]
async fn an_old_answer_does_not_approve_a_retry() {
    let people = People::start().await;
    let first = people.own("execute_dag", per_layer(json!([risky("safe")]))).await;
    let id = first["workflow_id"].clone();
    let failed = people.review(&first, true).await["data"].clone();
    assert_eq!(failed["checkpoint_type"], "task_failed", "{failed:#}");
    let other = json!({"task": "dangerous", "times": 0, "retryable": false});
    let retry = json!({"workflow_id": id, "task_id": "g", "arguments": other});
    let second = people.own("retry_task", retry).await;
    people.is_refused(&first, &second).await;
    assert_eq!(ledger(people.gateway())[1..], ["safe"], "the retry has not run");
    let done = people.review(&second, true).await["data"].clone();
    assert_eq!(statuses(&done["layer_results"]), [pair("g", "success")], "{done:#}");

    // Nor one that was rejected and is retried later. A retry that is refused leaves the arguments as they are.
    let first = people.own("execute_dag", per_layer(json!([risky("refused")]))).await;
    let id = first["workflow_id"].clone();
    let rejected = people.review(&first, false).await["data"].clone();
    assert_eq!(rejected["status"], "rejected", "{rejected:#}");
    let retry = json!({"workflow_id": id, "task_id": "g", "arguments": other});
    let early = call_as(people.gateway(), &people.owner, "retry_task", retry).await;
    assert_eq!(early["errors"][0]["code"], "INVALID_INPUT", "{early:#}");
    let more = json!({"workflow_id": id, "tasks": [work("more", &[])]});
    people.own("inject_tasks", more).await;
    let again = people.own("retry_task", json!({"workflow_id": id, "task_id": "g"})).await;
    assert_eq!(again["decisions"][0]["arguments"]["task"], "refused", "{again:#}");
    people.is_refused(&first, &again).await;
}

#[tokio::test]
async fn an_answer_approves_only_the_calls_that_could_be_shown() {
    let people = People::start().await;
    let items: Vec<_> = (0..130).collect();
    let each = json!({"id": "each", "tool": "t:work", "for_each": items, "approval": {}, "arguments": {"task": "item {{ item }}"}});
    let first = people.own("execute_dag", json!({"workflow": {"tasks": [each]}})).await;
    assert_eq!(first["decisions"].as_array().map(Vec::len), Some(100), "{}", first["status"]);
    let id = first["workflow_id"].clone();
    let mut answer = people.review(&first, true).await["data"].clone();
    while answer["status"] == "running" {
        answer = people.own("continue", json!({"workflow_id": id})).await;
    }
    assert_eq!(answer["decisions"].as_array().map(Vec::len), Some(30), "{}", answer["status"]);
    people.is_refused(&first, &answer).await;
    assert_eq!(ledger(people.gateway()).len(), 1 + 100, "what was not shown has not run");
    let last = people.review(&answer, true).await["data"].clone();
    assert_eq!(last["status"], "complete", "{}", last["status"]);
}

#[tokio::test]
async fn the_answer_to_a_form_belongs_to_its_checkpoint() {
    let gateway = start("").await;
    let mut client = Client::with_forms(&gateway);
    let first = call(&gateway, "execute_dag", per_layer(json!([risky("safe")]))).await;
    let id = first["workflow_id"].clone();
    let approve = |checkpoint: &Value| json!({"workflow_id": id, "checkpoint_id": checkpoint["checkpoint_id"], "approved": true});
    let asked = client.call("approval_response", approve(&first), json!({})).await;
    let forms = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked:#}"));
    let name = forms.keys().next().unwrap();
    let answer =
        json!({"inputResponses": {name: {"action": "accept", "content": {"decision": "approve"}}}});

    // Before the person answers, another decides, and the call fails and is retried.
    let approval = first["decisions"][0]["approval_id"].as_str().unwrap();
    let path = format!("/v1/approvals/{approval}");
    let decided =
        as_admin(&gateway, reqwest::Method::POST, &path, &json!({"decision": "approve"})).await;
    assert_eq!(decided.status, 200, "{decided:?}");
    let failed = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(failed["checkpoint_type"], "task_failed", "{failed:#}");
    let other = json!({"task": "dangerous", "times": 0, "retryable": false});
    let retry = json!({"workflow_id": id, "task_id": "g", "arguments": other});
    let second = call(&gateway, "retry_task", retry).await;

    let stale = client.call("approval_response", approve(&first), answer.clone()).await;
    assert_eq!(stale["result"]["structuredContent"]["error"]["code"], -32602, "{stale:#}");
    let again = client.call("approval_response", approve(&second), answer).await;
    let form = again["result"]["inputRequests"].to_string();
    assert!(form.contains("dangerous"), "it is asked again: {again:#}");
    assert_eq!(ledger(&gateway), ["safe"], "the retry has not run");
}
