//! Questions of runs, answered on the run's page.

use reqwest::StatusCode;
use serde_json::{Value, json};
use testkit::Gateway;

use crate::dashboard::support::{Person, gateway};

const ASK: &str = "powerstrip:request_user_input";

/// Asks within a run with a short timeout: the answer is `waiting` after nine tenths of it, which leaves a busy machine
/// the rest.
async fn ask(gateway: &Gateway, slot: &str, kind: &str) -> Value {
    let headers = [("powerstrip-run", "letter"), ("powerstrip-timeout-ms", "3000")];
    let options = if kind == "number" { json!([]) } else { json!(["plain", "warm"]) };
    let input =
        json!({"slot_type": kind, "slot_id": slot, "prompt_key": "Which?", "options": options});
    gateway.call_with(ASK, &input, &headers).await.body
}

#[tokio::test]
async fn a_run_continues_after_a_restart_with_the_answer_of_its_page() {
    let gateway = gateway().start().await;
    for message in ["a", "b"] {
        let input = json!({"message": message});
        gateway.call_with("demo.echo", &input, &[("powerstrip-run", "letter")]).await;
    }
    for (slot, kind) in [("tone", "choice"), ("both", "multi"), ("length", "number")] {
        let said = ask(&gateway, slot, kind).await;
        assert_eq!(said["data"]["status"], json!("waiting"), "{said}");
    }

    let gateway = gateway.restart().await;
    let person = Person::signed_in(&gateway).await;
    let listed = person.get("/dashboard/runs").await.text;
    let place = listed.split("href=\"").find(|part| part.starts_with("/dashboard/runs/run_"));
    let place = place.unwrap().split('"').next().unwrap().to_owned();
    assert!(person.get(&place).await.text.contains("name=\"slot\" value=\"tone\""));
    let csrf = person.csrf();
    let answer = |slot: &'static str, answers: &'static [&'static str], csrf: String| {
        let (person, place) = (&person, &place);
        async move {
            let mut fields = vec![("csrf", csrf.as_str()), ("slot", slot)];
            fields.extend(answers.iter().map(|answer| ("answer", *answer)));
            person.post(place, &fields).await.status
        }
    };
    let foreign = answer("tone", &["1"], "made up".to_owned()).await;
    assert_eq!(foreign, StatusCode::FORBIDDEN);
    for (slot, bad) in [("tone", &["7"][..]), ("length", &["long"]), ("nothing", &["1"])] {
        let status = answer(slot, bad, csrf.clone()).await;
        assert!(status.is_client_error(), "{slot}: {status}");
    }
    for (slot, good) in [("tone", &["1"][..]), ("both", &["0", "1"]), ("length", &["2.5"])] {
        assert_eq!(answer(slot, good, csrf.clone()).await, StatusCode::SEE_OTHER, "{slot}");
    }
    assert!(answer("tone", &["0"], csrf).await.is_client_error(), "the first answer counts");
    for (slot, kind, value) in [
        ("tone", "choice", json!("warm")),
        ("both", "multi", json!(["plain", "warm"])),
        ("length", "number", json!(2.5)),
    ] {
        let answer = ask(&gateway, slot, kind).await;
        assert_eq!(answer["data"]["value"], value, "{answer}");
    }
}
