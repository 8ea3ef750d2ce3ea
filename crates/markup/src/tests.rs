use proptest::prelude::{any, prop, proptest};

use crate::{Block, Document, Item, Reference, Section, from_markdown, to_html, to_markdown};

fn once(markdown: &str) -> String {
    to_markdown(&from_markdown(markdown))
}

#[test]
fn a_report_becomes_sections_and_blocks() {
    let markdown = "# Heat *islands*\n\nIntro with `code` and [a link](https://example.org/a_b).\n\n## Causes\n\n\
        1. dark roofs\n2. few trees\n   - in cities\n\n> Quoted\n> text.\n\n```rust\nlet x = 1;\n```\n\n\
        | City | K |\n|------|--:|\n| Bern | 2 |\n\n![A map](https://example.org/map.png)\n\nSee [^1].\n\n[^1]: A note.\n";
    let document = from_markdown(markdown);
    assert_eq!(document.title, "Heat *islands*");
    let headings: Vec<_> =
        document.sections.iter().map(|s| (s.heading.as_str(), s.level)).collect();
    assert_eq!(headings, [("", 1), ("Causes", 2)]);
    let item = |text: &str, level, number| Item { text: text.to_owned(), level, number };
    assert_eq!(
        document.sections[1].blocks[0],
        Block::List {
            items: vec![
                item("dark roofs", 0, Some(1)),
                item("few trees", 0, Some(2)),
                item("in cities", 1, None)
            ]
        }
    );
    assert_eq!(document.sections[1].blocks[1], Block::Quote { text: "Quoted text.".to_owned() });
    assert!(
        matches!(&document.sections[1].blocks[2], Block::Code { language, .. } if language == "rust")
    );
    assert!(matches!(&document.sections[1].blocks[4], Block::Image { alt, .. } if alt == "A map"));
    let written = to_markdown(&document);
    assert_eq!(from_markdown(&written), document, "{written}");
    assert!(written.contains("| City | K |\n| --- | --: |\n| Bern | 2 |"), "{written}");
    assert!(written.contains("1. dark roofs\n2. few trees\n   - in cities"), "{written}");
    assert!(written.contains("[^1]: A note."), "{written}");
}

#[test]
fn citations_and_plain_punctuation_stay_readable() {
    for text in [
        "Heat kills [1], [2–4] and snake_case (Doe, 2020) costs ~5 % & more.\n",
        "A [^1] note.\n",
        "5 < 6 and AT&T.\n",
    ] {
        assert_eq!(once(text), text);
    }
}

#[test]
fn text_that_looks_like_a_block_is_escaped() {
    let paragraph = |text: &str| Document {
        sections: vec![Section {
            level: 2,
            blocks: vec![Block::Paragraph { text: text.to_owned() }],
            ..Section::default()
        }],
        ..Document::default()
    };
    for text in [
        "# no heading",
        "- no item",
        "1. no item",
        "> no quote",
        "[a]: https://b.org",
        "+ x",
        "--- | ---",
    ] {
        let written = to_markdown(&paragraph(text));
        let read = from_markdown(&written);
        let blocks = &read.sections[0].blocks;
        assert_eq!(blocks, &[Block::Paragraph { text: text.to_owned() }], "{written}");
    }
    assert_eq!(to_markdown(&paragraph("two\nlines")), "two lines\n");
}

#[test]
fn html_is_escaped_and_has_only_safe_links() {
    let markdown = "# <script>alert(1)</script>\n\nA <b onclick=x>bold</b> [x](javascript:alert(1)) \
        [y](data:text/html,z) [z](https://example.org/?a=1&b=\"2\") ![p](javascript:x)\n\n\
        <script>alert(2)</script>\n\n<div><p>Kept text</p></div>\n\n`<i>`\n";
    let html = to_html(&from_markdown(markdown));
    for bad in ["<script", "onclick", "javascript:", "data:", "alert(2)", "<i>", "<b "] {
        assert!(!html.contains(bad), "{bad}: {html}");
    }
    for good in
        ["Kept text", "href=\"https://example.org/?a=1&amp;b=", "&lt;i&gt;", "<!doctype html>"]
    {
        assert!(html.contains(good), "{good}: {html}");
    }
}

#[test]
fn html_of_nested_lists_is_balanced() {
    let html = to_html(&from_markdown("- a\n  1. b\n  2. c\n- d\n\n5. e\n"));
    for tag in ["ul", "ol", "li"] {
        let (open, close) =
            (html.matches(&format!("<{tag}")).count(), html.matches(&format!("</{tag}>")).count());
        assert_eq!(open, close, "{html}");
    }
    assert!(html.contains("<ol start=\"5\">"), "{html}");
}

