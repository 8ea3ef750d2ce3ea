//! What happens to workflows and approvals whose time is over.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Gateway, eventually};

use crate::workflows::support::{as_admin, call, ledger, per_layer, ready, run_path, start, work};

const GATED: &str = "skills:\n  careful: { tools: ['t:deploy'], auto_approve: false }\n";

async fn approval(gateway: &Gateway, id: &str) -> Value {
    as_admin(gateway, Method::GET, &format!("/v1/approvals/{id}"), &Value::Null).await.body
}

#[tokio::test]
async fn a_paused_workflow_expires_with_its_approvals_and_questions() {
    let gateway = start(&format!("{GATED}workflows: {{ ttl: 2s }}\n")).await;
    let layers = per_layer(json!([work("a", &[]), work("b", &["a"])]));
    let deploy = json!({"id": "d", "tool": "t:deploy", "arguments": {"task": "d"}});
    let ask =
        json!({"id": "q", "tool": "t:ask", "arguments": {"task": "q", "question": "Which tone?"}});
    let gated = json!([deploy, ask, work("z", &["d"])]);
    let paused = call(&gateway, "execute_dag", layers).await;
    let waiting = call(&gateway, "execute_dag", json!({"workflow": {"tasks": gated}})).await;
    let unanswered = call(&gateway, "execute_dag", json!({"workflow": {"tasks": [deploy]}})).await;
    let rejected = call(&gateway, "execute_dag", json!({"workflow": {"tasks": [deploy]}})).await;
    assert_eq!(paused["status"], "layer_complete", "{paused:#}");
    assert_eq!(waiting["checkpoint_type"], "approval_required", "{waiting:#}");
    let reject = json!({"workflow_id": rejected["workflow_id"],
        "checkpoint_id": rejected["checkpoint_id"], "approved": false});
    let rejected = call(&gateway, "approval_response", reject).await;
    assert_eq!(rejected["status"], "rejected", "{rejected:#}");

    // Long before the next sweep the owner reads that it has expired.
    for (answer, outcome) in [(&waiting, "expired"), (&rejected, "rejected")] {
        let id = &answer["workflow_id"];
        let report = eventually("the workflow's time is over", || async {
            let report = call(&gateway, "workflow_status", json!({"workflow_id": id})).await;
            assert_eq!(report["status"], "report", "{report:#}");
            (report["state"] == "ended").then_some(report)
        })
        .await;
        assert!(report["expires_at"].as_str().unwrap() > "2001", "{report:#}");
        let tasks = report["tasks"].as_array().unwrap();
        assert!(tasks.iter().all(|task| task["status"] != "waiting"), "{report:#}");
        let shown = gateway.get(&format!("/v1/workflows/{}", id.as_str().unwrap())).await.body;
        assert_eq!(shown["workflow"]["outcome"], outcome, "{shown:#}");
        assert_eq!(shown["workflow"]["layer"], 0, "{shown:#}");
        assert_eq!(shown["tasks"][0]["status"], "failed", "{shown:#}");
        assert_eq!(shown["events"].as_array().unwrap().last().unwrap()["kind"], "expired");
        let run = gateway.get(&run_path(id)).await.body;
        assert_eq!(run["state"], outcome, "{run:#}");
        assert!(
            run["questions"].as_array().unwrap().iter().all(|one| one["state"] != "open"),
            "{run:#}"
        );
        for (tool, input) in [
            ("continue", json!({"workflow_id": id})),
            ("abort", json!({"workflow_id": id, "reason": "x"})),
            ("modify_args", json!({"workflow_id": id, "task_id": "none", "arguments": {}})),
        ] {
            let late = call(&gateway, tool, input).await;
            assert_eq!(late["error"]["code"], -32004, "{tool}: {late}");
            assert_eq!(late["error"]["message"], "Workflow not found or expired", "{late}");
        }
    }
    let answer = json!({"workflow_id": unanswered["workflow_id"],
        "checkpoint_id": unanswered["checkpoint_id"], "approved": false});
    let late = call(&gateway, "approval_response", answer).await;
    assert_eq!(late["error"]["code"], -32004, "{late}");
    let decision = waiting["decisions"][0]["approval_id"].as_str().unwrap();
    assert_eq!(approval(&gateway, decision).await["state"], "cancelled");
    let approve = json!({"decision": "approve"});
    let late =
        as_admin(&gateway, Method::POST, &format!("/v1/approvals/{decision}"), &approve).await;
    assert_eq!(late.status, 409, "{late:?}");

    // The sweep removes those that no caller asks for, at the latest at the next start.
    let gateway = gateway.restart().await;
    ready(&gateway).await;
    eventually("the workflow is removed", || async {
        let run = gateway.get(&run_path(&paused["workflow_id"])).await.body;
        (run["state"] == "expired").then_some(())
    })
    .await;
    assert_eq!(ledger(&gateway), ["a"], "nothing that waited has run");
}

/// One workflow whose call is approved while its deadline passes and its owner aborts it.
async fn race(gateway: &Gateway, number: u64) {
    let deploy = format!("d{number}");
    let gate = json!({"reason": "it is a race", "timeout_ms": 600});
    let tasks = json!([
        {"id": "d", "tool": "t:work", "arguments": {"task": deploy}, "approval": gate},
        work("z", &["d"]),
    ]);
    let first = call(gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
    let id = first["workflow_id"].clone();
    let decision =
        first["decisions"][0]["approval_id"].as_str().unwrap_or_else(|| panic!("{first:#}"));
    let path = format!("/v1/approvals/{decision}");
    // Around the deadline: which of the three comes first does not matter.
    tokio::time::sleep(Duration::from_millis(300 + 60 * number)).await;
    let verdict = json!({"decision": "approve"});
    let approve = as_admin(gateway, Method::POST, &path, &verdict);
    let input = json!({"workflow_id": id, "reason": "enough"});
    let (approved, aborted) = tokio::join!(approve, call(gateway, "abort", input));
    let ended = eventually("the workflow has ended", || async {
        let shown = gateway.get(&format!("/v1/workflows/{}", id.as_str().unwrap())).await.body;
        (shown["workflow"]["state"] == "ended").then_some(shown)
    })
    .await;
    let outcome = ended["workflow"]["outcome"].as_str().unwrap();
    let state = approval(gateway, decision).await["state"].as_str().unwrap().to_owned();
    let ran = ledger(gateway).iter().filter(|task| **task == deploy).count();
    let what = format!("{number}: {outcome}, approval {state}, ran {ran}, {approved:?}, {aborted}");
    let granted = ["approved", "consumed"].contains(&state.as_str());
    assert!(granted || ["expired", "cancelled"].contains(&state.as_str()), "{what}");
    assert_eq!(approved.status, if granted { 200 } else { 409 }, "{what}");
    assert!(ran <= 1, "{what}");
    assert!(ran == 0 || state == "consumed", "only an approved call runs: {what}");
    match outcome {
        "complete" => {
            assert_eq!((ran, aborted["error"]["code"].as_i64()), (1, Some(-32004)), "{what}")
        }
        "aborted" => assert_eq!(aborted["status"], "aborted", "{what}"),
        other => panic!("{other}: {what}"),
    }
}

#[tokio::test]
async fn an_approval_its_deadline_and_an_abort_race_to_one_outcome() {
    let gateway = start("").await;
    let races = (0..10).map(|number| race(&gateway, number));
    futures_util::future::join_all(races).await;
    let open = as_admin(&gateway, Method::GET, "/v1/approvals", &Value::Null).await;
    assert_eq!(open.body["approvals"], json!([]), "nothing is left to decide");
}
