//! The page of a workflow's run.

use reqwest::StatusCode;
use serde_json::json;

use crate::dashboard::support::{Person, gateway};

#[tokio::test]
async fn the_page_of_a_run_draws_its_workflow_and_exports_it() {
    let gateway = gateway().start().await;
    let task = |id: &str, after: &[&str]| {
        json!({"id": id, "tool": "demo.echo", "depends_on": after,
            "arguments": {"message": format!("<b>{id}</b>")}})
    };
    let input = json!({"workflow": {"tasks": [task("first", &[]), task("second", &["first"])]},
        "config": {"per_layer_validation": true}});
    let answer = gateway.call("powerstrip:execute_dag", &input).await.body;
    assert_eq!(answer["data"]["status"], "layer_complete", "{answer:#}");
    let id = answer["data"]["workflow_id"].as_str().unwrap();
    let run = format!("run_{}", id.replace('-', ""));

    let person = Person::signed_in(&gateway).await;
    let listed = person.get("/dashboard/runs").await.text;
    assert!(listed.contains(&run), "{listed}");
    let page = person.get(&format!("/dashboard/runs/{run}")).await.text;
    for part in
        ["2 tasks in 2 layers", "id=\"task-first\"", "node pending", "paused", "1 of 2 tasks done"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("&lt;b&gt;first") && !page.contains("<b>first"), "{page}");
    let export = format!("/dashboard/runs/{run}/graph.svg");
    assert!(page.contains(&export), "{page}");
    let drawn = person.get(&export).await;
    assert_eq!(drawn.status, StatusCode::OK);
    assert!(drawn.text.starts_with("<svg") && drawn.text.contains("second"), "{}", drawn.text);
    let missing =
        person.get("/dashboard/runs/run_00000000000000000000000000000000/graph.svg").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}
