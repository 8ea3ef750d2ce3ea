use documents::{Extracted, Form, Limits, Options};
use markup::{Alignment, Block, Document, Item, Reference, Section, escape_line, from_markdown};
use proptest::prelude::*;

use crate::{Layout, PageSize, Pdf, Style, TypesetError, to_pdf};

/// A picture of one red pixel.
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

const REPORT: &str = "# Quarterly report

An opening with *emphasis*, **weight**, `code()` and [a link](https://example.org/page).[^1]

## Figures of the year

| Region | Revenue | State |
| --- | ---: | :-: |
| North | 1,200 | open |
| South | 800 | closed |

### Steps

1. First step
2. Second step
   - a detail
   - another detail

> A quoted sentence.
>
> Its second paragraph.

```rust
fn main() { println!(\"#import\"); }
```

---

[^1]: The note below the page.
";

fn read_back(pdf: &Pdf) -> Extracted {
    let options =
        Options { media_type: "application/pdf", charset: None, url: None, form: Form::Text };
    documents::extract(pdf.bytes.clone(), &options, &Limits::default()).expect("a readable PDF")
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn paragraph(text: &str) -> Document {
    let blocks = vec![Block::Paragraph { text: text.to_owned() }];
    Document {
        sections: vec![Section { heading: String::new(), level: 1, blocks }],
        ..Document::default()
    }
}

fn one_block(block: Block) -> Document {
    let section = Section { heading: "Heading".to_owned(), level: 2, blocks: vec![block] };
    Document { sections: vec![section], ..Document::default() }
}

#[test]
fn every_kind_of_block_is_set_and_read_back() {
    for style in [Style::Report, Style::Letter, Style::Article, Style::Plain] {
        let layout = Layout { style, ..Layout::default() };
        let pdf = to_pdf(&from_markdown(REPORT), &layout).expect("a PDF");
        assert_eq!((pdf.pages, &pdf.warnings[..]), (1, &[][..]), "{style:?}");
        let text = read_back(&pdf).text;
        let found = words(&text).join(" ");
        for expected in [
            "Quarterly report",
            "An opening with emphasis, weight, code() and a link.",
            "Figures of the year",
            "North 1,200 open",
            "1. First step",
            "another detail",
            "A quoted sentence.",
            "Its second paragraph.",
            "fn main() { println!(\"#import\"); }",
            "The note below the page.",
        ] {
            assert!(found.contains(expected), "{style:?}: no {expected:?} in {text}");
        }
    }
}

#[test]
fn the_words_of_paragraphs_are_unchanged_over_pages() {
    let sentence = "Effiziente Büroflächen kosten im Straßenverkehrsamt höchstens 4,5 %; Łódź, São Paulo, Αθήνα und Москва folgen. ";
    let text = sentence.repeat(200);
    for style in [Style::Report, Style::Letter, Style::Plain] {
        let layout = Layout { style, language: Some("de".to_owned()), ..Layout::default() };
        let pdf = to_pdf(&paragraph(&text), &layout).expect("a PDF");
        assert!(pdf.pages > 2, "{} pages", pdf.pages);
        assert_eq!(pdf.warnings, Vec::<String>::new());
        let mut found = words(&read_back(&pdf).text);
        // The numbers of the pages.
        found.retain(|word| word.len() > 1 || word == "%");
        assert_eq!(found, words(&text), "{style:?}");
    }
}

#[test]
fn properties_of_the_file_are_set() {
    let layout = Layout {
        author: Some("Jane \"JD\" Doe".to_owned()),
        language: Some("pt".to_owned()),
        page: PageSize::Letter,
        ..Layout::default()
    };
    let pdf = to_pdf(&from_markdown(REPORT), &layout).expect("a PDF");
    let meta = read_back(&pdf).meta;
    assert_eq!(meta.title.as_deref(), Some("Quarterly report"));
    assert_eq!(meta.author.as_deref(), Some("Jane \"JD\" Doe"));
    let raw = String::from_utf8_lossy(&pdf.bytes);
    assert!(raw.contains("/Lang(pt)"), "the language is not set");
    assert!(raw.contains("/StructTreeRoot"), "the file is not tagged");
}

#[test]
fn an_unknown_language_is_english() {
    for language in ["", "Deutsch", "d\"e", "EN", "en-US"] {
        let layout = Layout { language: Some(language.to_owned()), ..Layout::default() };
        let pdf = to_pdf(&paragraph("Text"), &layout).expect("a PDF");
        assert!(String::from_utf8_lossy(&pdf.bytes).contains("/Lang(en)"), "{language:?}");
    }
}

#[test]
fn a_table_of_contents_and_numbers_are_added() {
    let layout = Layout { toc: true, number_headings: true, ..Layout::default() };
    let text = read_back(&to_pdf(&from_markdown(REPORT), &layout).expect("a PDF")).text;
    assert!(text.contains("Contents"), "{text}");
    assert!(text.contains("1.1 Steps"), "{text}");
}

#[test]
fn references_are_listed() {
    let reference = Reference {
        authors: vec!["Doe, Jane".to_owned()],
        year: Some("2020".to_owned()),
        title: Some("On pages".to_owned()),
        ..Reference::default()
    };
    let document = Document { references: vec![reference], ..paragraph("Text") };
    let text = read_back(&to_pdf(&document, &Layout::default()).expect("a PDF")).text;
    assert!(words(&text).join(" ").contains("[1] Doe, Jane. (2020). On pages."), "{text}");
}

#[test]
fn characters_without_a_glyph_are_named() {
    let pdf = to_pdf(&paragraph("Beijing 北京 and Athens Αθήνα ✓ → ≤"), &Layout::default());
    let warnings = pdf.expect("a PDF").warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].ends_with("boxes: 京 北"), "{warnings:?}");
}

