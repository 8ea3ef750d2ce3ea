use super::*;

fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

#[test]
fn discovery_distinguishes_the_eras() {
    let modern = json!({"supportedVersions": ["2025-11-25", "2026-07-28"],
        "capabilities": {"tools": {"listChanged": true}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "n", "version": "2"}}});
    let ProbeResult::Modern(facts) = ProbeResult::of_result(&raw(&modern)) else {
        panic!("modern")
    };
    assert!(facts.notifies_changes && facts.may_speak_legacy);
    assert_eq!(facts.server, Some(json!({"name": "n", "version": "2"})));
    for legacy in [json!({"supportedVersions": ["2025-11-25"]}), json!({}), json!(null), json!("x")]
    {
        assert_eq!(ProbeResult::of_result(&raw(&legacy)), ProbeResult::Legacy, "{legacy}");
    }
    let error = |code| RpcError { code, message: String::new(), data: None };
    for code in [-32601, -32602, -32600, -32000, -32022, 0] {
        assert_eq!(ProbeResult::of_error(&error(code)), ProbeResult::Legacy, "{code}");
    }
    assert!(matches!(ProbeResult::of_error(&error(-32021)), ProbeResult::Modern(_)));
    let listing =
        |versions| RpcError { data: Some(json!({"supported": versions})), ..error(-32022) };
    let modern = listing(json!(["2026-07-28"]));
    assert!(matches!(ProbeResult::of_error(&modern), ProbeResult::Modern(_)));
    let legacy = listing(json!(["2025-11-25"]));
    assert_eq!(ProbeResult::of_error(&legacy), ProbeResult::Legacy);
}

#[test]
fn only_known_versions_are_agreed_on() {
    let facts = read_initialize(&raw(&json!({"protocolVersion": "2025-03-26"}))).unwrap();
    assert_eq!((facts.version, facts.notifies_changes), ("2025-03-26", false));
    for bad in [json!({}), json!({"protocolVersion": "1999-01-01"}), json!([])] {
        assert!(read_initialize(&raw(&bad)).is_err(), "{bad}");
    }
}
