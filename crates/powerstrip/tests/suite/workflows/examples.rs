//! The workflows in `examples/workflows`, run by the command as their readers would.

use std::path::Path;

use serde_json::{Value, json};
use testkit::{Gateway, GatewayBuilder, eventually, sibling_program};

use crate::workflows::support::call;

fn examples() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"))
}

/// Copies the files of a folder and below.
fn copy(mut builder: GatewayBuilder, from: &Path, to: &str) -> GatewayBuilder {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{to}/{}", path.file_name().unwrap().to_str().unwrap());
        builder = match std::fs::read_to_string(&path) {
            Ok(text) => builder.file(&name, &text),
            Err(_) if path.ends_with("__pycache__") => builder,
            Err(_) => copy(builder, &path, &name),
        };
    }
    builder
}

/// A gateway with the tools of the examples, and their workflows in its folder.
async fn start() -> Gateway {
    let builder = copy(Gateway::with(), &examples().join("workflows"), "workflows");
    copy(builder, &examples().join("workflows/tools"), "tools").start().await
}

/// The only workflow of a gateway.
async fn only(gateway: &Gateway) -> Value {
    let listed = gateway.run(&["workflows", "ls", "--json"]).await.json_of(0);
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    listed[0].clone()
}

async fn details(gateway: &Gateway, id: &str) -> Value {
    gateway.get(&format!("/v1/workflows/{id}")).await.body
}

fn task<'a>(details: &'a Value, id: &str) -> &'a Value {
    let tasks = details["tasks"].as_array().unwrap();
    tasks.iter().find(|task| task["task_id"] == id).unwrap_or_else(|| panic!("{id}: {details:#}"))
}

#[tokio::test]
async fn notes_fan_out_and_wait_for_an_approval() {
    let gateway = start().await;
    let ran = gateway.run(&["workflows", "run", "workflows/notes.yaml"]).await;
    let printed = ran.ok();
    assert!(printed.contains("approval_required") && printed.contains("publish"), "{printed}");
    let workflow = only(&gateway).await;
    assert_eq!(
        (&workflow["state"], &workflow["outcome"]),
        (&json!("paused"), &json!("approval_required"))
    );
    let id = workflow["workflow_id"].as_str().unwrap();
    let waiting = details(&gateway, id).await;
    assert_eq!(task(&waiting, "measure")["output"].as_array().unwrap().len(), 3, "{waiting:#}");
    let decision = &waiting["checkpoint"]["decisions"][0];
    assert_eq!(decision["arguments"]["title"], "3 notes", "{waiting:#}");
    let approval = &decision["approval_id"].as_str().unwrap()[..8];
    assert!(printed.contains(&format!("powerstrip approvals approve {approval}")), "{printed}");
    gateway.run(&["approvals", "approve", approval]).await.ok();
    eventually("the workflow is complete", || async {
        let now = details(&gateway, id).await;
        (now["workflow"]["outcome"] == "complete").then_some(())
    })
    .await;
    let done = details(&gateway, id).await;
    assert_eq!(task(&done, "publish")["output"], json!({"published": "3 notes", "lines": 3}));
    let watched = gateway.run(&["workflows", "watch", &id[..8]]).await;
    let events = watched.ok();
    assert!(events.contains("task_done") && events.contains("complete"), "{events}");
}

#[tokio::test]
async fn orders_are_explained_by_a_task_that_the_agent_adds() {
    let gateway = start().await;
    gateway.run(&["workflows", "run", "workflows/orders.yaml"]).await.ok();
    let workflow = only(&gateway).await;
    assert_eq!(workflow["state"], "paused", "{workflow}");
    let id = workflow["workflow_id"].as_str().unwrap();
    let added = json!({"id": "again", "tool": "example.orders.explain",
        "arguments": {"order": "{{ tasks.read.output.faulty[0] }}"}});
    let answer = call(&gateway, "inject_tasks", json!({"workflow_id": id, "tasks": [added]})).await;
    assert_eq!(answer["status"], "replanned", "{answer:#}");
    for _ in 0..3 {
        gateway.run(&["workflows", "continue", id]).await.ok();
        if only(&gateway).await["state"] == "ended" {
            break;
        }
    }
    let done = details(&gateway, id).await;
    assert_eq!(done["workflow"]["outcome"], "complete", "{done:#}");
    assert_eq!(task(&done, "total")["output"], json!({"count": 2, "total": 42}));
    assert_eq!(task(&done, "again")["output"], json!({"id": "a2", "reason": "not a number"}));
    let explained = json!([{"why": {"id": "a2", "reason": "not a number"}}]);
    assert_eq!(task(&done, "explain")["output"], explained);
}

#[tokio::test]
async fn a_failed_trip_cancels_what_was_reserved() {
    let gateway = start().await;
    let ran = gateway.run(&["workflows", "run", "workflows/trip.yaml"]).await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let workflow = only(&gateway).await;
    assert_eq!((&workflow["state"], &workflow["outcome"]), (&json!("ended"), &json!("failed")));
    let done = details(&gateway, workflow["workflow_id"].as_str().unwrap()).await;
    let undone = done["checkpoint"]["compensations"].as_array().unwrap();
    let cancelled: Vec<_> = undone.iter().map(|undo| &undo["output"]["cancelled"]).collect();
    assert_eq!(cancelled, ["ann/flight", "ann/hotel"], "{done:#}");
}

#[tokio::test]
async fn a_resume_becomes_a_pdf_for_a_job() {
    let program = sibling_program("resume-profile-mcp");
    let server = format!(
        "servers:\n  resume-profile-mcp: {{ command: '{}', args: [--keep, 'off'] }}\n",
        program.display()
    );
    let builder = Gateway::with().config(&server);
    let gateway = copy(builder, &examples().join("workflows"), "workflows").start().await;
    eventually("the server's tools are listed", || async {
        gateway.run(&["tools"]).await.ok().contains("tailor_resume").then_some(())
    })
    .await;
    gateway.run(&["workflows", "run", "workflows/resume.yaml"]).await.ok();
    let workflow = only(&gateway).await;
    let done = details(&gateway, workflow["workflow_id"].as_str().unwrap()).await;
    assert_eq!(done["workflow"]["outcome"], "complete", "{done:#}");
    assert_eq!(task(&done, "fit")["output"]["missing_must"], json!([]), "{done:#}");
    let stored = &task(&done, "store")["output"];
    assert_eq!(stored["media_type"], "application/pdf", "{stored}");
}

#[tokio::test]
async fn the_command_lists_all_faults_of_a_file() {
    let gateway = start().await;
    gateway.write("bad.yaml", "tasks:\n  - { id: a, tool: example.notes.lst }\n  - { id: a, tool: example.notes.list, depends_on: [z] }\n");
    let ran = gateway.run(&["workflows", "run", "bad.yaml"]).await;
    let message = ran.failed(1);
    for part in
        ["unknown_tool", "example.notes.list", "duplicate_id", "unknown_dependency", "/tasks/1/id"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    gateway.write("none.yaml", "steps: []\n");
    assert!(gateway.run(&["workflows", "run", "none.yaml"]).await.failed(1).contains("`tasks`"));
    assert!(gateway.run(&["workflows", "show", "0000"]).await.failed(1).contains("no workflow"));
}
