//! Approvals and questions inside workflows.

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{Gateway, eventually, send};

use crate::workflows::support::{Client, call, pair, per_layer, start, statuses, work};

const GATED: &str =
    "skills:\n  careful: { tools: ['t:deploy'], auto_approve: false, approval_timeout: 60s }\n";

fn deploy(id: &str, after: &[&str]) -> Value {
    json!({"id": id, "tool": "t:deploy", "depends_on": after, "arguments": {"task": id}})
}

async fn admin(gateway: &Gateway, path: &str, body: &Value) -> testkit::Response {
    let request = reqwest::Client::new().post(gateway.url(path));
    send(request.bearer_auth(gateway.admin_token()).json(body)).await
}

#[tokio::test]
async fn a_gated_task_waits_and_goes_on_after_the_decision() {
    let gateway = start(GATED).await;
    let tasks = json!([work("a", &[]), deploy("d", &["a"]), work("z", &["d"])]);
    let first = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
    assert_eq!(first["checkpoint_type"], "approval_required", "{first:#}");
    assert_eq!(first["options"], json!(["approval_response", "abort"]));
    assert!(first["decision_context"].as_str().unwrap().contains("t:deploy"), "{first}");
    let decision = &first["decisions"][0];
    assert_eq!((&decision["task_id"], &decision["tool"]), (&json!("d"), &json!("t:deploy")));
    assert_eq!(decision["arguments"], json!({"task": "d"}));
    let id = first["workflow_id"].clone();
    let chk = first["checkpoint_id"].clone();

    // The starter cannot approve: its client shows no forms.
    let approve = json!({"workflow_id": id, "checkpoint_id": chk, "approved": true});
    let refused = call(&gateway, "approval_response", approve.clone()).await;
    assert_eq!(refused["error"]["code"], -32003, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("/dashboard"), "{refused}");
    let wrong = json!({"workflow_id": id, "checkpoint_id": "chk_0", "approved": false});
    let wrong = call(&gateway, "approval_response", wrong).await;
    assert_eq!(
        (&wrong["error"]["code"], &wrong["error"]["data"]["checkpoint_id"]),
        (&json!(-32602), &chk),
        "{wrong}"
    );

    let path = format!("/v1/approvals/{}", decision["approval_id"].as_str().unwrap());
    let decided = admin(&gateway, &path, &json!({"decision": "approve"})).await;
    assert_eq!(decided.status, 200, "{decided:?}");
    let last = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(last["status"], "complete", "{last:#}");
    assert_eq!(last["results"][1]["output"]["runs"], 1);
}

/// With so many in memory, a paused workflow leaves it after a moment, but not while a caller waits for the decision.
#[tokio::test]
async fn continue_waits_for_the_decision_among_many_workflows() {
    let gateway = start(GATED).await;
    let dag = |number| json!({"workflow": {"tasks": [deploy(&format!("d{number}"), &[])]}});
    let paused = join_all((0..80).map(|number| call(&gateway, "execute_dag", dag(number)))).await;
    let continued = paused.iter().map(|first| {
        let input = json!({"workflow_id": first["workflow_id"], "wait_ms": 60_000});
        call(&gateway, "continue", input)
    });
    let decided = async {
        for first in &paused {
            let id = first["decisions"][0]["approval_id"].as_str();
            let path = format!("/v1/approvals/{}", id.unwrap_or_else(|| panic!("{first:#}")));
            let decided = admin(&gateway, &path, &json!({"decision": "approve"})).await;
            assert_eq!(decided.status, 200, "{decided:?}");
        }
    };
    let (ended, ()) = tokio::join!(join_all(continued), decided);
    let complete = ended.iter().filter(|last| last["status"] == "complete").count();
    assert_eq!(complete, 80, "{:#}", ended[79]);
}

