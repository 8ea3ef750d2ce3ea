use serde_json::json;

use super::first_difference;

#[test]
fn the_first_difference_is_named() {
    for (a, b, expected) in [
        (json!({"a": [1, 2]}), json!({"a": [1, 2]}), None),
        (json!({"a": [1, 2]}), json!({"a": [1, 3]}), Some("/a/1")),
        (json!({"a": 1}), json!({"a": 1, "b": 2}), Some("/b")),
        (json!({"a": 1, "b": 2}), json!({"a": 1}), Some("/b")),
        (json!([1]), json!([1, 2]), Some("")),
        (json!(1), json!("1"), Some("")),
    ] {
        assert_eq!(first_difference(&a, &b).as_deref(), expected, "{a} {b}");
    }
}
