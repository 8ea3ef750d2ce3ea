use serde_json::{Value, json};

use super::Ledger;

/// Whether nothing is waited for, without waiting.
async fn is_settled(ledger: &Ledger) -> bool {
    tokio::time::timeout(std::time::Duration::ZERO, ledger.settled()).await.is_ok()
}

fn bytes(message: &Value) -> Vec<u8> {
    message.to_string().into_bytes()
}

fn ask(ledger: &Ledger, id: &Value, method: &str) {
    ledger.record_request(&bytes(
        &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}),
    ));
}

/// Whether the client receives the answer.
fn answer(ledger: &Ledger, id: &Value) -> bool {
    let message = bytes(&json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    ledger.record_answer(&message);
    Ledger::concerns_client(&message)
}

fn abandoned(ledger: &Ledger) -> Vec<Value> {
    ledger
        .abandon()
        .iter()
        .map(|text| serde_json::from_slice::<Value>(text).unwrap()["id"].clone())
        .collect()
}

#[tokio::test]
async fn requests_are_open_until_they_are_answered() {
    let ledger = Ledger::default();
    assert!(is_settled(&ledger).await);
    ask(&ledger, &json!(1), "tools/list");
    ask(&ledger, &json!("a"), "tools/call");
    assert!(answer(&ledger, &json!(1)));
    assert!(!is_settled(&ledger).await);
    assert_eq!(abandoned(&ledger), [json!("a")]);
    assert!(is_settled(&ledger).await, "an abandoned request is done with");
}

#[tokio::test]
async fn cancelled_and_endless_requests_are_not_waited_for() {
    let ledger = Ledger::default();
    ask(&ledger, &json!(1), "tools/call");
    ask(&ledger, &json!(2), "subscriptions/listen");
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    ledger.record_request(&bytes(&cancelled));
    assert!(is_settled(&ledger).await);
    assert_eq!(
        abandoned(&ledger),
        [json!(2)],
        "but a listener must learn that it receives nothing any more"
    );
}

#[test]
fn the_log_level_and_live_subscriptions_are_replayed_after_the_handshake() {
    let ledger = Ledger::default();
    ask(&ledger, &json!(0), "initialize");
    answer(&ledger, &json!(0));
    ledger.record_request(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let requests = [
        ("logging/setLevel", json!({"level": "info"})),
        ("resources/subscribe", json!({"uri": "a:1"})),
        ("resources/subscribe", json!({"uri": "a:2"})),
        ("resources/unsubscribe", json!({"uri": "a:1"})),
        ("logging/setLevel", json!({"level": "error"})),
    ];
    for (id, (method, params)) in requests.iter().enumerate() {
        ledger.record_request(&bytes(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
        ));
    }
    let replay: Vec<Value> =
        ledger.replay().iter().map(|text| serde_json::from_slice(text).unwrap()).collect();
    let repeated: Vec<_> =
        replay[2..].iter().map(|request| (&request["method"], &request["params"])).collect();
    assert_eq!(
        repeated,
        [
            (&json!("logging/setLevel"), &json!({"level": "error"})),
            (&json!("resources/subscribe"), &json!({"uri": "a:2"})),
        ]
    );
    for request in &replay[2..] {
        assert!(!answer(&ledger, &request["id"]), "the client did not ask this again");
    }
}

#[test]
fn a_finished_handshake_is_replayed_under_an_id_of_our_own() {
    let ledger = Ledger::default();
    assert!(ledger.replay().is_empty());
    ask(&ledger, &json!(0), "initialize");
    assert!(answer(&ledger, &json!(0)));
    ledger.record_request(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let replay: Vec<Value> =
        ledger.replay().iter().map(|text| serde_json::from_slice(text).unwrap()).collect();
    assert_eq!(replay.len(), 2);
    assert_eq!(replay[0]["method"], "initialize");
    assert!(
        !answer(&ledger, &replay[0]["id"]),
        "the client must not hear an answer that it did not ask for"
    );
    assert_eq!(replay[1]["method"], "notifications/initialized");
    assert_eq!(ledger.notices().len(), 2);
}

#[test]
fn an_unanswered_handshake_is_repeated_not_refused() {
    let ledger = Ledger::default();
    ask(&ledger, &json!(0), "initialize");
    assert!(abandoned(&ledger).is_empty());
    let replay: Vec<Value> =
        ledger.replay().iter().map(|text| serde_json::from_slice(text).unwrap()).collect();
    assert_eq!(replay[0]["id"], 0);
    assert_eq!(replay.len(), 1);
    assert!(ledger.notices().is_empty());
}

#[test]
fn unreadable_messages_pass() {
    let ledger = Ledger::default();
    for message in [&b"{"[..], b"[]", b"3", b"{\"id\":1}"] {
        ledger.record_request(message);
        ledger.record_answer(message);
        assert!(Ledger::concerns_client(message));
    }
    assert!(abandoned(&ledger).is_empty());
}

#[test]
fn a_refused_handshake_is_not_repeated() {
    let ledger = Ledger::default();
    ask(&ledger, &json!(0), "initialize");
    ledger.record_answer(&bytes(
        &json!({"jsonrpc": "2.0", "id": 0, "error": {"code": -32602, "message": "no"}}),
    ));
    assert!(ledger.replay().is_empty());
}
