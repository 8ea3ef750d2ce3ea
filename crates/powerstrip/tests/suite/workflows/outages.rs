//! A database that cannot be written or read for a while. SQLite only: there a test can lock it and take its tables away.

use std::time::Duration;

use serde_json::json;
use testkit::{
    Gateway, GuardedGateway, PostgresServer, ReservedPort, SqliteConnection, eventually,
    on_postgres,
};

use crate::workflows::support::{
    as_admin, call, call_as, crash, hold, ledger, pair, per_layer, ready, ready_as, release,
    run_path, start, statuses, with_ledger, work,
};

const EXECUTE: &str = "powerstrip:execute_dag";

/// Executes a statement in the database of a gateway, as another program.
fn execute(gateway: &Gateway, sql: &str) -> SqliteConnection {
    SqliteConnection::execute(&gateway.folder().join(".powerstrip/powerstrip.db"), sql)
}

/// Nothing about the tasks of workflows can be read or written until `return_tasks`.
fn take_tasks_away(gateway: &Gateway) {
    execute(gateway, "ALTER TABLE workflow_tasks RENAME TO tasks_away");
}

fn return_tasks(gateway: &Gateway) {
    execute(gateway, "ALTER TABLE tasks_away RENAME TO workflow_tasks");
}

async fn logged(gateway: &Gateway, text: &str) {
    eventually(text, || async { gateway.log().contains(text).then_some(()) }).await;
}

/// The writer accepts both starts, cannot commit them, and writes them when the database returns.
#[tokio::test]
async fn a_start_that_failed_runs_once_with_a_key_and_never_without() {
    if on_postgres() {
        return;
    }
    let gateway = start("").await;
    let input = |task: &str| {
        let slow = json!({"id": task, "tool": "t:work", "arguments": {"task": task, "ms": 500}});
        json!({"workflow": {"tasks": [slow]}})
    };
    let keyed =
        async || gateway.call_with(EXECUTE, &input("keyed"), &[("Idempotency-Key", "key")]).await;
    let lock = execute(&gateway, "BEGIN IMMEDIATE");
    let keyless = input("keyless");
    let failed = tokio::join!(keyed(), gateway.call(EXECUTE, &keyless));
    for answer in [failed.0, failed.1] {
        assert_eq!(answer.body["errors"][0]["code"], "UNAVAILABLE", "{answer:?}");
    }
    drop(lock);
    let first = eventually("a retry finds the workflow", || async {
        let answer = keyed().await;
        (answer.status == 200).then_some(answer.body["data"].clone())
    })
    .await;
    assert_eq!(first["status"], "complete", "{first:#}");
    eventually("the other one is deleted", || async {
        let listed = gateway.get("/v1/workflows?state=running").await.body;
        listed["workflows"].as_array().unwrap().is_empty().then_some(())
    })
    .await;
    assert_eq!(keyed().await.body["data"], first);
    assert_eq!(ledger(&gateway), ["keyed"]);
}

#[tokio::test]
async fn a_workflow_that_ends_during_an_outage_ends_after_it() {
    if on_postgres() {
        return;
    }
    let gateway = start("").await;
    let long =
        json!({"id": "long", "tool": "t:work", "arguments": {"task": "long", "items": 3_000}});
    let slow = work("slow", &["long"]);
    hold(&gateway, "slow");
    let input = json!({"workflow": {"tasks": [long, slow]}, "config": {"wait_ms": 60_000}});
    let outage = async {
        eventually("the last task runs", || async {
            ledger(&gateway).contains(&"slow".to_owned()).then_some(())
        })
        .await;
        take_tasks_away(&gateway);
        release(&gateway, "slow");
        logged(&gateway, "the last answer of a workflow cannot be made").await;
        return_tasks(&gateway);
    };
    let (last, ()) = tokio::join!(call(&gateway, "execute_dag", input), outage);
    assert_eq!(last["status"], "complete", "{last:#}");
    assert_eq!(last["results"][0]["output"]["items"].as_array().unwrap().len(), 3_000);
    let run = gateway.get(&run_path(&last["workflow_id"])).await.body;
    assert_eq!(run["state"], "completed", "{run:#}");
}

