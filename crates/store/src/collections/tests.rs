use serde_json::{Value, json};

use super::{indexed, meta_line, meta_text};

#[test]
fn terms_cannot_contain_query_syntax() {
    let terms = ["heat", "", "a\"b", "OR", "x*", "isl&", "é", "b-c", "2024"];
    assert_eq!(indexed(7, terms.into_iter(), " "), "c7xheat c7x2024");
}

#[test]
fn a_key_and_its_value_are_one_line_of_the_metadata() {
    let meta = json!({"a": 1, "b\n\"": {"y": "\n", "x": [1, 2]}, "c": "1"});
    let Value::Object(meta) = meta else { unreachable!() };
    let text = meta_text(&meta);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), Value::Object(meta.clone()));
    for (key, value) in &meta {
        assert!(text.contains(&meta_line(key, value)), "{key}");
    }
    assert!(!text.contains(&meta_line("a", &json!("1"))));
    assert!(!text.contains(&meta_line("x", &json!([1, 2]))), "not at the top");
    assert_eq!(meta_text(&serde_json::Map::new()), "{}");
}
