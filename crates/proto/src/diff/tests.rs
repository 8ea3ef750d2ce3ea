use proptest::prelude::{any, proptest};
use serde_json::json;

use super::{MAX_CHANGES, changes, words};

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn words_that_came_and_went() {
    let (removed, added) =
        words("Finds a customer by name.", "Finds a customer by name or by e-mail.");
    assert_eq!((removed, added), (texts(&["name."]), texts(&["name", "or", "by", "e-mail."])));
    assert_eq!(words("same words", "same  words"), (vec![], vec![]));
    assert_eq!(words("a b c d", "b x d"), (texts(&["a", "c"]), texts(&["x"])));
}

#[test]
fn places_are_pointers_and_nothing_is_hidden() {
    let before = json!({"description": "Search.", "title": null, "inputSchema": {
        "properties": {"a/b~c": {"type": "string", "enum": ["x"]}, "gone": {}}}});
    let after = json!({"description": "Search\u{200b}.", "title": "T", "inputSchema": {
        "properties": {"a/b~c": {"type": "string", "enum": ["x", "y\u{202e}"]}}}});
    let (found, left_out) = changes(&before, &after);
    assert_eq!(left_out, 0);
    let listed: Vec<_> = found
        .iter()
        .map(|change| (change.at.as_str(), change.before.as_deref(), change.after.as_deref()))
        .collect();
    assert_eq!(
        listed,
        [
            ("/description", Some("Search."), Some("Search\\u{200b}.")),
            ("/inputSchema/properties/a~1b~0c/enum/1", None, Some("y\\u{202e}")),
            ("/inputSchema/properties/gone", Some("{}"), None),
            ("/title", None, Some("T")),
        ]
    );
    assert_eq!(found[0].added, ["Search\\u{200b}."]);
}

#[test]
fn many_and_long_differences_have_an_end() {
    let list = |word: &str| json!((0..1_000).map(|n| format!("{word}{n}")).collect::<Vec<_>>());
    let (found, left_out) = changes(&list("a"), &list("b"));
    assert_eq!((found.len(), left_out), (MAX_CHANGES, 1_000 - MAX_CHANGES));
    let long = |word: &str| json!(format!("{word} ").repeat(60_000));
    let (found, _) = changes(&long("a"), &long("b"));
    assert_eq!((found[0].removed.len(), found[0].added.len()), (60_000, 60_000));
}

proptest! {
    #[test]
    fn applying_the_words_gives_as_many_as_there_are(a in any::<Vec<u8>>(), b in any::<Vec<u8>>()) {
        let text = |bytes: &[u8]| {
            bytes.iter().map(|byte| (byte % 4).to_string()).collect::<Vec<_>>().join(" ")
        };
        let (removed, added) = words(&text(&a), &text(&b));
        assert_eq!(a.len() - removed.len(), b.len() - added.len());
    }
}