#[test]
fn references_become_a_numbered_list() {
    let reference = Reference {
        authors: vec!["Doe, J.".to_owned(), "Roe, R.".to_owned()],
        year: Some("2020".to_owned()),
        title: Some("Cool roofs".to_owned()),
        container: Some("Journal of Heat".to_owned()),
        doi: Some("10.1000/xyz".to_owned()),
        ..Reference::default()
    };
    let written = Reference { text: "Already written.".to_owned(), ..Reference::default() };
    let document = Document { references: vec![reference, written], ..Document::default() };
    assert_eq!(
        to_markdown(&document),
        "## References\n\n1. Doe, J., & Roe, R. (2020). Cool roofs. Journal of Heat. https://doi.org/10.1000/xyz\n\
         2. Already written.\n"
    );
    assert!(to_html(&document).contains("<li>Already written.</li>"));
}

#[test]
fn deep_nesting_is_flattened() {
    let nested: String =
        (0..300).map(|depth| format!("{}- item {depth}\n", "  ".repeat(depth))).collect();
    let document = from_markdown(&nested);
    let Block::List { items } = &document.sections[0].blocks[0] else { panic!("{document:?}") };
    assert_eq!(items.len(), 300);
    assert!(items.iter().all(|item| item.level <= crate::MAX_DEPTH));
    let quotes = format!("{} text", ">".repeat(50_000));
    assert_eq!(once(&quotes), "> text\n");
    let brackets = "[".repeat(50_000);
    assert_eq!(once(&brackets).len(), 50_001);
    let stars = "*a ".repeat(20_000);
    assert!(once(&stars).len() >= 60_000);
}

#[test]
fn blocks_have_one_flat_form_in_json() {
    let document = from_markdown("# T\n\ntext\n\n- a\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n---\n");
    let json = serde_json::to_value(&document).unwrap();
    assert_eq!(
        json["sections"][0]["blocks"][0],
        serde_json::json!({"kind": "paragraph", "text": "text"})
    );
    assert_eq!(
        json["sections"][0]["blocks"][2]["rows"],
        serde_json::json!([["x", "y"], ["1", "2"]])
    );
    assert_eq!(serde_json::from_value::<Document>(json).unwrap(), document);
    let schema = serde_json::to_string(&schemars::schema_for!(Document)).unwrap();
    assert!(!schema.contains("oneOf") && !schema.contains("anyOf"), "{schema}");
}

const MARKS: &str = "(\\PC|[-*_`~#>+|=:.()\\[\\]!<&;^\\\\0-9a-z \t\n]|\n\n|\n- |\n  |\n1\\. |\n> |```|\\| |---|\\*\\*){0,60}";

proptest! {
    #[test]
    fn markdown_is_stable_after_one_pass(text in MARKS) {
        let written = once(&text);
        assert_eq!(once(&written), written, "of {text:?}");
    }

    #[test]
    fn documents_of_any_text_are_stable(texts in prop::collection::vec(any::<String>(), 1..6), level in 0_u8..9) {
        let block = |(at, text): (usize, &String)| match at {
            0 => Block::Quote { text: text.clone() },
            1 => Block::List { items: vec![Item { text: text.clone(), level, number: Some(7) }] },
            2 => Block::Code { language: text.clone(), text: text.clone() },
            3 => Block::Table { header: vec![text.clone()], rows: vec![Vec::new()], alignments: Vec::new() },
            4 => Block::Footnote { label: text.clone(), text: text.clone() },
            _ => Block::Paragraph { text: text.clone() },
        };
        let blocks = texts.iter().enumerate().map(block).collect();
        let heading = texts[0].clone();
        let document = Document {
            title: heading.clone(),
            sections: vec![Section { heading, level, blocks }],
            references: Vec::new(),
        };
        let written = to_markdown(&document);
        assert_eq!(once(&written), written);
        let html = to_html(&document);
        assert_eq!(html.matches("<script").count(), 0);
    }
}

#[test]
fn a_label_ends_before_the_next_bracket() {
    assert_eq!(crate::end_of_label("a] [^b]"), Some(1));
    assert_eq!(crate::end_of_label("a[^b]"), None);
    assert_eq!(crate::end_of_label("a"), None);
}
