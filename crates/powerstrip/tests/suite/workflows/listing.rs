//! Lists of workflows, over REST and on the command line.

use serde_json::{Value, json};

use crate::workflows::support::{call, per_layer, start, work};

#[tokio::test]
async fn workflows_of_each_state_are_listed_by_their_last_change() {
    let gateway = start("").await;
    let mut ids = Vec::new();
    for number in 0..9 {
        let tasks = json!([work("a", &[])]);
        let dag = if number < 3 { json!({"workflow": {"tasks": tasks}}) } else { per_layer(tasks) };
        let answer = call(&gateway, "execute_dag", dag).await;
        ids.push(answer["workflow_id"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned());
    }
    let (ended, paused) = ids.split_at(3);
    let list = async |query: &str| {
        let listed = gateway.get(&format!("/v1/workflows{query}")).await.body;
        listed["workflows"].as_array().unwrap_or_else(|| panic!("{listed:#}")).clone()
    };
    let ids_of = |listed: Vec<Value>| -> Vec<String> {
        listed.iter().map(|one| one["workflow_id"].as_str().unwrap().to_owned()).collect()
    };
    let newest_first = |ids: &[String]| -> Vec<String> { ids.iter().rev().cloned().collect() };
    assert_eq!(ids_of(list("?state=ended&limit=2").await), newest_first(ended)[..2]);
    assert_eq!(ids_of(list("?state=ended&limit=2&offset=2").await), newest_first(ended)[2..]);
    assert_eq!(ids_of(list("?state=paused").await), newest_first(paused));
    let mut pages = Vec::new();
    for offset in [0, 4, 8] {
        pages.extend(list(&format!("?limit=4&offset={offset}")).await);
    }
    let changed: Vec<_> =
        pages.iter().map(|one| one["updated_unix_ms"].as_u64().unwrap()).collect();
    assert!(changed.is_sorted_by(|one, next| one >= next), "{pages:#?}");
    assert_eq!(ids_of(pages), newest_first(&ids));

    // The oldest paused one is now the last that was changed.
    let end = json!({"workflow_id": paused[0], "reason": "enough"});
    assert_eq!(call(&gateway, "abort", end).await["status"], "aborted");
    assert_eq!(ids_of(list("?limit=1").await), [paused[0].clone()]);
    let printed = gateway.run(&["workflows", "ls", "--state", "ended", "--json"]).await.json_of(0);
    let printed: Vec<Value> = printed.as_array().unwrap().clone();
    assert_eq!(printed.len(), 4, "{printed:#?}");
}
