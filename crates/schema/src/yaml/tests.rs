#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value, json};

use super::{Limits, Node, parse};

const LIMITS: Limits = Limits { max_bytes: 64 * 1024, merge_keys: false, custom_tags: false };

#[test]
fn documents_become_json_with_lines() {
    let text = "a: NO\nb:\n  - 1\n  - {c/d: 18446744073709551615}\ne: 1.5\nf:\n";
    let node = Node::parse(text, LIMITS).unwrap().unwrap();
    let expected = json!({"a": "NO", "b": [1, {"c/d": u64::MAX}], "e": 1.5, "f": null});
    assert_eq!(node.json(), expected);
    let lines = ["", "/a", "/b", "/b/1", "/b/1/c~1d", "/b/1/none", "/e/x"];
    assert_eq!(lines.map(|pointer| node.line_at(pointer)), [1, 1, 2, 4, 4, 4, 5]);
    assert_eq!(Node::parse("# nothing\n", LIMITS), Ok(None));
}

#[test]
fn errors_name_their_line() {
    for (text, line, word) in [
        ("a: 1\nb: 2\na: 3\n", Some(3), "duplicate"),
        ("a: [1\nb: 2\n", Some(2), ""),
        ("a: &a {x: 1}\nb:\n  <<: *a\n", Some(3), "erge"),
        ("a: .nan\n", Some(1), ""),
        (&"x".repeat(LIMITS.max_bytes + 1), None, "65537 bytes; 65536 are allowed"),
        (&"[".repeat(1_000), Some(1), ""),
    ] {
        let error = parse::<Value>(text, LIMITS).unwrap_err();
        assert_eq!(error.line, line, "{text:.40}: {error}");
        assert!(error.message.contains(word), "{text:.40}: {error}");
    }
}
