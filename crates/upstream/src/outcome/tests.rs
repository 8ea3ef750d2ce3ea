use proptest::prelude::{any, proptest};
use proto::{Blame, Code};
use serde_json::json;

use super::*;

fn read_value(result: &Value, clean_results: bool) -> Result<Output, Failure> {
    let raw = serde_json::value::to_raw_value(result).unwrap();
    read("s", RpcResult { raw, blobs: None }, Rules { clean: clean_results, keep: true })
}

#[test]
fn the_whole_result_is_kept_and_the_data_is_what_programs_read() {
    let result = json!({"content": [{"type": "text", "text": "3"}], "structuredContent": {"n": 3},
        "_meta": {"x": 1}, "unknown": [true]});
    let output = read_value(&result, false).unwrap();
    assert_eq!(*output.data, json!({"n": 3}));
    assert_eq!(**output.native.as_ref().unwrap(), result);
    assert!(output.warnings.is_empty());

    let plain = json!({"content": [{"type": "image", "data": "QUJD", "mimeType": "image/png"}]});
    assert_eq!(*read_value(&plain, false).unwrap().data, plain);
    assert_eq!(*read_value(&json!({}), false).unwrap().data, json!({"content": []}));
}

#[test]
fn a_failed_call_keeps_its_result_and_says_its_text() {
    let result = json!({"isError": true, "content": [{"type": "text", "text": "no such"},
        {"type": "image", "data": ""}, {"type": "text", "text": "file"}]});
    let failure = read_value(&result, false).unwrap_err();
    assert_eq!((failure.code, failure.blame), (Code::Internal, Blame::Tool));
    assert_eq!(failure.message, "no such\nfile");
    assert_eq!(failure.item().label(), "s answered:");
    assert_eq!(**failure.native.as_ref().unwrap(), result);
    let long = json!({"isError": true, "content": [{"type": "text", "text": "é".repeat(5_000)}]});
    assert_eq!(read_value(&long, false).unwrap_err().message.chars().count(), 2_001);
    assert!(!failure.retryable);
    let passing = json!({"isError": true, "_meta": {"powerstrip/fault": {"retryable": true}}});
    assert!(read_value(&passing, false).unwrap_err().retryable);
    let silent = read_value(&json!({"isError": true}), false).unwrap_err();
    assert!(silent.message.contains("`s`"), "{}", silent.message);
    assert_eq!(silent.item().label(), "INTERNAL:");
}

#[test]
fn the_code_of_a_kit_server_is_kept_and_its_result_too() {
    let result = json!({"isError": true,
        "content": [{"type": "text", "text": "NOT_FOUND: no page\u{200b} 7"}, {"type": "text", "text": "of 3"}],
        "_meta": {"powerstrip/fault": {"code": "NOT_FOUND", "retryable": false, "details": {"page": 7}}}});
    let failure = read_value(&result, false).unwrap_err();
    assert_eq!((failure.code, failure.blame), (Code::NotFound, Blame::Tool));
    assert_eq!(failure.message, "no page 7\nof 3");
    assert_eq!(failure.details, Some(json!({"answeredBy": "s", "page": 7})));
    assert_eq!(**failure.native.as_ref().unwrap(), result);
}

#[test]
fn results_that_are_none_name_the_server() {
    for bad in [
        json!(5),
        json!([]),
        json!({"content": "text"}),
        json!({"content": ["text"]}),
        json!({"isError": "yes", "content": []}),
        json!({"resultType": "other"}),
    ] {
        let failure = read_value(&bad, false).unwrap_err();
        assert_eq!(failure.code, Code::Internal, "{bad}");
        assert!(failure.message.contains("`s`"), "{}", failure.message);
        assert!(failure.native.is_none());
    }
    let question = json!({"resultType": "input_required", "inputRequests": {}});
    let failure = read_value(&question, false).unwrap_err();
    assert_eq!(failure.code, Code::Unsupported, "a caller that cannot be asked");
    assert!(failure.message.contains("`s`"), "{}", failure.message);
}

#[test]
fn invisible_characters_are_counted_or_removed() {
    let result = json!({"content": [{"type": "text", "text": "a\u{200b}b\u{202e}"}]});
    let output = read_value(&result, false).unwrap();
    assert_eq!(**output.native.as_ref().unwrap(), result);
    assert_eq!(output.warnings, ["the result of server `s` has 2 invisible characters"]);
    let cleaned = read_value(&result, true).unwrap();
    assert_eq!(cleaned.data["content"][0]["text"], "ab");
    assert_eq!(cleaned.native.as_ref().unwrap()["content"][0]["text"], "ab");
    assert!(cleaned.warnings[0].contains("2 invisible characters were removed"));
}

proptest! {
    #[test]
    fn nothing_hides_from_the_quick_look(text in any::<String>()) {
        let value = json!({"text": text});
        let removed = clean::json_in_place(&mut value.clone());
        assert!(removed == 0 || may_hide(&value.to_string()), "{text:?}");
    }
}
