//! A database that cannot be written or read for a while. SQLite only: there a test can lock it and take its tables away.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use testkit::{Gateway, PostgresServer, eventually, on_postgres};

use crate::workflows::support::{
    as_admin, call, crash, ledger, per_layer, ready, start, with_ledger, work,
};

const EXECUTE: &str = "powerstrip:execute_dag";

/// Executes statements, says so, and keeps the connection until its input ends.
const SQLITE: &str = "
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
database.execute(sys.argv[2])
print('done', flush=True)
sys.stdin.read()
";

/// A connection to the database of a gateway; a transaction that it began ends when it is dropped.
struct Connection(Child);

impl Connection {
    fn execute(gateway: &Gateway, sql: &str) -> Self {
        let file = gateway.folder().join(".powerstrip/powerstrip.db");
        let mut command = Command::new("python3");
        command.args(["-c", SQLITE]).arg(file).arg(sql);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut said).unwrap();
        assert_eq!(said, "done\n", "{sql}");
        Self(child)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Nothing about the tasks of workflows can be read or written until `return_tasks`.
fn take_tasks_away(gateway: &Gateway) {
    Connection::execute(gateway, "ALTER TABLE workflow_tasks RENAME TO tasks_away");
}

fn return_tasks(gateway: &Gateway) {
    Connection::execute(gateway, "ALTER TABLE tasks_away RENAME TO workflow_tasks");
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
        let slow = json!({"id": task, "tool": "t:work", "arguments": {"task": task, "ms": 1500}});
        json!({"workflow": {"tasks": [slow]}})
    };
    let keyed =
        async || gateway.call_with(EXECUTE, &input("keyed"), &[("Idempotency-Key", "key")]).await;
    let lock = Connection::execute(&gateway, "BEGIN IMMEDIATE");
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
    let slow = json!({"id": "slow", "tool": "t:work", "depends_on": ["long"], "arguments": {"task": "slow", "ms": 2_000}});
    let input = json!({"workflow": {"tasks": [long, slow]}, "config": {"wait_ms": 60_000}});
    let outage = async {
        eventually("the last task runs", || async {
            ledger(&gateway).contains(&"slow".to_owned()).then_some(())
        })
        .await;
        take_tasks_away(&gateway);
        logged(&gateway, "the last answer of a workflow cannot be made").await;
        return_tasks(&gateway);
    };
    let (last, ()) = tokio::join!(call(&gateway, "execute_dag", input), outage);
    assert_eq!(last["status"], "complete", "{last:#}");
    assert_eq!(last["results"][0]["output"]["items"].as_array().unwrap().len(), 3_000);
    let run = gateway.get(&crate::workflows::support::run_path(&last["workflow_id"])).await.body;
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
    let lock = Connection::execute(&gateway, "BEGIN IMMEDIATE");
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
    let input = json!({"task": "slow", "ms": 1500});
    let outage = async {
        eventually("the call runs", || async {
            ledger(gateway).contains(&"slow".to_owned()).then_some(())
        })
        .await;
        outage()
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
    let lock =
        call_into_outage(&gateway, || Connection::execute(&gateway, "BEGIN IMMEDIATE")).await;
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
    let task = json!({"id": "w", "tool": "t:work", "arguments": {"task": "w", "ms": 3000}});
    let input = json!({"workflow": {"tasks": [task]}, "config": {"wait_ms": 1}});
    call(&gateway, "execute_dag", input).await;
    call_into_outage(&gateway, || server.halt()).await;
    let gateway = gateway
        .restart_after(|stop| {
            assert_quick(stop);
            server.restart("fast");
        })
        .await;
    assert_recorded(&gateway).await;
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
    let damage = |column: &str| {
        let (table, name) = column.split_once('.').unwrap();
        let id = ids[0].as_str().unwrap();
        let sql = format!("UPDATE {table} SET {name} = '{{' WHERE workflow_id = '{id}'");
        Connection::execute(&gateway, &sql);
    };
    damage("workflow_tasks.result");
    let report = call(&gateway, "workflow_status", json!({"workflow_id": ids[0]})).await;
    assert_eq!(report["error"]["code"], -32603, "{report:#}");
    let message = report["error"]["message"].as_str().unwrap();
    assert!(message.contains("cannot be read"), "{report:#}");

    damage("workflow_dags.dag");
    let listed = gateway.get("/v1/workflows").await.body;
    let outcome = |id: &serde_json::Value| {
        let mut listed = listed["workflows"].as_array().unwrap().iter();
        listed.find(|one| one["workflow_id"] == *id).map(|one| one["outcome"].clone())
    };
    assert_eq!(outcome(&ids[0]), Some(json!("unreadable")), "{listed:#}");
    assert_eq!(outcome(&ids[1]), Some(json!("layer_complete")), "{listed:#}");
}