#[tokio::test]
async fn the_owner_rejects_and_other_tasks_may_follow() {
    let gateway = start(GATED).await;
    let tasks = json!([deploy("d", &[]), work("z", &["d"])]);
    let first = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
    let (id, chk) = (first["workflow_id"].clone(), first["checkpoint_id"].clone());
    let short = &id.as_str().unwrap()[..13];
    let printed = gateway.run(&["workflows", "continue", short]).await.ok().to_owned();
    assert!(printed.contains("waiting for approval of task"), "{printed}");
    let reject = json!({"workflow_id": id, "checkpoint_id": chk, "approved": false, "feedback": "too risky"});
    let rejected = call(&gateway, "approval_response", reject).await;
    assert_eq!(
        (&rejected["status"], &rejected["feedback"]),
        (&json!("rejected"), &json!("too risky")),
        "{rejected}"
    );
    let again = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(again["status"], "rejected", "{again}");
    let printed = gateway.run(&["workflows", "continue", short]).await.ok().to_owned();
    assert!(printed.contains("was rejected") && printed.contains("too risky"), "{printed}");
    let run = gateway.get(&format!("/v1/runs/run_{}", id.as_str().unwrap().replace('-', ""))).await;
    assert_eq!(run.body["state"], "rejected", "{run:?}");
    assert_eq!(run.body["calls"][0]["outcome"], "ASKED", "the call did not run: {run:?}");
    let report = call(&gateway, "workflow_status", json!({"workflow_id": id})).await;
    let noted = report["events"]
        .as_array()
        .unwrap()
        .iter()
        .rfind(|event| event["kind"] == "layer_complete");
    assert_eq!(noted.unwrap()["data"]["options"], json!(["replan", "abort"]), "{report:#}");
    let more = json!({"workflow_id": id, "tasks": [work("other", &[])]});
    assert_eq!(call(&gateway, "inject_tasks", more).await["status"], "replanned");
    let last = call(&gateway, "continue", json!({"workflow_id": id})).await;
    let done = [pair("d", "failed"), pair("z", "skipped"), pair("other", "success")];
    assert_eq!(statuses(&last["results"]), done, "{last:#}");
    assert_eq!(last["results"][0]["error"]["code"], "DENIED");
    let listed =
        reqwest::Client::new().get(gateway.url("/v1/approvals")).bearer_auth(gateway.admin_token());
    assert_eq!(send(listed).await.body["approvals"], json!([]), "nothing is left to decide");
}

#[tokio::test]
async fn a_response_covers_all_calls_even_if_its_client_leaves() {
    let gateway = start(GATED).await;
    let items: Vec<usize> = (0..60).collect();
    let each = json!({"id": "each", "tool": "t:deploy", "for_each": items, "arguments": {"task": "{{ item }}."}});
    let first = call(&gateway, "execute_dag", json!({"workflow": {"tasks": [each]}})).await;
    assert_eq!(first["decisions"].as_array().map(Vec::len), Some(60), "{first:#}");
    let reject = json!({"workflow_id": first["workflow_id"], "checkpoint_id": first["checkpoint_id"], "approved": false});
    let pending = async || {
        let request = reqwest::Client::new().get(gateway.url("/v1/approvals?limit=100"));
        let listed = send(request.bearer_auth(gateway.admin_token())).await.body;
        listed["approvals"].as_array().unwrap().len()
    };
    tokio::select! {
        _ = call(&gateway, "approval_response", reject) => {}
        // The client leaves after the first decision.
        () = eventually("a first decision", async || (pending().await < 60).then_some(())) => {}
    }
    eventually("all are decided", async || (pending().await == 0).then_some(())).await;
}

