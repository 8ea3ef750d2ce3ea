//! A workflow in which processes die is not resumed again and again; the others are.

use serde_json::{Value, json};
use testkit::{Gateway, eventually};

use crate::workflows::support::{
    call, crash, ledger, pair, per_layer, ready, start, statuses, work,
};

fn count(gateway: &Gateway, task: &str) -> usize {
    ledger(gateway).iter().filter(|begun| *begun == task).count()
}

/// A workflow whose second task is running whenever the gateway is killed.
async fn poison(gateway: &Gateway, name: &str) -> Value {
    let undo = json!({"tool": "t:undo", "arguments": {"task": format!("{name} undone")}});
    let mut first = work("first", &[]);
    first["compensate"] = undo;
    let task = json!({"id": "kills", "tool": "t:work", "depends_on": ["first"], "arguments": {"task": name, "ms": 600_000}});
    let input = json!({"workflow": {"tasks": [first, task]}, "config": {"wait_ms": 0}});
    call(gateway, "execute_dag", input).await["workflow_id"].clone()
}

/// Runs a command as the operator; returns its output.
async fn operate(gateway: &Gateway, arguments: &[&str]) -> String {
    let output = gateway.run(arguments).await;
    output.stdout + &output.stderr
}

#[tokio::test]
async fn a_workflow_in_which_two_processes_died_is_quarantined_and_the_others_resume() {
    let mut gateway = start("").await;
    let names = ["one", "two"];
    let mut ids = Vec::new();
    for name in names {
        ids.push(poison(&gateway, name).await);
    }
    // One layer after the other: each that begins shows that the one before it is committed.
    let steps: Vec<_> = (0..80).map(|step| format!("s{step}")).collect();
    let tasks = steps.iter().enumerate().map(|(at, id)| {
        let after: Vec<_> = at.checked_sub(1).map(|before| steps[before].as_str()).into_iter().collect();
        json!({"id": id, "tool": "t:work", "depends_on": after, "arguments": {"task": id, "ms": 50}})
    });
    let input = json!({"workflow": {"tasks": tasks.collect::<Vec<_>>()}, "config": {"wait_ms": 0}});
    let steady = call(&gateway, "execute_dag", input).await["workflow_id"].clone();
    for round in 1..=2 {
        let before = ledger(&gateway).iter().filter(|task| task.starts_with('s')).count();
        eventually("all are active, and one makes progress", || async {
            let active = names.iter().all(|name| count(&gateway, name) == round);
            let now = ledger(&gateway).iter().filter(|task| task.starts_with('s')).count();
            (active && now > before + 2).then_some(())
        })
        .await;
        gateway = crash(gateway).await;
    }

    let last = call(&gateway, "continue", json!({"workflow_id": steady, "wait_ms": 60_000})).await;
    assert_eq!(last["status"], "complete", "{last:#}");
    for (name, id) in names.iter().zip(&ids) {
        let report = call(&gateway, "workflow_status", json!({"workflow_id": id})).await;
        let checkpoint = &report["checkpoint"];
        assert_eq!(report["state"], "paused", "{report:#}");
        assert_eq!(checkpoint["checkpoint_type"], "quarantined", "{report:#}");
        assert_eq!(checkpoint["options"], json!(["abort"]), "{report:#}");
        let reason = checkpoint["reason"].as_str().unwrap();
        assert!(reason.contains("2 gateway processes") && reason.contains("--force"), "{reason}");
        let events = report["events"].as_array().unwrap();
        assert!(events.iter().any(|event| event["kind"] == "quarantined"), "{report:#}");
        assert_eq!(count(&gateway, name), 2, "it was not resumed");
    }
    assert_eq!(gateway.log().matches("is quarantined").count(), 2, "{}", gateway.log());
    let doctor = operate(&gateway, &["doctor"]).await;
    assert!(doctor.contains("2 quarantined") && doctor.contains("--force"), "{doctor}");
    let listed = operate(&gateway, &["workflows", "ls", "--state", "quarantined"]).await;
    assert_eq!(listed.matches("quarantined: waiting for an operator").count(), 2, "{listed}");
    let one = ids[0].as_str().unwrap();
    let shown = operate(&gateway, &["workflows", "show", one]).await;
    assert!(shown.contains("2 gateway processes") && shown.contains("--force"), "{shown}");

    // Its agent cannot continue it.
    let plain = call(&gateway, "continue", json!({"workflow_id": one})).await;
    assert_eq!(plain["error"]["code"], -32602, "{plain}");
    assert!(plain["error"]["message"].as_str().unwrap().contains("--force"), "{plain}");
    let skip = json!({"workflow_id": one, "task_id": "kills"});
    assert_eq!(call(&gateway, "skip_task", skip).await["error"]["code"], -32602);
    let force = json!({"workflow_id": one, "force": true});
    let forced = call(&gateway, "continue", force).await;
    assert_eq!(forced["error"]["code"], -32003, "{forced}");
    assert_eq!(count(&gateway, "one"), 2);

    // Another crash changes nothing; the operator can.
    let gateway = crash(gateway).await;
    // The command goes on to show what the workflow does.
    let forced = ["workflows", "continue", one, "--force"];
    tokio::select! {
        ended = operate(&gateway, &forced) => panic!("{ended}"),
        () = eventually("it runs again", || async { (count(&gateway, "one") == 3).then_some(()) }) => {}
    }
    // It has two more tries.
    let gateway = crash(gateway).await;
    eventually("it is resumed", || async { (count(&gateway, "one") == 4).then_some(()) }).await;

    let two = ids[1].as_str().unwrap();
    let aborted = operate(&gateway, &["workflows", "abort", two]).await;
    assert!(aborted.contains("aborted"), "{aborted}");
    assert_eq!((count(&gateway, "two"), count(&gateway, "two undone")), (2, 1));
}

