//! Questions over HTTP: answering, and comparing them across a crash.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::steer::World;

fn run(workflow: &str) -> String {
    format!("/v1/runs/run_{}", workflow.replace('-', ""))
}

/// Sends an answer. Whether it arrived is not known if the gateway is killed, so it counts as sent.
pub(crate) async fn answer(
    world: &World,
    workflow: &str,
    question: &Value,
    reply: &str,
) -> Result<(), String> {
    let url = world.url(&format!("{}/answers", run(workflow)));
    let body = json!({"slot_id": question["slot_id"], "value": reply});
    let request = world.client.post(url).bearer_auth(world.admin_token()).json(&body);
    let Ok(answer) = request.send().await else { return Ok(()) };
    let status = answer.status();
    // The database may be away for a moment: the client asks again.
    if status == StatusCode::OK || status.is_server_error() {
        return Ok(());
    }
    let Ok(text) = answer.text().await else { return Ok(()) };
    // Answered before, by a request whose reply was lost.
    let Some(known) = states(world, workflow).await? else { return Ok(()) };
    let id = question["question_id"].as_str().unwrap_or_default();
    match known.iter().find(|known| known["question_id"] == id) {
        Some(known) if known["state"] == "answered" && known["value"] == reply => Ok(()),
        known => Err(format!("question {question}: {status} {text}, and is {known:?}")),
    }
}

/// The questions of a workflow's run; none if the gateway was killed.
async fn states(world: &World, workflow: &str) -> Result<Option<Vec<Value>>, String> {
    let request = world.client.get(world.url(&run(workflow))).bearer_auth(world.admin_token());
    let Ok(answer) = request.send().await else { return Ok(None) };
    let Ok(details) = answer.json::<Value>().await else { return Ok(None) };
    match details["questions"].as_array() {
        Some(questions) => Ok(Some(questions.clone())),
        None => Err(format!("{workflow}: no questions in {details}")),
    }
}

/// Checks that questions that were asked and not answered are still open.
pub(crate) async fn compare(world: &World, workflow: &str, open: &[String]) -> Result<(), String> {
    let Some(known) = states(world, workflow).await? else { return Ok(()) };
    for id in open {
        let state = known.iter().find(|known| known["question_id"] == id.as_str());
        if state.is_none_or(|known| known["state"] != "open") {
            return Err(format!("question {id} of {workflow} was asked, and is {state:?}"));
        }
    }
    Ok(())
}