#[tokio::test]
async fn gates_hold_for_items_sub_workflows_and_compensations() {
    let gateway = start(GATED).await;
    let tasks = json!([
        {"id": "each", "tool": "t:deploy", "for_each": [1, 2], "arguments": {"task": "same"}},
        {"id": "sub", "workflow": {"tasks": [deploy("inner", &[])]}},
        {"id": "own", "tool": "t:work", "arguments": {"task": "own"}, "approval": {"reason": "please"}},
        {"id": "free", "tool": "t:work", "arguments": {"task": "free"}, "compensate": {"tool": "t:deploy", "arguments": {"task": "back"}}},
    ]);
    let first = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
    let asked: Vec<_> = first["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["task_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        asked,
        ["each[0]", "each[1]", "sub/inner", "own"],
        "equal calls need one each: {first:#}"
    );
    let id = first["workflow_id"].clone();
    let aborting = call(&gateway, "abort", json!({"workflow_id": id, "reason": "enough"})).await;
    assert_eq!(
        aborting["checkpoint_type"], "approval_required",
        "compensation waits: {aborting:#}"
    );
    assert_eq!(aborting["decisions"][0]["tool"], "t:deploy");
    let path =
        format!("/v1/approvals/{}", aborting["decisions"][0]["approval_id"].as_str().unwrap());
    assert_eq!(admin(&gateway, &path, &json!({"decision": "approve"})).await.status, 200);
    let last = call(&gateway, "continue", json!({"workflow_id": id})).await;
    let aborted = if last["status"] == "aborted" {
        last
    } else {
        call(&gateway, "abort", json!({"workflow_id": id, "reason": "enough"})).await
    };
    assert_eq!(aborted["status"], "aborted", "{aborted:#}");
    assert_eq!(statuses(&aborted["compensations"]), [pair("free", "success")], "{aborted:#}");
}

#[tokio::test]
async fn long_outputs_of_compensations_outlast_a_pause_and_a_restart() {
    let gateway = start(GATED).await;
    let (mut gated, mut long) = (work("gated", &[]), work("long", &["gated"]));
    gated["compensate"] = json!({"tool": "t:deploy", "arguments": {"task": "back"}});
    long["compensate"] = json!({"tool": "t:undo", "arguments": {"task": "undo", "bytes": 10_000}});
    let first = call(&gateway, "execute_dag", per_layer(json!([gated, long]))).await;
    let id = first["workflow_id"].clone();
    call(&gateway, "continue", json!({"workflow_id": id})).await;
    let abort = json!({"workflow_id": id, "reason": "enough"});
    let aborting = call(&gateway, "abort", abort.clone()).await;
    let approval =
        aborting["decisions"][0]["approval_id"].as_str().unwrap_or_else(|| panic!("{aborting:#}"));
    let gateway = gateway.restart().await;
    crate::workflows::support::ready(&gateway).await;
    let path = format!("/v1/approvals/{approval}");
    assert_eq!(admin(&gateway, &path, &json!({"decision": "approve"})).await.status, 200);
    let aborted = eventually("the workflow has ended", || async {
        let answer = call(&gateway, "abort", abort.clone()).await;
        (answer["status"] == "aborted").then_some(answer)
    })
    .await;
    let undone = [pair("long", "success"), pair("gated", "success")];
    assert_eq!(statuses(&aborted["compensations"]), undone, "{aborted:#}");
    let text = aborted["compensations"][0]["output"]["text"].as_str().unwrap_or_default();
    assert_eq!(text.len(), 10_000, "{aborted:#}");
}

#[tokio::test]
async fn the_person_at_the_client_decides_by_elicitation() {
    let gateway = start(GATED).await;
    let mut client = Client::with_forms(&gateway);
    let tasks = json!([deploy("d", &[])]);
    let first = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
    let (id, chk) = (first["workflow_id"].clone(), first["checkpoint_id"].clone());
    let approve = json!({"workflow_id": id, "checkpoint_id": chk, "approved": true});
    let asked = client.call("approval_response", approve.clone(), json!({})).await;
    let questions =
        asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked:#}"));
    let (name, question) = questions.iter().next().unwrap();
    assert!(question["params"]["message"].as_str().unwrap().contains("t:deploy"), "{asked:#}");
    let answer = json!({name: {"action": "accept", "content": {"decision": "approve"}}});
    let done = client.call("approval_response", approve, json!({"inputResponses": answer})).await;
    assert_eq!(done["result"]["structuredContent"]["status"], "complete", "{done:#}");
}

