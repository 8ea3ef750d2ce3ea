//! Questions of servers to callers, through the gateway, in both eras.

use serde_json::{Value, json};
use testkit::Gateway;

use crate::servers::peer::{LegacyPeer, Peer};
use crate::servers::support::{over_stdio, wait_until_listed};

const ELICIT: &str = "near__test_input_required_result_elicitation";

async fn gateway() -> Gateway {
    let gateway =
        Gateway::with().config(&format!("servers:\n{}", over_stdio("near"))).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    gateway
}

fn accepts(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

#[tokio::test]
async fn a_modern_caller_is_asked_in_the_answer_and_replies_in_the_next_request() {
    let gateway = gateway().await;
    let mut peer = Peer::modern(&gateway);
    peer.capabilities = json!({"elicitation": {}});
    let tool = "near__test_input_required_result_request_state";
    let asked = peer.call(tool, json!({}), json!({})).await.answer;
    assert_eq!(asked["result"]["resultType"], json!("input_required"), "{asked}");
    let key = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap();
    let state = asked["result"]["requestState"].as_str().expect("a state").to_owned();
    let responses = json!({key: accepts(json!({"ok": true}))});
    let retry = |tool: &str, arguments: Value, state: &str| json!({"name": tool, "arguments": arguments, "inputResponses": responses, "requestState": state});
    let done = peer.ask("tools/call", retry(tool, json!({}), &state)).await.answer;
    let text = done["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("state-ok"), "{done}");

    // A state that was altered, invented or issued for another tool is refused.
    let mut altered = state.clone();
    altered.replace_range(3..4, if &altered[3..4] == "A" { "B" } else { "A" });
    for wrong in [altered.as_str(), "made.up", "", &state[..state.len() - 1]] {
        let refused = peer.ask("tools/call", retry(tool, json!({}), wrong)).await.answer;
        assert_eq!(refused["error"]["code"], json!(-32602), "{wrong}: {refused}");
    }
    let refused = peer.ask("tools/call", retry(ELICIT, json!({}), &state)).await.answer;
    assert_eq!(refused["error"]["code"], json!(-32602), "{refused}");
}

#[tokio::test]
async fn servers_see_only_the_callers_declared_capabilities() {
    let gateway = gateway().await;
    let mut peer = Peer::modern(&gateway);
    let unable = peer.call(ELICIT, json!({}), json!({})).await.answer;
    assert_eq!(unable["error"]["code"], json!(-32021), "{unable}");
    peer.capabilities = json!({"sampling": {}});
    let unable = peer.call(ELICIT, json!({}), json!({})).await.answer;
    assert_eq!(unable["error"]["code"], json!(-32021), "{unable}");
    // Doors that cannot ask declare no capabilities.
    let by_rest = gateway.call("near:test_input_required_result_elicitation", &json!({})).await;
    assert_eq!(by_rest.body["errors"][0]["code"], json!("UNSUPPORTED"), "{}", by_rest.body);
}

#[tokio::test]
async fn a_prompt_may_ask_a_question_first() {
    let gateway = gateway().await;
    let mut peer = Peer::modern(&gateway);
    peer.capabilities = json!({"elicitation": {}});
    let name = "near__test_input_required_result_prompt";
    let asked = peer.ask("prompts/get", json!({"name": name})).await.answer;
    assert!(asked["result"]["inputRequests"]["user_context"].is_object(), "{asked}");
    let responses = json!({"user_context": accepts(json!({"context": "a lab"}))});
    let params = json!({"name": name, "inputResponses": responses});
    let done = peer.ask("prompts/get", params).await.answer;
    let text = done["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_default();
    assert!(text.contains("a lab"), "{done}");
}

#[tokio::test]
async fn a_legacy_caller_answers_questions_of_a_modern_server() {
    legacy_caller_answers("modern").await;
}

#[tokio::test]
async fn a_legacy_caller_answers_questions_of_a_server_of_both_eras() {
    legacy_caller_answers("auto").await;
}

async fn legacy_caller_answers(era: &str) {
    let program = crate::servers::support::fixture();
    let entry = format!("  near: {{ command: '{}', era: {era} }}", program.display());
    let gateway = Gateway::with().config(&format!("servers:\n{entry}\n")).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    let peer = LegacyPeer::open(&gateway, json!({"elicitation": {}, "sampling": {}})).await;
    let (asked, answer) = peer
        .call("near__test_elicitation", json!({"message": "Who are you?"}), |request| {
            assert_eq!(request["method"], json!("elicitation/create"));
            assert_eq!(request["params"]["message"], json!("Who are you?"));
            accepts(json!({"username": "ada", "email": "ada@example.com"}))
        })
        .await;
    assert_eq!(asked, 1);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("action=accept") && text.contains("ada"), "{answer}");
    let (asked, answer) = peer
        .call("near__test_sampling", json!({"prompt": "Say hello"}), |request| {
            assert_eq!(request["method"], json!("sampling/createMessage"));
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "hello"}})
        })
        .await;
    assert_eq!(asked, 1);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert_eq!(text, "LLM response: hello", "{answer}");

    let mute = LegacyPeer::open(&gateway, json!({})).await;
    let (asked, answer) =
        mute.call("near__test_elicitation", json!({"message": "?"}), |_| json!({})).await;
    assert_eq!((asked, &answer["error"]["code"]), (0, &json!(-32021)), "{answer}");
}