#[tokio::test]
async fn a_decision_during_an_outage_is_followed_after_it() {
    if on_postgres() {
        return;
    }
    let gateway = start("").await;
    let mut gated = work("gated", &[]);
    gated["approval"] = json!({});
    let first = call(&gateway, "execute_dag", json!({"workflow": {"tasks": [gated]}})).await;
    let approval = first["decisions"][0]["approval_id"].as_str();
    let approval = approval.unwrap_or_else(|| panic!("{first:#}"));
    take_tasks_away(&gateway);
    // Now it is not in memory.
    let gateway = crash(gateway).await;
    logged(&gateway, "a workflow cannot be read").await;
    let path = format!("/v1/approvals/{approval}");
    let decided =
        as_admin(&gateway, reqwest::Method::POST, &path, &json!({"decision": "approve"})).await;
    assert_eq!(decided.status, 200, "{decided:?}");
    ready(&gateway).await;
    return_tasks(&gateway);
    // Not by asking for it, which would read it.
    eventually("the task runs", || async { (ledger(&gateway) == ["gated"]).then_some(()) }).await;
}

/// The record of its beginning waits to be written when the caller learns that it did not run.
#[tokio::test]
async fn a_call_with_a_key_that_could_not_begin_may_run_after_the_outage() {
    if on_postgres() {
        return;
    }
    let gateway = start("").await;
    let key = [("Idempotency-Key", "key")];
    let once = async || gateway.call_with("t:once", &json!({"task": "once"}), &key).await;
    let lock = execute(&gateway, "BEGIN IMMEDIATE");
    let refused = once().await;
    assert_eq!(refused.body["errors"][0]["code"], "UNAVAILABLE", "{refused:?}");
    assert_eq!(refused.body["errors"][0]["retryable"], true, "{refused:?}");
    assert!(ledger(&gateway).is_empty());
    drop(lock);
    eventually("a retry runs", || async { (once().await.status == 200).then_some(()) }).await;
    assert_eq!(once().await.status, 200, "the answer is repeated");
    assert_eq!(ledger(&gateway), ["once"]);
}

/// Calls a tool that runs when the outage begins; its effect and its answer are there, its audit row is not.
async fn call_into_outage<T>(gateway: &Gateway, outage: impl FnOnce() -> T) -> T {
    hold(gateway, "slow");
    let input = json!({"task": "slow"});
    let outage = async {
        eventually("the call runs", || async {
            ledger(gateway).contains(&"slow".to_owned()).then_some(())
        })
        .await;
        let outage = outage();
        release(gateway, "slow");
        outage
    };
    let (_, outage) = tokio::join!(gateway.call("t:work", &input), outage);
    outage
}

fn assert_quick(stop: Duration) {
    assert!(stop < Duration::from_secs(25), "the stop took {stop:?}");
}

async fn assert_recorded(gateway: &Gateway) {
    let path = "/v1/calls?tool=t:work";
    let listed = as_admin(gateway, reqwest::Method::GET, path, &json!(null)).await.body;
    let calls = listed["calls"].as_array().unwrap_or_else(|| panic!("{listed}"));
    let direct = calls.iter().filter(|call| call["door"] == "http");
    let decisions: Vec<_> = direct.map(|call| call["decision"].clone()).collect();
    assert_eq!(decisions, ["ran"], "{listed:#}\n{}", gateway.log());
    let folder = std::fs::read_dir(gateway.folder().join(".powerstrip")).unwrap();
    let mut names = folder.flatten().map(|entry| entry.file_name().into_string().unwrap());
    assert!(names.all(|name| !name.starts_with("unwritten")));
}