#[test]
fn pictures_are_drawn_or_replaced_by_their_text() {
    let image = |url: &str| Block::Image { url: url.to_owned(), alt: "A *red* dot".to_owned() };
    let drawn = to_pdf(&one_block(image(PIXEL)), &Layout::default()).expect("a PDF");
    assert_eq!(drawn.warnings, Vec::<String>::new());
    assert!(String::from_utf8_lossy(&drawn.bytes).contains("/Subtype/Image"), "no picture");
    for (url, why) in [
        ("https://example.org/dot.png", "nothing is fetched"),
        ("file:///etc/passwd", "nothing is fetched"),
        ("data:image/png;base64,iVBORw0KGgo=", "damaged"),
        ("data:image/png;base64,!!", "damaged"),
        ("data:image/svg+xml;base64,PHN2Zy8+", "no PNG"),
        ("data:image/png,abc", "not in base64"),
        ("data:", "no comma"),
        ("é", "nothing is fetched"),
    ] {
        let pdf = to_pdf(&one_block(image(url)), &Layout::default()).expect("a PDF");
        assert!(pdf.warnings[0].contains(why), "{url}: {:?}", pdf.warnings);
        assert!(read_back(&pdf).text.contains("A *red* dot"), "{url}");
    }
}

#[test]
fn deep_lists_and_ragged_tables_are_set() {
    let item = |level: u8| Item { text: format!("item{level}"), level, number: None };
    let items = (0..=64).chain([0, 9, 200]).map(item).collect();
    let pdf = to_pdf(&one_block(Block::List { items }), &Layout::default()).expect("a PDF");
    let text = read_back(&pdf).text;
    assert!(text.contains("item64") && text.contains("item200"), "{text}");

    let row = |cells: usize| vec!["cell".to_owned(); cells];
    let table = Block::Table {
        header: row(2),
        rows: vec![row(5), row(0), row(1)],
        alignments: vec![Alignment::Right],
    };
    let pdf = to_pdf(&one_block(table), &Layout::default()).expect("a PDF");
    assert_eq!(read_back(&pdf).text.matches("cell").count(), 8);

    let empty = Block::Table { header: Vec::new(), rows: Vec::new(), alignments: Vec::new() };
    to_pdf(&one_block(empty), &Layout::default()).expect("a PDF");
    to_pdf(&Document::default(), &Layout::default()).expect("an empty page");
}

