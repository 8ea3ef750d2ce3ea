use std::sync::Arc;
use std::time::Duration;

use proto::{Code, TraceId};
use serde_json::json;

use super::{CALL, ERROR, Failure, Meta, Native, call, failure, success};

fn meta() -> Meta {
    Meta {
        tool: "a.b".into(),
        version: "1.0.0".into(),
        duration_ms: 3,
        trace_id: TraceId::random(),
        warnings: vec!["w".to_owned()],
    }
}

#[test]
fn the_call_facts_are_the_envelopes_meta() {
    let meta = meta();
    assert_eq!(call(meta.clone()), serde_json::to_value(&meta).expect("meta serialises"));
}

#[test]
fn old_clients_get_objects_and_new_ones_the_data_itself() {
    let wrapped = success(Arc::new(json!([1])), None, true, meta());
    assert_eq!(wrapped.structured_content, Some(json!({"result": [1]})));
    let bare = success(Arc::new(json!([1])), None, false, meta());
    assert_eq!(bare.structured_content, Some(json!([1])));
}

#[test]
fn a_failure_has_advice_for_the_model() {
    let failed = Failure::new(Code::RateLimit, "too many calls")
        .details(json!({"limit": 2}))
        .retry_after(Duration::from_millis(1500));
    let result = serde_json::to_value(failure(&failed, meta())).expect("a result serialises");
    assert_eq!(result["isError"], json!(true));
    let text = result["content"][0]["text"].as_str().expect("text");
    assert_eq!(text, "RATE_LIMIT: too many calls\nDetails: {\"limit\":2}\nTry again after 1.5 s.");
    assert_eq!(result["_meta"][ERROR]["code"], json!("RATE_LIMIT"));
    assert!(result.get("structuredContent").is_none());
}

#[test]
fn a_servers_result_is_passed_on_whole() {
    let result = json!({
        "resultType": "complete",
        "content": [
            {"type": "image", "data": "aGk=", "mimeType": "image/png", "annotations": {"priority": 0.5}, "_meta": {"k": 1}},
            {"type": "resource_link", "uri": "test://x", "name": "x", "size": 3},
            {"type": "hologram", "depth": 3},
            {"type": "text", "text": "plain"},
            {"type": "text", "text": "noted", "annotations": {"priority": 0.5}},
        ],
        "structuredContent": {"a": [1]},
        "_meta": {"com.example/trace": "t", CALL: "forged"},
    });
    let meta = meta();
    let passed =
        Native::of(Arc::new(result.clone())).expect("an object").success(|_| false, meta.clone());
    let passed = serde_json::to_value(passed).expect("a result serialises");
    assert_eq!(passed["content"][0], result["content"][0]);
    assert_eq!(passed["content"][1], result["content"][1]);
    assert_eq!(passed["content"][2]["text"], json!(result["content"][2].to_string()));
    assert_eq!(passed["content"][3], result["content"][3]);
    assert_eq!(passed["content"][4], result["content"][4]);
    assert_eq!(passed["structuredContent"], result["structuredContent"]);
    assert_eq!(passed["isError"], json!(false));
    assert_eq!(passed["_meta"]["com.example/trace"], json!("t"));
    assert_eq!(passed["_meta"][CALL], call(meta), "the facts of the call are ours");
}

#[test]
fn nothing_is_added_to_a_result_without_structured_content() {
    let result = json!({"content": [{"type": "text", "text": "hi"}]});
    let passed = Native::of(Arc::new(result.clone())).expect("an object").success(|_| true, meta());
    assert_eq!(passed.structured_content, None);
    let result = json!({"content": [], "structuredContent": [1]});
    let passed = Native::of(Arc::new(result.clone())).expect("an object").success(|_| true, meta());
    assert_eq!(passed.structured_content, Some(json!({"result": [1]})));
}

#[test]
fn a_servers_failure_keeps_its_content() {
    let result = json!({"isError": true, "content": [{"type": "text", "text": "no such row"}],
        "structuredContent": {"row": 5}, "_meta": {"a": 1}});
    let failed = Failure::new(Code::Internal, "no such row");
    let passed = Native::of(Arc::new(result.clone())).expect("an object").failure(&failed, meta());
    let passed = serde_json::to_value(passed).expect("a result serialises");
    assert_eq!(passed["isError"], json!(true));
    assert_eq!(passed["content"], result["content"]);
    assert_eq!(passed["structuredContent"], result["structuredContent"]);
    assert_eq!(passed["_meta"]["a"], json!(1));
    assert_eq!(passed["_meta"][ERROR]["code"], json!("INTERNAL"));
    assert_eq!(passed["_meta"][CALL]["tool"], json!("a.b"));
}