#[tokio::test]
async fn abort_finishes_the_undoing_during_which_a_workflow_was_quarantined() {
    let mut gateway = start("").await;
    let mut first = work("first", &[]);
    first["compensate"] = json!({"tool": "t:undo", "arguments": {"task": "undone", "ms": 3_000}});
    let tasks = json!([first, work("second", &["first"])]);
    let paused = call(&gateway, "execute_dag", per_layer(tasks)).await;
    let id = paused["workflow_id"].clone();
    let abort = json!({"workflow_id": id, "reason": "wrong"});
    let url = gateway.url("/mcp/tool/powerstrip:abort");
    let request = reqwest::Client::new().post(url).json(&abort);
    let aborting = tokio::spawn(async move { request.send().await.is_ok() });
    for round in 1..=2 {
        eventually("it is being undone", || async {
            (count(&gateway, "undone") == round).then_some(())
        })
        .await;
        gateway = crash(gateway).await;
    }
    assert!(!aborting.await.unwrap(), "the gateway was killed");
    ready(&gateway).await;
    let report = call(&gateway, "workflow_status", json!({"workflow_id": id})).await;
    assert_eq!(report["checkpoint"]["checkpoint_type"], "quarantined", "{report:#}");
    assert_eq!(count(&gateway, "undone"), 2, "it was not resumed");

    let reworded = json!({"workflow_id": id, "reason": "go on"});
    let aborted = call(&gateway, "abort", reworded).await;
    assert_eq!(aborted["status"], "aborted", "{aborted:#}");
    assert_eq!(aborted["reason"], "wrong", "the first abort ended it");
    assert_eq!(statuses(&aborted["compensations"]), [pair("first", "success")], "{aborted:#}");
    assert_eq!(aborted["not_undone"], Value::Null, "{aborted:#}");
    assert_eq!(ledger(&gateway), ["first", "undone", "undone", "undone"]);
}
