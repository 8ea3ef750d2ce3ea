//! Approvals over HTTP: deciding, and comparing them across a crash.

use std::collections::BTreeMap;

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::record::Record;
use crate::steer::World;

/// Sends a decision. Whether it arrived is not known if the gateway is killed, so it counts as sent.
pub(crate) async fn decide(world: &World, id: &str, approve: bool) -> Result<(), String> {
    let decision = json!({
        "decision": if approve { "approve" } else { "reject" },
        "reason": "the crash test says so",
    });
    let request = world.client.post(world.url(&format!("/v1/approvals/{id}")));
    let answer = request.bearer_auth(world.admin_token()).json(&decision).send().await;
    match answer {
        // Decided before, by a request whose answer was lost.
        Ok(answer) if [StatusCode::OK, StatusCode::CONFLICT].contains(&answer.status()) => Ok(()),
        // The database may be away for a moment: the client asks again.
        Ok(answer) if answer.status().is_server_error() => Ok(()),
        Ok(answer) => {
            let status = answer.status();
            Err(format!("approval {id}: {status} {}", answer.text().await.unwrap_or_default()))
        }
        Err(_) => Ok(()),
    }
}

/// The deadlines of all approvals that wait, by id.
pub(crate) async fn deadlines(world: &World) -> Result<BTreeMap<String, u64>, String> {
    let request = world.client.get(world.url("/v1/approvals?limit=200"));
    let answer = request.bearer_auth(world.admin_token()).send().await;
    let answer = answer.map_err(|error| format!("approvals cannot be listed: {error}"))?;
    let list: Value = answer.json().await.map_err(|error| error.to_string())?;
    let list = list["approvals"].as_array().ok_or(format!("no list of approvals: {list}"))?;
    let row = |row: &Value| Some((row["id"].as_str()?.to_owned(), row["deadlineUnixMs"].as_u64()?));
    list.iter().map(|it| row(it).ok_or(format!("not an approval: {it}"))).collect()
}

/// Checks that approvals that were requested and not decided still wait, with the same deadline.
pub(crate) fn compare(
    record: &mut Record,
    deadlines: &BTreeMap<String, u64>,
) -> Result<(), String> {
    for (id, requested) in record.pending() {
        let Some(deadline) = deadlines.get(id) else {
            return Err(format!("approval {id} was requested, and is lost"));
        };
        let before = *requested.listed_deadline.get_or_insert(*deadline);
        if *deadline != before {
            return Err(format!("the deadline of {id} was {before} and is {deadline}"));
        }
    }
    Ok(())
}
