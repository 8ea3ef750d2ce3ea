use serde_json::{from_value, json};

use super::*;

fn source(url: &str, text: &str) -> Candidate {
    let page = json!({
        "url": url, "content_type": "markdown", "text": text, "length": text.len(), "incomplete": false,
        "warnings": [], "read_unix_ms": 0,
    });
    Candidate::new(url, "Title", from_value(page).unwrap(), text.len())
}

#[test]
fn an_open_code_block_does_not_take_in_the_next_source() {
    for (open, closing) in [
        ("Text.\n\n~~~~sh\n```\nls", "\nls\n~~~~\n\n---\n"),
        ("- a\n\n  ```\n  ls", "\n  ls\n  ```\n\n---\n"),
    ] {
        let sources = [source("https://a.test/", open), source("https://b.test/", "Second.")];
        let (combined, cut_short) = combine(&sources, 1_000);
        assert!(combined.contains(closing) && combined.ends_with("Second."), "{combined}");
        assert!(open_fence(&combined).is_none() && !cut_short);
    }
    let closed = [source("https://a.test/", "```\nls\n```"), source("https://b.test/", "Second.")];
    assert!(
        combine(&closed, 1_000)
            .0
            .contains("ls\n```\n\n---\n\n# [2] Title\n\nSource: https://b.test/")
    );
}