#[tokio::test]
async fn a_stop_during_an_outage_loses_no_row() {
    if on_postgres() {
        return;
    }
    let gateway = start("").await;
    let lock = call_into_outage(&gateway, || execute(&gateway, "BEGIN IMMEDIATE")).await;
    let gateway = gateway
        .restart_after(|stop| {
            assert_quick(stop);
            drop(lock);
        })
        .await;
    assert_recorded(&gateway).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_during_an_outage_of_postgresql_is_quick_and_loses_no_row() {
    let Some(server) = PostgresServer::start() else { return };
    let storage = format!("storage:\n  database: {}\n", server.database());
    let gateway = with_ledger(&storage).start().await;
    ready(&gateway).await;
    // A driver that cannot write its result takes the whole drain time.
    hold(&gateway, "w");
    let input = json!({"workflow": {"tasks": [work("w", &[])]}, "config": {"wait_ms": 1}});
    call(&gateway, "execute_dag", input).await;
    call_into_outage(&gateway, || server.halt()).await;
    release(&gateway, "w");
    let gateway = gateway
        .restart_after(|stop| {
            assert_quick(stop);
            server.restart("fast");
        })
        .await;
    assert_recorded(&gateway).await;
}

/// Null in place of an output that cannot be read would be taken for what the tool answered.
#[tokio::test]
async fn a_damaged_output_fails_its_task_and_those_that_use_it() {
    if on_postgres() {
        return;
    }
    let gateway = start("").await;
    let arguments = json!({"task": "use", "value": "{{ tasks.large.output.items | length }}"});
    let tasks = json!([
        {"id": "large", "tool": "t:work", "arguments": {"task": "large", "items": 10_000}},
        {"id": "use", "tool": "t:work", "depends_on": ["large"], "arguments": arguments},
        work("other", &["large"]),
    ]);
    let id = call(&gateway, "execute_dag", per_layer(tasks)).await["workflow_id"].clone();
    let (table, cut) = ("workflow_tasks", "output = substr(output, 1, 5000)");
    execute(&gateway, &format!("UPDATE {table} SET {cut} WHERE task = 'large'"));
    let failed = call(&gateway, "continue", json!({"workflow_id": id})).await;
    let results = failed["layer_results"].as_array().unwrap();
    assert_eq!(
        statuses(&failed["layer_results"]),
        [pair("use", "failed"), pair("other", "success")]
    );
    let error = &results[0]["error"];
    assert_eq!(error["code"], "INTERNAL", "{failed:#}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`large`") && message.contains("start the workflow again"), "{error}");
    let last = call(&gateway, "abort", json!({"workflow_id": id, "reason": "damaged"})).await;
    let large = &last["partial_results"][0];
    assert_eq!((&large["status"], &large["output"]), (&json!("failed"), &json!(null)), "{last:#}");
    assert_eq!(large["error"]["code"], "INTERNAL", "{last:#}");
}

/// No empty workflow is shown in place of one that cannot be read.
#[tokio::test]
async fn a_damaged_workflow_is_reported_and_the_others_are_listed() {
    if on_postgres() {
        return;
    }
    let gateway = start("").await;
    let mut ids = Vec::new();
    for name in ["bad", "good"] {
        let tasks = json!([work(name, &[]), work("then", &[name])]);
        ids.push(call(&gateway, "execute_dag", per_layer(tasks)).await["workflow_id"].clone());
    }
    // The next process has nothing of them in memory.
    let gateway = crash(gateway).await;
    let damage = |column: &str, value: &str| {
        let (table, name) = column.split_once('.').unwrap();
        let id = ids[0].as_str().unwrap();
        let sql = format!("UPDATE {table} SET {name} = {value} WHERE workflow_id = '{id}'");
        execute(&gateway, &sql);
    };
    for (column, value) in [
        ("workflow_tasks.output", "NULL"),
        ("workflow_tasks.status", "'{'"),
        ("workflow_tasks.result", "x'00'"),
        ("workflow_tasks.result", "'{'"),
    ] {
        damage(column, value);
        let report = call(&gateway, "workflow_status", json!({"workflow_id": ids[0]})).await;
        assert_eq!(report["error"]["code"], -32603, "{column}: {report:#}");
        let message = report["error"]["message"].as_str().unwrap();
        assert!(message.contains("cannot be read"), "{column}: {report:#}");
    }

    damage("workflow_dags.dag", "'{'");
    let listed = gateway.get("/v1/workflows").await.body;
    let outcome = |id: &serde_json::Value| {
        let mut listed = listed["workflows"].as_array().unwrap().iter();
        listed.find(|one| one["workflow_id"] == *id).map(|one| one["outcome"].clone())
    };
    assert_eq!(outcome(&ids[0]), Some(json!("unreadable")), "{listed:#}");
    assert_eq!(outcome(&ids[1]), Some(json!("layer_complete")), "{listed:#}");
}

