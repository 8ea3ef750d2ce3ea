use proptest::prelude::{any, proptest};

use super::*;

#[test]
fn modern_requests_carry_their_meta_and_legacy_ones_only_what_was_asked_for() {
    let arguments = json!({"a": 1});
    let ask = RpcRequest {
        idempotency_key: Some("k1"),
        own: false,
        ..RpcRequest::plain("tools/call", Params::Call { name: "t", arguments: &arguments })
    };
    let modern: Value = serde_json::from_slice(&ask.encode(7, Era::Modern).unwrap()).unwrap();
    assert_eq!(modern["id"], 7);
    assert_eq!(modern["params"]["arguments"], arguments);
    let meta = &modern["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "powerstrip");
    assert_eq!(meta["powerstrip/idempotency-key"], "k1");

    let legacy: Value = serde_json::from_slice(&ask.encode(8, Era::Legacy).unwrap()).unwrap();
    assert_eq!(legacy["params"]["_meta"], json!({"powerstrip/idempotency-key": "k1"}));
    let plain = RpcRequest::plain("tools/list", Params::None).encode(9, Era::Legacy).unwrap();
    let plain: Value = serde_json::from_slice(&plain).unwrap();
    assert_eq!(plain["params"], json!({}));
    let own = RpcRequest::plain("tools/list", Params::None).encode(9, Era::Modern).unwrap();
    let own: Value = serde_json::from_slice(&own).unwrap();
    let declared = &own["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert!(shows_apps(declared.as_object().unwrap()), "its own lists have tools with apps");
}

#[test]
fn messages_are_distinguished() {
    let parse = |text: &'static str| Message::parse(text.as_bytes());
    assert!(matches!(
        parse(r#"{"jsonrpc":"2.0","id":3,"result":{"x":1}}"#),
        Ok(Message::Answer { id: Some(3), answer: Ok(result) }) if result.get() == r#"{"x":1}"#
    ));
    assert!(matches!(
        parse(r#"{"id":null,"error":{"code":-32600,"message":"m","extra":1}}"#),
        Ok(Message::Answer { id: None, answer: Err(RpcError { code: -32600, .. }) })
    ));
    // An id of another type belongs to no request.
    assert!(matches!(
        parse(r#"{"id":"3","result":{}}"#),
        Ok(Message::Answer { id: None, answer: Ok(_) })
    ));
    assert!(matches!(
        parse(r#"{"id":"q","method":"ping"}"#),
        Ok(Message::Request { method, .. }) if method == "ping"
    ));
    assert!(matches!(
        parse(r#"{"method":"notifications/x","params":{}}"#),
        Ok(Message::Notification { method, .. }) if method == "notifications/x"
    ));
    for bad in [
        "",
        "[]",
        "{}",
        "1",
        r#"{"id":1}"#,
        r#"{"id":1,"result":{},"error":{"code":1}}"#,
        r#"{"id":1,"error":"x"}"#,
        r#"{"id":1,"id":2,"result":{}}"#,
        r#"{"id":1,"result":{"#,
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_parser_panic(bytes in any::<Vec<u8>>()) {
        let _ = Message::parse(&bytes);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC*") {
        let _ = Message::parse(format!(r#"{{"id":{text},"result":{text}}}"#).as_bytes());
    }
}

#[test]
fn a_callers_meta_passes_but_not_what_is_between_us_and_the_server() {
    let Value::Object(params) = json!({"uri": "test://x", "_meta": {"own": 1, "progressToken": "t",
        "io.modelcontextprotocol/clientCapabilities": {"sampling": {}}}})
    else {
        panic!("an object")
    };
    let ask = RpcRequest::plain("resources/read", Params::Map(&params));
    assert_eq!(ask.name(), Some("test://x"));
    let modern = String::from_utf8(ask.encode(1, Era::Modern).unwrap()).unwrap();
    assert_eq!(modern.matches("_meta").count(), 1, "{modern}");
    assert!(!modern.contains("progressToken") && !modern.contains("sampling"), "{modern}");
    let legacy: Value = serde_json::from_slice(&ask.encode(1, Era::Legacy).unwrap()).unwrap();
    assert_eq!(legacy["params"], json!({"uri": "test://x", "_meta": {"own": 1}}));
}

#[test]
fn a_caller_cannot_invent_capabilities() {
    let Value::Object(declared) = json!({
        "elicitation": {"form": {"n": 1}, "url": {}, "n": 7}, "sampling": 5, "roots": {"listChanged": true},
        "experimental": {"n": {}}
    }) else {
        panic!("an object")
    };
    let known = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {"listChanged": true}});
    assert_eq!(Value::Object(question_capabilities(&declared)), known);
}