#[tokio::test]
async fn a_task_that_asks_waits_for_the_answer_across_a_restart() {
    let gateway = start("").await;
    let ask =
        json!({"id": "q", "tool": "t:ask", "arguments": {"task": "q", "question": "Which tone?"}});
    let first = call(&gateway, "execute_dag", json!({"workflow": {"tasks": [ask]}})).await;
    assert_eq!(first["checkpoint_type"], "input_required", "{first:#}");
    assert_eq!(first["options"], json!(["continue", "abort"]));
    let question = first["questions"][0].clone();
    assert_eq!(question["task_id"], "q", "{first:#}");
    let id = first["workflow_id"].clone();
    let gateway = gateway.restart().await;
    crate::workflows::support::ready(&gateway).await;
    let run = format!("/v1/runs/run_{}/answers", id.as_str().unwrap().replace('-', ""));
    let answer = json!({"slot_id": question["slot_id"], "value": "warm"});
    let answered = admin(&gateway, &run, &answer).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    let last = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(last["status"], "complete", "{last:#}");
    assert_eq!(last["results"][0]["output"]["reply"], "warm", "{last:#}");
}

#[tokio::test]
async fn reviewers_see_the_reason_of_a_task() {
    let gateway = start("").await;
    let reason = "it deletes <b>everything</b>\u{202e}";
    let task = json!({"id": "own", "tool": "t:work", "arguments": {"task": "own"}, "approval": {"reason": reason}});
    let first = call(&gateway, "execute_dag", json!({"workflow": {"tasks": [task]}})).await;
    let approval =
        first["decisions"][0]["approval_id"].as_str().unwrap_or_else(|| panic!("{first:#}"));
    let get = async |path: &str| {
        let request = reqwest::Client::new().get(gateway.url(path));
        send(request.bearer_auth(gateway.admin_token())).await.body
    };
    let listed = get("/v1/approvals").await;
    assert_eq!(listed["approvals"][0]["requestReason"], reason, "{listed:#}");
    assert_eq!(get(&format!("/v1/approvals/{approval}")).await["requestReason"], reason);
    let runs = gateway.run(&["runs"]).await;
    assert!(runs.ok().contains("waiting for an approval"), "{runs:?}");
    let waiting = gateway.run(&["runs", "ls", "--state", "waiting"]).await;
    assert!(waiting.ok().contains("`powerstrip approvals` lists calls"), "{waiting:?}");
    let failed = gateway.run(&["runs", "ls", "--state", "failed"]).await;
    assert!(failed.ok().contains("no runs in the state `failed`"), "{failed:?}");
    for command in [&["approvals"][..], &["approvals", "show", approval]] {
        let printed = gateway.run(command).await.ok().to_owned();
        assert!(printed.contains("deletes <b>everything"), "{printed}");
        assert!(!printed.contains('\u{202e}'), "{printed}");
    }
    let mut client = Client::with_forms(&gateway);
    let (id, chk) = (first["workflow_id"].clone(), first["checkpoint_id"].clone());
    let approve = json!({"workflow_id": id, "checkpoint_id": chk, "approved": true});
    let asked = client.call("approval_response", approve, json!({})).await.to_string();
    assert!(asked.contains("deletes <b>everything") && !asked.contains('\u{202e}'), "{asked}");
    let long = json!({"id": "own", "tool": "t:work", "arguments": {"task": "own"}, "approval": {"reason": "x".repeat(2_001)}});
    let refused = call(&gateway, "execute_dag", json!({"workflow": {"tasks": [long]}})).await;
    assert_eq!(
        refused["error"]["data"]["faults"][0]["path"], "/tasks/0/approval/reason",
        "{refused:#}"
    );
}