#[test]
fn a_footnote_that_is_named_twice_is_set_once() {
    let text = "One[^a] and two[^a] and [^b].\n\n[^a]: The *note*[^a].\n";
    let text = read_back(&to_pdf(&from_markdown(text), &Layout::default()).expect("a PDF")).text;
    assert_eq!(text.matches("The note").count(), 1, "{text}");
    assert!(text.contains("[^b]"), "{text}");
}

#[test]
fn limits_are_kept() {
    let wide =
        Block::Table { header: vec![String::new(); 65], rows: Vec::new(), alignments: Vec::new() };
    let refused = to_pdf(&one_block(wide), &Layout::default()).expect_err("too many columns");
    assert_eq!(refused, TypesetError::TooLarge { what: "columns in a table", limit: 64 });
    let long = Block::Paragraph { text: "a".repeat((16 << 20) + 1) };
    let refused = to_pdf(&one_block(long), &Layout::default()).expect_err("too long");
    assert_eq!(refused.kind(), "too_large");
    let items = vec![Item::default(); 200_001];
    let refused = to_pdf(&one_block(Block::List { items }), &Layout::default());
    assert_eq!(refused.expect_err("too many items").kind(), "too_large");
}

/// Texts with all that means something in typst.
fn hostile() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "#import \"@preview/x:1.0.0\": *",
        "#read(\"/etc/passwd\")",
        "\"",
        "\\",
        "\\\"",
        "$x^2$",
        "@ref",
        "<label>",
        "#{",
        "}",
        "]",
        "[",
        "*",
        "_",
        "`",
        "```",
        "//",
        "/*",
        "= Heading",
        "- item",
        "+ item",
        "~",
        "---",
        "'",
        "\u{202e}",
        "\u{0}",
        "\u{7}",
        "é",
        "ß",
        "Ж",
        "漢",
        "🙂",
        "e\u{301}",
        "\u{200b}",
        "\u{feff}",
        "a",
        "b c",
        "\\u{41}",
        "{\"",
        "\n",
    ]);
    prop::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Every text can be set wherever a text can be; none is run.
    #[test]
    fn no_text_is_code(text in hostile()) {
        let line = escape_line(&text.replace(['\n', '\0'], " "));
        let blocks = vec![
            Block::Paragraph { text: line.clone() },
            Block::Paragraph { text: text.clone() },
            Block::Code { language: text.clone(), text: text.clone() },
            Block::Quote { text: text.clone() },
            Block::List { items: vec![Item { text: text.clone(), level: 3, number: Some(u32::MAX) }] },
            Block::Table { header: vec![text.clone()], rows: vec![vec![text.clone(), line.clone()]], alignments: Vec::new() },
            Block::Image { url: text.clone(), alt: text.clone() },
            Block::Footnote { label: text.clone(), text: format!("{text} [^{text}]") },
            Block::Paragraph { text: format!("[^{text}]") },
        ];
        let document = Document {
            title: text.clone(),
            sections: vec![Section { heading: text.clone(), level: 1, blocks }],
            references: vec![Reference { text: text.clone(), ..Reference::default() }],
        };
        let layout = Layout {
            title: Some(text.clone()),
            author: Some(text.clone()),
            language: Some(text.clone()),
            toc: true,
            ..Layout::default()
        };
        let pdf = to_pdf(&document, &layout);
        prop_assert!(pdf.is_ok(), "{:?}", pdf.map(|pdf| pdf.pages));
    }

    /// Printable ASCII is read back as it was given.
    #[test]
    fn text_is_shown_as_it_is(text in "[!-~]([ !-~]{0,50}[!-~])?") {
        let layout = Layout { style: Style::Plain, ..Layout::default() };
        let pdf = to_pdf(&paragraph(&escape_line(&text)), &layout).expect("a PDF");
        prop_assert_eq!(words(&read_back(&pdf).text).join(" "), words(&text).join(" "));
    }
}
