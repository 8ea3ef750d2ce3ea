//! Research that takes longer than a call: the same call finds it again, also after a crash, and people see that it waits for them.

use serde_json::{Value, json};
use testkit::{Gateway, eventually};

use crate::research::support::{report, sql};
use crate::servers::peer::Peer;
use crate::workflows::support::{as_admin, crash};

const TEXTS: [&str; 2] = [
    "Cool roofs reflect sunlight and lower the temperature of cities. White roofs kept 40 houses of a street cool in 2019.",
    "Street trees cool cities by shade and by evaporation. The shade is computed with a method of 1990. Mosquitoes stay out of rain barrels behind a mesh of one millimetre.",
];

pub(crate) async fn with_documents() -> Gateway {
    let gateway = Gateway::start().await;
    let items: Vec<Value> = TEXTS
        .iter()
        .enumerate()
        .map(|(at, text)| json!({"id": format!("c{at}"), "text": text, "source": format!("{at}.md")}))
        .collect();
    let added =
        gateway.call("vector.index.add", &json!({"collection": "cooling", "items": items})).await;
    assert_eq!(added.body["ok"], true, "{:#}", added.body);
    gateway
}

pub(crate) fn input(approve: bool) -> Value {
    json!({
        "topic": "cooling cities",
        "depth": "quick",
        "sources": {"web": false, "collections": ["cooling"]},
        "approve_outline": approve,
    })
}

/// Calls with a short wait.
async fn research(gateway: &Gateway, input: &Value) -> Value {
    let answer =
        gateway.call_with("research.execute", input, &[("powerstrip-timeout-ms", "4000")]).await;
    assert_eq!(answer.body["ok"], true, "{:#}", answer.body);
    answer.body["data"].clone()
}

/// The open question of a workflow's run: where to answer it, and the outline.
async fn question(gateway: &Gateway) -> (String, Value, String) {
    eventually("a question is open", || async {
        let listed = gateway.get("/v1/runs?state=waiting").await.body;
        let run = listed["runs"][0]["id"].as_str()?.to_owned();
        let shown = gateway.get(&format!("/v1/runs/{run}")).await.body;
        let open = shown["questions"].as_array()?.iter().find(|one| one["state"] == "open")?;
        let outline = open["options"][0].as_str()?.to_owned();
        Some((format!("/v1/runs/{run}/answers"), open["slot_id"].clone(), outline))
    })
    .await
}

#[tokio::test]
async fn the_same_call_joins_its_research_and_a_question_that_a_person_adds_is_answered() {
    let gateway = with_documents().await;
    let first = research(&gateway, &input(true)).await;
    assert_eq!(first["status"], "running", "{first:#}");
    assert!(first["warnings"].to_string().contains("waits for a person"), "{first:#}");
    let again = research(&gateway, &input(true)).await;
    assert_eq!(again["workflow_id"], first["workflow_id"], "{again:#}");
    let gateway = crash(gateway).await;
    let (path, slot, outline) = question(&gateway).await;
    let later = research(&gateway, &input(true)).await;
    assert_eq!(later["workflow_id"], first["workflow_id"], "{later:#}");
    let edited = format!(
        "{outline}\n## Barrels in cooling cities\n\n- How are mosquitoes kept out of rain barrels?\n"
    );
    let body = json!({"slot_id": slot, "value": edited});
    let answered = as_admin(&gateway, reqwest::Method::POST, &path, &body).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    let done = eventually("the report is there", || async {
        let data = research(&gateway, &input(true)).await;
        assert_eq!(data["workflow_id"], first["workflow_id"], "{data:#}");
        (data["status"] == "complete").then_some(data)
    })
    .await;
    let report = report(&gateway, &done).await;
    assert!(report.contains("Mosquitoes stay out of rain barrels"), "{report}");
    // A finished research is not joined: documents may have changed.
    let new = research(&gateway, &input(true)).await;
    assert_ne!(new["workflow_id"], first["workflow_id"], "{new:#}");
}

