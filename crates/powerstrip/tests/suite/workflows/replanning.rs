//! Plans that must not change a workflow: after its end, and while the database cannot be read.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::Gateway;

use crate::research::support::sql;
use crate::workflows::support::{
    as_admin, call, ledger, pair, per_layer, run_path, start, statuses, work,
};

const FIRST: &str = "Run t:work with the task 'first'. Then undo the run.";

/// The tasks of a workflow, as `workflow_status` lists them.
async fn tasks(gateway: &Gateway, id: &Value) -> Value {
    call(gateway, "workflow_status", json!({"workflow_id": id})).await["tasks"].clone()
}

async fn replan(gateway: &Gateway, id: &Value) -> Value {
    let more = json!({"workflow_id": id, "new_requirement": "Run t:work with the task 'late'"});
    call(gateway, "replan", more).await
}

#[tokio::test]
async fn nothing_is_planned_after_complete_workflow() {
    let gateway = start("").await;
    let end = json!({"id": "end", "tool": "powerstrip:complete_workflow", "depends_on": ["a", "b"],
        "arguments": {"summary": "Did a and b."}});
    let dag = per_layer(json!([work("a", &[]), work("b", &[]), end]));
    let id = call(&gateway, "execute_dag", dag).await["workflow_id"].clone();
    let ended = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(statuses(&ended["layer_results"]), [pair("end", "success")], "{ended:#}");
    let before = tasks(&gateway, &id).await;

    let refused = replan(&gateway, &id).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused:#}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("complete_workflow has ended the run"), "{refused:#}");
    assert_eq!(refused["error"]["data"]["retryable"], false, "{refused:#}");
    assert_eq!(tasks(&gateway, &id).await, before, "the DAG is unchanged");

    let done = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(done["status"], "complete", "{done:#}");
    let late = replan(&gateway, &id).await;
    assert_eq!(late["error"]["code"], -32004, "the workflow has ended: {late:#}");
    let mut begun = ledger(&gateway);
    begun.sort();
    assert_eq!(begun, ["a", "b"], "nothing runs after the end");
    let run = gateway.get(&run_path(&id)).await.body;
    assert_eq!((&run["state"], &run["summary"]), (&json!("completed"), &json!("Did a and b.")));
}

#[tokio::test]
async fn a_database_error_while_planning_changes_nothing_and_can_be_retried() {
    let gateway = start("").await;
    let paused =
        call(&gateway, "execute_dag", per_layer(json!([work("a", &[]), work("b", &["a"])])));
    let id = paused.await["workflow_id"].clone();
    let before = tasks(&gateway, &id).await;
    let listed = async || gateway.get("/v1/workflows").await.body["workflows"].clone();
    let started = listed().await;

    sql(gateway.folder(), "ALTER TABLE plan_edges RENAME TO edges_away");
    let intent = json!({"intent": FIRST});
    let failed = [call(&gateway, "execute_dag", intent.clone()).await, replan(&gateway, &id).await];
    for failed in failed {
        assert_eq!(failed["error"]["code"], -32603, "{failed:#}");
        assert_eq!(failed["error"]["data"]["retryable"], true, "{failed:#}");
        let message = failed["error"]["message"].as_str().unwrap();
        assert!(message.contains("try again") && !message.contains("plan_edges"), "{failed:#}");
    }
    let shown = as_admin(&gateway, Method::POST, "/v1/workflows/plan", &intent).await;
    assert_eq!(shown.status, 503, "{shown:?}");
    assert_eq!(tasks(&gateway, &id).await, before, "the DAG is unchanged");
    assert_eq!(listed().await, started, "no workflow was stored");
    assert_eq!(ledger(&gateway), ["a"]);

    sql(gateway.folder(), "ALTER TABLE edges_away RENAME TO plan_edges");
    let replanned = replan(&gateway, &id).await;
    assert_eq!(replanned["status"], "replanned", "{replanned:#}");
    let done = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(done["status"], "layer_complete", "{done:#}");
    let shown = as_admin(&gateway, Method::POST, "/v1/workflows/plan", &intent).await;
    assert_eq!(shown.body["tasks"][0]["tool"], "t:work", "{shown:?}");
}
