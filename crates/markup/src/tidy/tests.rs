use proptest::prelude::{Just, prop, prop_oneof, proptest};
use proptest::strategy::Strategy;

use super::{TidyOptions, TidyStyle, source_changes, tidy};
use crate::{Alignment, Block, Document, Section, from_markdown, to_markdown};

fn tidied(markdown: &str, options: TidyOptions) -> (String, Vec<(&'static str, usize)>) {
    let tidied = tidy(from_markdown(markdown), options);
    let changes = tidied.changes.iter().map(|change| (change.kind, change.count)).collect();
    (to_markdown(&tidied.document), changes)
}

#[test]
fn levels_go_one_step_at_a_time() {
    let (text, changes) =
        tidied("# T\n\n### A\n\n##### B\n\n### C\n\n## D\n", TidyOptions::default());
    assert_eq!(text, "# T\n\n## A\n\n### B\n\n## C\n\n## D\n");
    assert_eq!(changes, [("heading_levels", 3)]);
    let (text, changes) = tidied("## A\n\n### B\n\n## C\n", TidyOptions::default());
    assert_eq!((text.as_str(), changes.len()), ("## A\n\n### B\n\n## C\n", 0));
}

#[test]
fn headings_are_numbered_and_listed() {
    let options = TidyOptions { toc: true, number_headings: true, ..TidyOptions::default() };
    let (text, changes) = tidied("# T\n\nIntro.\n\n## A\n\n### B\n\n## 2. C\n\n## A\n", options);
    assert_eq!(
        text,
        "# T\n\n- [1 A](#1-a)\n  - [1.1 B](#11-b)\n- [2. C](#2-c)\n- [3 A](#3-a)\n\nIntro.\n\n## 1 A\n\n### 1.1 B\n\n## 2. C\n\n## 3 A\n"
    );
    assert_eq!(changes, [("headings_numbered", 3), ("toc_entries", 4)]);
    let (text, _) = tidied("## A\n\n## A\n", TidyOptions { toc: true, ..TidyOptions::default() });
    assert!(text.starts_with("- [A](#a)\n- [A](#a-1)\n"), "{text}");
}

#[test]
fn a_letter_has_no_headings_and_a_plain_text_no_emphasis() {
    let letter = TidyOptions { style: TidyStyle::Letter, ..TidyOptions::default() };
    let (text, changes) = tidied("# Your *order*\n\nDear A,\n\n## B\n\nyes\n", letter);
    assert_eq!(text, "**Your *order***\n\nDear A,\n\n**B**\n\nyes\n");
    assert_eq!(changes, [("headings_to_bold", 2)]);
    let plain = TidyOptions { style: TidyStyle::Plain, ..TidyOptions::default() };
    let (text, changes) = tidied("A **bold** *word*, [x](https://e.org)\n\n- *b*\n", plain);
    assert_eq!(text, "A bold word, [x](https://e.org)\n\n- b\n");
    assert_eq!(changes, [("emphasis_removed", 3)]);
}

#[test]
fn changes_to_the_source_are_counted() {
    let markdown = "Title\n=====\n\n\n\n* a\n+ b\n\n1) c\n\n## H ##\n\n|a|b|\n|-|-|\n|1|2|\n\n```\n* code\n\n\n```\ntrailing \n";
    let document = from_markdown(markdown);
    let changes = source_changes(markdown, &document);
    let changes: Vec<_> = changes.iter().map(|change| (change.kind, change.count)).collect();
    assert_eq!(
        changes,
        [
            ("list_markers", 3),
            ("heading_marks", 1),
            ("blank_lines", 2),
            ("trailing_spaces", 1),
            ("table_alignment", 1)
        ]
    );
    let clean = to_markdown(&document);
    assert_eq!(source_changes(&clean, &from_markdown(&clean)), []);
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn block() -> impl Strategy<Value = String> {
    let line =
        || prop::collection::vec("[a-zäß]{1,8}[,.!]?", 1..8).prop_map(|words| words.join(" "));
    prop_oneof![
        (line(), 1_usize..7).prop_map(|(text, level)| format!("{} {text}", "#".repeat(level))),
        line(),
        (line(), line()).prop_map(|(a, b)| format!("* {a}\n   + {b}")),
        (line(), line()).prop_map(|(a, b)| format!("1) {a}\n2) **{b}**")),
        line().prop_map(|text| format!("> {text}")),
        (line(), line()).prop_map(|(a, b)| format!("|{a}|{b}|\n|-|:-:|\n|{b}|{a}|")),
        line().prop_map(|text| format!("~~~\n{text}\n~~~")),
        Just("---".to_owned()),
    ]
}

proptest! {
    #[test]
    fn words_are_unchanged(
        blocks in prop::collection::vec(block(), 1..8),
        style in prop_oneof![Just(TidyStyle::Report), Just(TidyStyle::Letter), Just(TidyStyle::Article), Just(TidyStyle::Plain)],
    ) {
        let markdown = blocks.join("\n\n\n");
        let (text, _) = tidied(&markdown, TidyOptions { style, ..TidyOptions::default() });
        // Numbers are those of lists.
        let words_of = |text: &str| words(text).into_iter().filter(|word| word.parse::<u32>().is_err()).collect::<Vec<_>>();
        assert_eq!(words_of(&text), words_of(&markdown), "{markdown}\n->\n{text}");
    }
}

#[test]
fn many_headings_and_tables_take_time_in_proportion() {
    let section = |at: u32| Section { heading: format!("a{at}"), level: 1, blocks: Vec::new() };
    let headings = Document { sections: (0..80_000).map(section).collect(), ..Document::default() };
    let cells = || vec!["a".to_owned(), "b".to_owned()];
    let table =
        Block::Table { header: cells(), rows: Vec::new(), alignments: vec![Alignment::None; 2] };
    let tables = Section { blocks: vec![table; 60_000], level: 1, ..Section::default() };
    let tables = Document { sections: vec![tables], ..Document::default() };
    let started = std::time::Instant::now();
    let tidied = tidy(headings, TidyOptions { toc: true, ..TidyOptions::default() });
    assert_eq!(tidied.outline.len(), 80_000);
    let changes = source_changes(&"a|b\n-|-\n\n".repeat(60_000), &tables);
    assert!(changes.iter().any(|it| (it.kind, it.count) == ("table_alignment", 60_000)));
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