#[tokio::test]
async fn a_damaged_workflow_that_waits_for_a_person_is_not_read_for_ever() {
    if on_postgres() {
        return;
    }
    let gateway = start("").await;
    let task = json!({"id": "a", "tool": "t:work", "arguments": {"task": "a"}, "approval": {}});
    let waiting = call(&gateway, "execute_dag", json!({"workflow": {"tasks": [task]}})).await;
    assert_eq!(waiting["checkpoint_type"], "approval_required", "{waiting:#}");
    execute(&gateway, "UPDATE workflow_tasks SET result = x'00'");
    let gateway = crash(gateway).await;
    let warning = "a workflow cannot be read";
    logged(&gateway, warning).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(gateway.log().matches(warning).count(), 1, "{}", gateway.log());
    let id = waiting["workflow_id"].as_str().unwrap();
    let shown = gateway.get(&format!("/v1/workflows/{id}")).await;
    let error = &shown.body["errors"][0];
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&json!("INTERNAL"), &json!(false)),
        "{shown:?}"
    );
    let abort = json!({"workflow_id": id, "reason": "damaged"});
    let aborted = call(&gateway, "abort", abort).await;
    assert_eq!(aborted["error"]["data"]["retryable"], false, "{aborted:#}");
}

/// Without an error, a client that follows such a journal would ask for it again at once, and for ever.
#[tokio::test]
async fn a_damaged_journal_is_reported_to_those_who_follow_it() {
    if on_postgres() {
        return;
    }
    let gateway = start("").await;
    let tasks = json!([work("a", &[]), work("b", &["a"])]);
    let paused = call(&gateway, "execute_dag", per_layer(tasks)).await;
    let id = paused["workflow_id"].as_str().unwrap_or_else(|| panic!("{paused:#}"));
    execute(&gateway, "UPDATE workflow_events SET data = '{' WHERE number = 2");
    let events = gateway.get(&format!("/v1/workflows/{id}/events")).await;
    assert_eq!(events.body["errors"][0]["code"], "INTERNAL", "{events:?}");
    let watched = gateway.run(&["workflows", "watch", id]).await;
    assert!(watched.stderr.contains("cannot be read"), "{watched:?}");
}

/// An error about damage would show a tenant that a workflow or run of another one exists.
#[tokio::test]
async fn other_tenants_do_not_find_a_damaged_workflow_or_run() {
    if on_postgres() {
        return;
    }
    let guarded = GuardedGateway::start(with_ledger(""), "").await;
    let gateway = &guarded.gateway;
    let scope = "tools:read tools:call runs:read";
    let token = |org: &str| guarded.token(json!({"sub": "ann", "org": org, "scope": scope}));
    let (acme, globex) = (token("acme"), token("globex"));
    ready_as(gateway, &acme).await;
    let tasks = json!([work("a", &[]), work("b", &["a"])]);
    let paused = call_as(gateway, &acme, "execute_dag", per_layer(tasks)).await;
    let id = paused["data"]["workflow_id"].as_str().unwrap_or_else(|| panic!("{paused:#}"));
    let run = run_path(&json!(id));
    let status = async |token: &str, path: &str| {
        let request = reqwest::Client::new().get(gateway.url(path)).bearer_auth(token);
        testkit::send(request).await.status
    };
    assert_eq!(status(&acme, &run).await, 200);
    let workflow = format!("/v1/workflows/{id}");
    let events = format!("{workflow}/events");
    execute(gateway, "UPDATE runs SET artifacts = zeroblob(300)");
    for phase in ["''", "x'00'"] {
        execute(gateway, &format!("UPDATE workflow_dags SET phase = {phase}"));
        for path in [&workflow, &events, &run] {
            assert_eq!(status(&acme, path).await, 500, "{path} {phase}");
            assert_eq!(status(&globex, path).await, 404, "{path} {phase}");
        }
        // Nothing of it can be read but its id.
        let listed = as_admin(gateway, reqwest::Method::GET, "/v1/workflows", &json!(null)).await;
        assert_eq!(listed.body["workflows"][0]["outcome"], "unreadable", "{listed:?}");
    }
}

