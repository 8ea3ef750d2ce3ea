use std::collections::BTreeSet;

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::*;

fn document(text: &str) -> Loaded {
    Loaded {
        source: LoadedSource { content_type: "text".to_owned(), ..LoadedSource::default() },
        site: None,
        text: text.to_owned(),
        pages: Vec::new(),
        incomplete: false,
        warnings: Vec::new(),
    }
}

fn refused(input: Value) -> Value {
    let input = serde_json::from_value(input).expect("an input");
    let failure = check(input).expect_err("refused");
    assert_eq!(failure.code, Code::InvalidInput);
    failure.item().details.map_or(Value::Null, |details| details["path"].clone())
}

#[test]
fn exactly_one_origin_is_needed() {
    assert_eq!(refused(json!({})), "");
    assert_eq!(refused(json!({"url": "https://a.test/", "file_id": "f"})), "/file_id");
    assert_eq!(refused(json!({"url": "https://a.test/", "content": "x"})), "/content");
    assert_eq!(refused(json!({"file_id": "f", "content": "x"})), "/content");
    assert_eq!(
        refused(json!({"content": "x", "chunk_tokens": 50, "overlap_tokens": 50})),
        "/overlap_tokens"
    );
}

#[test]
fn a_long_document_goes_on_with_its_cursor() {
    let text = "Trees shade the street and cool the air around them in summer. ".repeat(2_000);
    let options = ChunkOptions { chunk_tokens: 50, overlap_tokens: 10 };
    let all: Vec<_> = chunk_document(&text, options).collect();
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let answer = answer(document(&text), options, cursor.as_deref()).expect("chunks");
        assert!(answer.chunks.len() <= MAX_CHUNKS);
        assert_eq!(answer.truncated, answer.next_cursor.is_some());
        found.extend(answer.chunks);
        cursor = answer.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert!(all.len() > MAX_CHUNKS);
    assert_eq!(found, all);
    let ids: BTreeSet<_> = all.iter().map(|chunk| &chunk.id).collect();
    assert_eq!(ids.len(), all.len(), "equal texts have different ids");
}

#[test]
fn chunks_have_the_page_on_which_they_begin() {
    let page = |word: &str| format!("{word} ").repeat(400).trim_end().to_owned();
    let (first, third) = (page("é"), page("third"));
    let text = format!("{first}\n\n{third}");
    let start = first.len() + 2;
    // The second page has no text, and the fourth was cut off.
    let loaded = Loaded { pages: vec![0, start, start, text.len() + 10], ..document(&text) };
    let options = ChunkOptions { chunk_tokens: 100, overlap_tokens: 0 };
    let answer = answer(loaded, options, None).expect("chunks");
    assert!(answer.chunks.len() > 2);
    for chunk in &answer.chunks {
        let expected = if chunk.text.starts_with('é') { 1 } else { 3 };
        assert_eq!(chunk.page, Some(expected), "{chunk:?}");
    }
    assert!(answer.chunks.iter().any(|chunk| chunk.page == Some(1)));
    assert!(answer.chunks.iter().any(|chunk| chunk.page == Some(3)));
}

#[test]
fn a_cursor_of_other_settings_is_refused() {
    let text = "Some words. ".repeat(20_000);
    let options = ChunkOptions { chunk_tokens: 50, overlap_tokens: 0 };
    let cursor = answer(document(&text), options, None).expect("chunks").next_cursor;
    let other = ChunkOptions { chunk_tokens: 51, overlap_tokens: 0 };
    for (text, options) in [(text.as_str(), other), ("Another text.", options)] {
        let failure = answer(document(text), options, cursor.as_deref()).expect_err("refused");
        assert!(failure.message.starts_with("/cursor: "), "{}", failure.message);
    }
    for cursor in ["", "x", "1.2", "1.2.3.4", "99999999999999999999999.a.b"] {
        assert!(answer(document(&text), options, Some(cursor)).is_err());
    }
}

proptest! {
    #[test]
    fn an_answer_fits_into_a_megabyte(part in "[\\PC\n\"]{1,40}", times in 1usize..4_000) {
        let text = part.repeat(times);
        let options = ChunkOptions { chunk_tokens: 2000, overlap_tokens: 500 };
        let answer = answer(document(&text), options, None).expect("chunks");
        let json = serde_json::to_string(&answer).expect("JSON");
        prop_assert!(json.len() <= 1 << 20);
        let again = super::answer(document(&text), options, None).expect("chunks");
        prop_assert_eq!(answer, again);
    }
}
