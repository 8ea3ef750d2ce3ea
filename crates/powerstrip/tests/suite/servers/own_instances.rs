//! A caller's own process of a server: its lists, subscriptions and notices reach that caller, and no other.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::Gateway;

use crate::servers::peer::{LegacyPeer, Peer, Received, Stream};
use crate::servers::support::{fixture, listed, wait_until_listed};

const PASSING: &str = "near__test_passing_tool";
const WATCHED: &str = "test://watched-resource";

/// A gateway with one server of which callers have their own processes.
async fn gateway(instances: &str, era: &str) -> Gateway {
    let command = fixture();
    let config = format!(
        "servers:\n  near: {{ command: '{}', instances: {instances}, era: {era} }}\n",
        command.display()
    );
    let gateway = Gateway::with().config(&config).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    gateway
}

async fn notified(stream: &mut Stream, method: &str) -> Value {
    let next = tokio::time::timeout(Duration::from_secs(20), stream.next(method));
    next.await.unwrap_or_else(|_| panic!("{method} did not arrive"))
}

fn names(listed: &Value, list: &str, key: &str) -> Vec<String> {
    let entries = listed["result"][list].as_array().unwrap_or_else(|| panic!("{listed}"));
    entries.iter().map(|entry| entry[key].as_str().expect("a name").to_owned()).collect()
}

async fn tools_of(peer: &LegacyPeer) -> Vec<String> {
    names(&peer.request("tools/list", json!({}), |_| None).await, "tools", "name")
}

#[tokio::test]
async fn a_legacy_client_that_can_be_asked_sees_what_its_own_process_adds() {
    for (instances, era) in [("caller", "auto"), ("session", "legacy")] {
        let gateway = gateway(instances, era).await;
        let peer = LegacyPeer::open(&gateway, json!({"elicitation": {}})).await;
        let other = LegacyPeer::open(&gateway, json!({})).await;
        let mut notices = peer.listen().await;
        let before = tools_of(&peer).await;
        assert!(!before.contains(&PASSING.to_owned()), "{before:?}");

        peer.call("near__test_trigger_tool_change", json!({}), |_| Value::Null).await;
        notified(&mut notices, "notifications/tools/list_changed").await;
        let now = tools_of(&peer).await;
        assert!(now.contains(&PASSING.to_owned()), "{instances}: {now:?}");
        assert_eq!(now.len(), before.len() + 1, "the others stay");
        let (_, answer) = peer.call(PASSING, json!({}), |_| Value::Null).await;
        assert_eq!(answer["result"]["content"][0]["text"], json!("Here for now."), "{answer}");

        // It belongs to this caller's process only.
        assert!(!tools_of(&other).await.contains(&PASSING.to_owned()), "{instances}");
        assert!(!listed(&gateway).await.contains(&PASSING.to_owned()), "{instances}");
        let (_, unknown) = other.call(PASSING, json!({}), |_| Value::Null).await;
        assert!(unknown["error"].is_object(), "{unknown}");

        let prompts = "notifications/prompts/list_changed";
        peer.call("near__test_trigger_prompt_change", json!({}), |_| Value::Null).await;
        notified(&mut notices, prompts).await;
        let listed = peer.request("prompts/list", json!({}), |_| None).await;
        let prompt = "near__test_passing_prompt".to_owned();
        assert!(names(&listed, "prompts", "name").contains(&prompt), "{listed}");
        let got = peer.request("prompts/get", json!({"name": prompt}), |_| None).await;
        assert!(got["result"]["messages"].is_array(), "{got}");
        let listed = other.request("prompts/list", json!({}), |_| None).await;
        assert!(!names(&listed, "prompts", "name").contains(&prompt), "{listed}");

        // Removed again, it is gone for its caller too.
        peer.call("near__test_trigger_tool_change", json!({}), |_| Value::Null).await;
        notified(&mut notices, "notifications/tools/list_changed").await;
        assert_eq!(tools_of(&peer).await, before, "{instances}");
    }
}

#[tokio::test]
async fn a_modern_client_sees_what_its_own_process_of_a_legacy_server_adds() {
    let gateway = gateway("caller", "legacy").await;
    let mut peer = Peer::modern(&gateway);
    peer.capabilities = json!({"elicitation": {"form": {}}});
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": [WATCHED]});
    let mut notices = peer.listen(filter).await;
    peer.call("near__test_trigger_tool_change", json!({}), json!({})).await;
    notified(&mut notices, "notifications/tools/list_changed").await;
    let listed = peer.ask("tools/list", json!({})).await.answer;
    assert!(names(&listed, "tools", "name").contains(&PASSING.to_owned()), "{listed}");
    let Received { answer, .. } = peer.call(PASSING, json!({}), json!({})).await;
    assert_eq!(answer["result"]["content"][0]["text"], json!("Here for now."), "{answer}");
    let described = peer.call("powerstrip__describe_tool", json!({"id": PASSING}), json!({})).await;
    assert_eq!(described.answer["result"]["isError"], json!(false), "{described:?}");
    let plain = Peer::modern(&gateway).ask("tools/list", json!({})).await.answer;
    assert!(!names(&plain, "tools", "name").contains(&PASSING.to_owned()), "{plain}");

    let update = "near__test_trigger_resource_update";
    let updating = async {
        loop {
            peer.call(update, json!({}), json!({})).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let received = tokio::select! {
        received = notified(&mut notices, "notifications/resources/updated") => received,
        () = updating => Value::Null,
    };
    assert_eq!(received["params"]["uri"], json!(WATCHED), "{received}");
}

#[tokio::test]
async fn a_subscription_is_made_at_the_process_of_its_client() {
    for (instances, era) in [("session", "legacy"), ("caller", "auto")] {
        let gateway = gateway(instances, era).await;
        let peer = LegacyPeer::open(&gateway, json!({"elicitation": {}})).await;
        let other = LegacyPeer::open(&gateway, json!({"sampling": {}})).await;
        let (mut notices, mut others) = (peer.listen().await, other.listen().await);
        for peer in [&peer, &other] {
            let subscribed =
                peer.request("resources/subscribe", json!({"uri": WATCHED}), |_| None).await;
            assert!(subscribed["result"].is_object(), "{subscribed}");
        }
        let update = "near__test_trigger_resource_update";
        // The subscription reaches the server shortly after.
        let updating = async {
            loop {
                peer.call(update, json!({}), |_| Value::Null).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let received = tokio::select! {
            received = notified(&mut notices, "notifications/resources/updated") => received,
            () = updating => Value::Null,
        };
        assert_eq!(received["params"]["uri"], json!(WATCHED), "{instances}: {received}");
        // A notice of another process does not arrive: the next message of the other client is its own.
        other.call("near__test_trigger_prompt_change", json!({}), |_| Value::Null).await;
        let next = others
            .next_of(&["notifications/resources/updated", "notifications/prompts/list_changed"]);
        let next = tokio::time::timeout(Duration::from_secs(20), next).await.expect("a notice");
        assert_eq!(next["method"], json!("notifications/prompts/list_changed"), "{instances}");
    }
}