/// As for those who only look: an error about damage would show that the workflow exists.
#[tokio::test]
async fn other_callers_cannot_tell_a_damaged_workflow_from_one_that_never_was() {
    if on_postgres() {
        return;
    }
    // Tokens are for one address.
    let port = ReservedPort::reserve();
    let guarded = GuardedGateway::start(with_ledger("").at(&port), "").await;
    let scope = "tools:read tools:call runs:read";
    let token = |org: &str, sub: &str, more: &str| {
        guarded.token(json!({"sub": sub, "org": org, "scope": format!("{scope}{more}")}))
    };
    let owner = token("acme", "ann", "");
    let others = [
        token("globex", "ann", ""),
        token("acme", "amy", ""),
        token("globex", "ann", " approvals:decide"),
    ];
    let GuardedGateway { gateway, issuer: _issuer, .. } = guarded;
    ready_as(&gateway, &owner).await;
    let tasks = json!([work("a", &[]), work("b", &["a"])]);
    let paused = call_as(&gateway, &owner, "execute_dag", per_layer(tasks)).await;
    let id = paused["data"]["workflow_id"].as_str().unwrap_or_else(|| panic!("{paused:#}"));
    // The next process has nothing of it in memory.
    let gateway = crash(gateway).await;
    ready_as(&gateway, &owner).await;
    let steer = async |token: &str, id: &str, tool: &str, body: &serde_json::Value| {
        let mut input = body.clone();
        input["workflow_id"] = json!(id);
        let of_tool = call_as(&gateway, token, tool, input).await;
        let post = reqwest::Client::new().post(gateway.url(&format!("/v1/workflows/{id}/{tool}")));
        let of_route = testkit::send(post.bearer_auth(token).json(body)).await.body;
        [of_tool, of_route].map(|answer| answer["errors"][0]["code"].clone())
    };
    let commands = [
        ("workflow_status", json!({})),
        ("continue", json!({})),
        ("abort", json!({"reason": "not mine"})),
        ("replan", json!({"new_requirement": "more"})),
        ("approval_response", json!({"checkpoint_id": "chk_x", "approved": true})),
        ("retry_task", json!({"task_id": "a"})),
        ("modify_args", json!({"task_id": "b", "arguments": {}})),
        ("skip_task", json!({"task_id": "b"})),
        ("inject_tasks", json!({"tasks": [work("c", &[])]})),
    ];
    for damage in ["phase = 'banana'", "phase = 'paused', state = '{'", "dag = '{'"] {
        execute(&gateway, &format!("UPDATE workflow_dags SET {damage}"));
        let status = steer(&owner, id, "workflow_status", &json!({})).await;
        assert_eq!(status, ["INTERNAL", "INTERNAL"], "{damage}");
        for (tool, body) in &commands {
            for (number, other) in others.iter().enumerate() {
                let codes = steer(other, id, tool, body).await;
                assert_eq!(codes, ["NOT_FOUND", "NOT_FOUND"], "{damage} {tool} by {number}");
            }
        }
    }
}