#[tokio::test]
async fn a_form_of_the_newer_revision_is_shown_once() {
    let gateway = with_documents().await;
    let mut modern = Peer::modern(&gateway);
    modern.capabilities = json!({"elicitation": {}});
    let mut params = json!({"name": "research.execute", "arguments": input(true)});
    let asked = modern.ask("tools/call", params.clone()).await.answer;
    let requests = asked["result"]["inputRequests"].as_object().expect("a form").clone();
    let (name, form) = requests.iter().next().unwrap();
    let outline = &form["params"]["requestedSchema"]["properties"]["value"]["default"];
    params["inputResponses"] = json!({name: {"action": "accept", "content": {"value": outline}}});
    if let Some(state) = asked["result"].get("requestState") {
        params["requestState"] = state.clone();
    }
    let answer = modern.ask("tools/call", params).await.answer;
    assert_eq!(answer["result"]["structuredContent"]["status"], "complete", "{answer:#}");
    let listed = gateway.get("/v1/workflows").await.body;
    assert_eq!(listed["workflows"].as_array().map(Vec::len), Some(1), "{listed:#}");
}

#[tokio::test]
async fn a_call_that_was_cut_off_after_it_stored_a_file_finds_the_file() {
    let gateway = Gateway::start().await;
    let store = async |gateway: &Gateway, key: &str| {
        let input = json!({"file_name": "report.md", "content": "# Report\n"});
        let headers = [("idempotency-key", key), ("powerstrip-run", "cut-off")];
        gateway.call_with("powerstrip:store_artifact", &input, &headers).await.body
    };
    let stored = store(&gateway, "one").await;
    assert_eq!(stored["ok"], true, "{stored:#}");
    // As it is if the process dies between the file and the record of the answer.
    let cut_off = "UPDATE call_records SET state = 'begun', answer = NULL";
    let folder = gateway.folder().to_owned();
    let gateway = gateway.restart_after(|_| drop(sql(&folder, cut_off))).await;
    let again = store(&gateway, "one").await;
    assert_eq!(again["data"]["file_id"], stored["data"]["file_id"], "{again:#}");
    let files = gateway.get("/v1/files").await.body;
    assert_eq!(files["data"]["files"].as_array().map(Vec::len), Some(1), "{files:#}");
}

#[tokio::test]
async fn a_topic_that_no_document_names_gets_no_claims() {
    let gateway = with_documents().await;
    let mut input = input(false);
    input["topic"] = json!("quantum computing");
    let done = research(&gateway, &input).await;
    assert_eq!(
        (&done["status"], &done["claims"]["total"]),
        (&json!("complete"), &json!(0)),
        "{done:#}"
    );
}

#[tokio::test]
async fn eight_perspectives_in_depth_are_not_too_many() {
    let gateway = with_documents().await;
    let long = "and its long account of what was measured in each of the forty streets of the town over many years";
    for part in 0..3 {
        let items: Vec<Value> = (0..60)
            .map(|at| {
                let n = part * 60 + at;
                let text = format!(
                    "Cooling cities with method {n} costs {n} euros a year {long}. The history of cooling cities \
                     with method {n} began in {} {long}. Studies of cooling cities measured method {n} with {n} sensors {long}.",
                    1800 + n
                );
                let meta = json!({"title": format!("Method {n} {}", "of cooling ".repeat(30))});
                json!({"id": format!("m{n}"), "text": text, "source": format!("https://s{n}.example/{}", "a".repeat(300)), "meta": meta})
            })
            .collect();
        let added = gateway
            .call("vector.index.add", &json!({"collection": "cooling", "items": items}))
            .await;
        assert_eq!(added.body["ok"], true, "{:#}", added.body);
    }
    let mut input = input(false);
    input["depth"] = json!("deep");
    input["perspectives"] =
        json!(["history", "methods", "equity", "evidence", "cost", "law", "health", "energy"]);
    let done = eventually("the report is there", || async {
        let answer = gateway.call("research.execute", &input).await.body;
        assert_eq!(answer["ok"], true, "{:#}", answer["errors"]);
        (answer["data"]["status"] == "complete").then_some(answer)
    });
    done.await;
}

#[tokio::test]
async fn a_form_that_cannot_be_made_leaves_the_report_in_markdown() {
    let gateway = with_documents().await;
    let mut input = input(false);
    input["formats"] = json!(["pdf"]);
    let done = research(&gateway, &input).await;
    assert!(done["warnings"].to_string().contains("A format is missing"), "{done:#}");
    assert!(report(&gateway, &done).await.contains("Cool roofs reflect"), "{done:#}");
}
