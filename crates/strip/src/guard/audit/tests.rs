use serde_json::json;

use super::*;

#[test]
fn kept_content_has_no_secrets_and_is_bounded() {
    let secrets = Scrubber::new(["hunter2-hunter2"]);
    let value = json!({
        "query": "as hunter2-hunter2 said",
        "password": "short",
        "nested": [{"apiKey": 12_345, "access_token": "x", "keyboard": "qwerty", "token": {"id": 7, "set": true}}],
        "passwords": ["one", {"old": ["two"]}],
        "secret": ["three", {"old": ["four", null]}],
    });
    let (text, cut) = redact(&value, &secrets);
    let kept: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        kept,
        json!({
            "query": "as **** said",
            "password": "****",
            "nested": [{"apiKey": "****", "access_token": "****", "keyboard": "qwerty", "token": {"id": "****", "set": true}}],
            "passwords": ["one", {"old": ["two"]}],
            "secret": ["****", {"old": ["****", null]}],
        })
    );
    assert!(!cut);

    let (text, cut) = redact(&json!("é".repeat(MAX_PAYLOAD_BYTES)), &secrets);
    assert!(cut && text.len() <= MAX_PAYLOAD_BYTES && text.ends_with('…'), "{}", text.len());
}

#[test]
fn a_text_is_cut_between_characters() {
    assert_eq!(shorten("short".to_owned(), 10), ("short".to_owned(), false));
    assert_eq!(shorten("ééééé".to_owned(), 8), ("éé…".to_owned(), true));
}
