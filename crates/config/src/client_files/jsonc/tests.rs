use proptest::prelude::{any, proptest};
use serde_json::{Value, json};

use super::{outline, to_json};

#[test]
fn comments_and_trailing_commas_are_read_over() {
    let text = "\u{feff}// top\n{\n  /* a, b */ \"url\": \"http://x//y\", // \"no\": 1,\n  \"list\": [1, 2, /* end */ ],\n  \"q\": \"\\\" // not a comment, }\",\n}\n";
    let json = to_json(text);
    assert_eq!(json.len(), text.len());
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value, json!({"url": "http://x//y", "list": [1, 2], "q": "\" // not a comment, }"}));
}

#[test]
fn escapes_of_half_a_character_are_read_over() {
    let text = r#"{"cut": "\ud83d", "low": ["\uDE00 b"], "pair": "\ud83d\ude00", "two": "\ud83d\ud83d\ude00", "no": "\\ud83d", "\udc00": 1}"#;
    let json = to_json(text);
    assert_eq!(json.len(), text.len());
    let value: Value = serde_json::from_str(&json).unwrap();
    let expected = json!({"cut": "\u{fffd}", "low": ["\u{fffd} b"], "pair": "😀", "two": "\u{fffd}😀", "no": "\\ud83d",
        "\u{fffd}": 1});
    assert_eq!(value, expected);
}

proptest! {
    #[test]
    fn plain_json_stays_and_every_value_is_found(key in any::<String>(), text in any::<String>(), number in any::<i32>()) {
        let json = json!({"a": {&*key: [text, null, number]}, "b": {}});
        let text = serde_json::to_string_pretty(&json).unwrap();
        assert_eq!(to_json(&text), text);
        let found = outline(&text).unwrap();
        let list = &found.field("a").unwrap().value.field(&key).unwrap().value;
        assert_eq!(serde_json::from_str::<Value>(&text[list.range.clone()]).unwrap(), json["a"][&key]);
        assert_eq!(&text[found.field("b").unwrap().value.range.clone()], "{}");
    }

    #[test]
    fn no_text_is_too_odd(text in any::<String>()) {
        let json = to_json(&text);
        assert_eq!(json.len(), text.len());
        let _ = outline(&json);
    }
}
