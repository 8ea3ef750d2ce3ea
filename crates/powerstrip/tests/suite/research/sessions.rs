use serde_json::{Value, json};
use testkit::{Gateway, GuardedGateway};

use crate::research::support::Web;

fn step(number: u32, more: Value) -> Value {
    let mut step = json!({
        "searchStep": format!("Step {number}"), "stepNumber": number, "nextStepNeeded": true,
    });
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    step
}

#[tokio::test]
async fn a_session_belongs_to_the_caller_who_opened_it() {
    let web = Web::start().await;
    let guarded = GuardedGateway::start(Gateway::with(), &web.config("")).await;
    let call = async |org: &str, subject: &str, input: Value| {
        let token = guarded.token(json!({"org": org, "sub": subject}));
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        guarded.gateway.call_with("sequential_search", &input, &headers).await.body
    };
    let opened = call("acme", "ann", step(1, json!({}))).await;
    let id = opened["data"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    assert_eq!(opened["data"]["question"], "Step 1");

    for (org, subject) in [("globex", "ann"), ("acme", "bob")] {
        let named = call(org, subject, step(2, json!({"sessionId": id}))).await;
        assert_eq!(named["errors"][0]["code"], "NOT_FOUND", "{org}/{subject}: {named}");
        let unnamed = call(org, subject, step(2, json!({}))).await;
        assert_eq!(unnamed["errors"][0]["code"], "NOT_FOUND", "{org}/{subject}: {unnamed}");
    }
    let continued = call("acme", "ann", step(2, json!({"knowledgeGap": "spring tides"}))).await;
    assert_eq!(continued["data"]["sessionId"], id.as_str(), "{continued}");
    assert_eq!(continued["data"]["steps"].as_array().map(Vec::len), Some(2));
    assert_eq!(continued["data"]["gaps"][0]["description"], "spring tides");
}
