//! Plans ask the caller's client: its person for what is missing, and its model for a plan.

use serde_json::{Value, json};
use testkit::Gateway;

use crate::servers::peer::{LegacyPeer, Peer};
use crate::workflows::support::{ledger, start};

const TOOL: &str = "powerstrip__execute_dag";
const INTENT: &str = "Do nothing for a while with t:work";
const MISSING: &str = "powerstrip.plan.missing";
const MODEL: &str = "powerstrip.plan.model";

fn accepts(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

fn modern(gateway: &Gateway, capabilities: Value) -> Peer {
    let mut peer = Peer::modern(gateway);
    peer.capabilities = capabilities;
    peer
}

async fn execute(peer: &mut Peer, responses: Value) -> Value {
    let params =
        json!({"name": TOOL, "arguments": {"intent": INTENT}, "inputResponses": responses});
    peer.ask("tools/call", params).await.answer["result"].take()
}

fn says(text: &Value) -> Value {
    let text = format!("Here it is:\n```json\n{text}\n```");
    json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": text}})
}

fn plan(task: &str) -> Value {
    json!({"confidence": 0.9, "tasks": [{"id": "x", "tool": "t:work", "arguments": {"task": task}}]})
}

#[tokio::test]
async fn a_form_asks_for_what_a_plan_lacks() {
    let gateway = start("").await;
    let mut peer = modern(&gateway, json!({"elicitation": {}}));
    let asked = execute(&mut peer, json!({})).await;
    let form = &asked["inputRequests"][MISSING]["params"];
    assert_eq!(form["requestedSchema"]["required"], json!(["task"]), "{asked:#}");
    assert!(form["message"].as_str().unwrap().contains("t:work"), "{asked:#}");
    assert_eq!(gateway.run(&["workflows", "ls", "--json"]).await.json_of(0), json!([]));

    let declined = execute(&mut peer, json!({MISSING: {"action": "decline"}})).await;
    assert_eq!(declined["structuredContent"]["status"], "planned", "{declined:#}");
    assert_eq!(ledger(&gateway), [""; 0], "nothing ran");
    let given = json!({MISSING: accepts(json!({"task": "{{ 7 * 7 }}"}))});
    let done = execute(&mut peer, given).await;
    assert_eq!(done["structuredContent"]["status"], "complete", "{done:#}");
    assert_eq!(ledger(&gateway), ["{{ 7 * 7 }}"], "what a person writes is no template");
}

#[tokio::test]
async fn a_legacy_client_is_asked_while_its_call_waits() {
    let gateway = start("").await;
    let peer = LegacyPeer::open(&gateway, json!({"elicitation": {}})).await;
    let (asked, answer) = peer
        .call(TOOL, json!({"intent": INTENT}), |request| {
            assert_eq!(request["method"], "elicitation/create");
            accepts(json!({"task": "given"}))
        })
        .await;
    assert_eq!(asked, 1);
    assert_eq!(answer["result"]["structuredContent"]["status"], "complete", "{answer:#}");
    assert_eq!(ledger(&gateway), ["given"]);
}

#[tokio::test]
async fn the_model_of_the_callers_client_plans() {
    let gateway = start("workflows: { planner: client }\n").await;
    let mut peer = modern(&gateway, json!({"sampling": {}}));
    let asked = execute(&mut peer, json!({})).await;
    let question = &asked["inputRequests"][MODEL];
    assert_eq!(question["method"], "sampling/createMessage", "{asked:#}");
    let done = execute(&mut peer, json!({MODEL: says(&plan("by-client"))})).await;
    assert_eq!(done["structuredContent"]["status"], "complete", "{done:#}");
    assert_eq!(ledger(&gateway), ["by-client"]);

    let peer = LegacyPeer::open(&gateway, json!({"sampling": {}})).await;
    let input = json!({"intent": INTENT});
    let (_, answer) = peer.call(TOOL, input, |_| says(&plan("legacy"))).await;
    assert_eq!(answer["result"]["structuredContent"]["status"], "complete", "{answer:#}");
    assert_eq!(ledger(&gateway), ["by-client", "legacy"]);
}

#[tokio::test]
async fn a_client_without_a_usable_plan_gets_the_plain_one() {
    let gateway = start("workflows: { planner: client }\n").await;
    let unknown = json!({"tasks": [{"id": "x", "tool": "t:nothing", "arguments": {}}]});
    for text in [unknown, json!("no plan"), json!({"tasks": {"a": 1}})] {
        let mut peer = modern(&gateway, json!({"sampling": {}}));
        let plain = execute(&mut peer, json!({MODEL: says(&text)})).await;
        let plain = &plain["structuredContent"];
        assert_eq!(plain["status"], "planned", "{plain:#}");
        assert!(plain["reasons"].to_string().contains("The model's plan is not used"), "{plain:#}");
    }
    let mut peer = modern(&gateway, json!({}));
    let plain = execute(&mut peer, json!({})).await;
    let reasons = plain["structuredContent"]["reasons"].to_string();
    assert!(reasons.contains("offers no model"), "{plain:#}");
    assert_eq!(ledger(&gateway), [""; 0]);
}
