//! An outline is edited on the page of its run.

use reqwest::StatusCode;
use serde_json::{Value, json};
use testkit::Gateway;

use crate::dashboard::support::{Person, gateway};

const REVIEW: &str = "hitl.outline_review";

async fn review(gateway: &Gateway) -> Value {
    let outline = json!({"title": "Heat & <people>", "sections": [
        {"id": "s1", "heading": "History", "questions": [{"id": "q1", "text": "Who first measured it?"}]},
    ]});
    let headers = [("powerstrip-run", "heat"), ("powerstrip-timeout-ms", "2000")];
    gateway.call_with(REVIEW, &json!({"outline": outline}), &headers).await.body["data"].clone()
}

#[tokio::test]
async fn a_broken_edit_is_shown_again_with_its_line_and_a_good_one_is_taken() {
    let gateway = gateway().start().await;
    let asked = review(&gateway).await;
    let slot = asked["slot_id"].as_str().unwrap_or_else(|| panic!("{asked}"));
    let run = gateway.get("/v1/runs/heat").await.body["id"].as_str().unwrap().to_owned();
    let place = format!("/dashboard/runs/{run}");
    let person = Person::signed_in(&gateway).await;
    let page = person.get(&place).await.text;
    let prefilled =
        "# Heat &amp; &lt;people&gt;\n\n## History\n\n- Who first measured it?\n</textarea>";
    assert!(page.contains(prefilled), "{page}");
    assert!(page.contains(&format!("<label for=\"answer-{slot}\">")), "{page}");

    let csrf = person.csrf();
    let post = async |text: &str| {
        let fields = [("csrf", csrf.as_str()), ("slot", slot), ("answer", text)];
        person.post(&place, &fields).await
    };
    let refused = post("# Heat\r\n## History\r\nmy <own> words\r\n").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text.contains("line 3: "), "{}", refused.text);
    assert!(refused.text.contains("my &lt;own&gt; words\n</textarea>"), "{}", refused.text);
    assert!(refused.text.contains("aria-invalid=\"true\""), "{}", refused.text);
    assert_eq!(review(&gateway).await["status"], json!("waiting"), "it is still open");

    let good = post("# Heat\r\n\r\n## History\r\n\r\n- Who first measured it?\r\n").await;
    assert_eq!(good.status, StatusCode::SEE_OTHER, "{}", good.text);
    let done = review(&gateway).await;
    assert_eq!(done["status"], json!("edited"), "{done}");
    assert_eq!(done["changes"], json!([{"op": "renamed", "id": "title"}]));
    let page = person.get(&place).await.text;
    assert!(page.contains("# Heat\n\n## History"), "the answer is shown as it is: {page}");
}
