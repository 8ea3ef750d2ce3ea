use proptest::prelude::{any, proptest};

use super::{MAX_BYTES, read};

#[test]
fn a_fenced_block_is_metadata() {
    let text = "---\ntitle: \"A: b\"\nauthor:\n  - Ann Lee\n  - 'Bo Kim'\ndate: 2024-05-03T10:00:00Z\npublisher: The Press\n\
                url: https://example.org/a b\nlang: de\ndoi: https://doi.org/10.1234/ab.c\ndraft: false\n---\n\n# A: b\n";
    let (meta, start) = read(text).unwrap();
    assert_eq!(meta.title.as_deref(), Some("A: b"));
    assert_eq!(meta.author.as_deref(), Some("Ann Lee, Bo Kim"));
    assert_eq!(meta.published.as_deref(), Some("2024-05-03"));
    assert_eq!(meta.site.as_deref(), Some("The Press"));
    assert_eq!(meta.canonical.as_deref(), Some("https://example.org/a%20b"));
    assert_eq!(meta.language.as_deref(), Some("de"));
    assert_eq!(meta.doi.as_deref(), Some("10.1234/ab.c"));
    assert_eq!(&text[start..], "# A: b\n");
}

#[test]
fn dates_are_kept_as_far_as_they_are_known() {
    for (written, known) in [
        ("2019", Some("2019")),
        ("2018-08", Some("2018-08")),
        ("March 2024", Some("2024-03")),
        ("3 May 2021", Some("2021-05-03")),
        ("2018-13", None),
        ("soon", None),
    ] {
        let text = format!("---\ntitle: A\ndate: {written}\n---\nText.\n");
        assert_eq!(read(&text).unwrap().0.published.as_deref(), known, "{written}");
    }
    let german = "Titel: Räder\nAutor: Ann Lee\nDatum: 2023-01-09\n\nText.\n";
    let (meta, _) = read(german).unwrap();
    assert_eq!((meta.title.as_deref(), meta.author.as_deref()), (Some("Räder"), Some("Ann Lee")));
    assert_eq!(super::first_heading("\n# Cool roofs #\n\nText."), Some("Cool roofs".to_owned()));
    assert_eq!(super::first_heading("Text.\n\n# Later"), None);
}

#[test]
fn lines_of_fields_are_metadata() {
    let text =
        "Title: Two definitions\nAuthors: [Ann Lee, Bo Kim]\r\nDate: 2023-01-09\n\nBody: text.\n";
    let (meta, start) = read(text).unwrap();
    assert_eq!(meta.title.as_deref(), Some("Two definitions"));
    assert_eq!(meta.author.as_deref(), Some("Ann Lee, Bo Kim"));
    assert_eq!(meta.published.as_deref(), Some("2023-01-09"));
    assert_eq!(&text[start..], "Body: text.\n");
}

#[test]
fn other_beginnings_are_text() {
    let endless = format!("---\ntitle: {}\n---\n", "a".repeat(MAX_BYTES));
    for text in [
        "",
        "---",
        "---\n\nA rule above a paragraph.\n\n---\n",
        "---\nname: only\n---\n",
        "---\ntitle: never closed\n",
        "---\n- title: a list\n---\n",
        "---\ntitle: a rule\nand a paragraph\n---\n",
        "Title: one line alone\n\nText.",
        "Note: this\nTitle: is not first\n\nText.",
        "Title: a\nfollowed by prose.\n\nText.",
        "# Title: b\nDate: 2023-01-09\n",
        endless.as_str(),
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn only_web_addresses_and_clear_dates_count() {
    let (meta, _) =
        read("---\ntitle: A\nurl: javascript:alert(1)\ndate: 03/05/2024\n---\n").unwrap();
    assert_eq!((meta.canonical, meta.published), (None, None));
}

proptest! {
    #[test]
    fn the_rest_begins_within_any_text(text in any::<String>(), title in "[^\n]{0,40}") {
        let text = format!("---\ntitle: {title}\n{text}\n---\n{text}");
        if let Some((_, start)) = read(&text) {
            assert!(text.is_char_boundary(start));
        }
    }
}
