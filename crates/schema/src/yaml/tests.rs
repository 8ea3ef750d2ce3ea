use serde_json::{Value, json};

use super::{Limits, MAX_COMPARED_BYTES, Node, Outline, nearest, parse};

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

/// The text of every field's value, by path.
fn ranges(text: &str) -> Vec<(String, String)> {
    fn walk(text: &str, outline: &Outline, path: &str, found: &mut Vec<(String, String)>) {
        for field in outline.fields() {
            let path = format!("{path}/{}", field.name.as_deref().unwrap_or("?"));
            found.push((path.clone(), text[field.value.range.clone()].to_owned()));
            walk(text, &field.value, &path, found);
        }
    }
    let outline = Outline::parse(text).expect("YAML").expect("a document");
    let mut found = Vec::new();
    walk(text, &outline, "", &mut found);
    found
}

#[test]
fn an_outline_names_the_bytes_of_every_value() {
    let text = "# top\n---\na: 1 # one\n\"b\" : 'ü\n  two'\nc:\n  d: |\n    text\n\n    more\n\n  # after\n  e:\n  f: {g: [1, 2], h: x}  # end\ni:\n- 1\n- x: y\nj: &anchor\n  k: !!str 5\nl: *anchor\n";
    let found = ranges(text);
    let found: Vec<_> = found.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!(
        found,
        [
            ("/a", "1"),
            ("/b", "'ü\n  two'"),
            ("/c", "d: |\n    text\n\n    more\n\n  # after\n  e:\n  f: {g: [1, 2], h: x}"),
            ("/c/d", "text\n\n    more\n\n"),
            ("/c/e", ""),
            ("/c/f", "{g: [1, 2], h: x}"),
            ("/c/f/g", "[1, 2]"),
            ("/c/f/h", "x"),
            ("/i", "1\n- x: y"),
            ("/j", "k: !!str 5"),
            ("/j/k", "5"),
            ("/l", "*anchor"),
        ]
    );
    assert_eq!(Outline::parse("# nothing\n"), Ok(None));
    assert!(Outline::parse("a: [1").is_err());
}

#[test]
fn only_names_that_can_be_misspelt_are_compared() {
    assert_eq!(nearest("mesage", ["message", "time"]), Some("message"));
    let long = "m".repeat(MAX_COMPARED_BYTES);
    assert_eq!(nearest(&long, [&*long, "m"]), Some(&*long));
    let longer = format!("{long}m");
    assert_eq!(nearest(&longer, [&*long]), None);
    assert_eq!(nearest(&long, [&*longer]), None);
}
