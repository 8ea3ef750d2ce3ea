use super::{Paragraph, paragraphs, push_or_join};
use crate::lines::Line;
use crate::marker::Marker;
use crate::regions::Block;

fn line(text: &str, x: f64, y: f64) -> Line {
    Line { text: text.to_owned(), x: (x, x + 300.0), y, size: 10.0, mono: false }
}

fn texts(paragraphs: &[Paragraph]) -> Vec<String> {
    let text = |paragraph: &Paragraph| match paragraph {
        Paragraph::Text { lines, .. } => lines.join("/"),
        Paragraph::Item { lines, .. } => format!("- {}", lines.join("/")),
        Paragraph::Code { lines } => format!("code {}", lines.join("/")),
        Paragraph::Table { rows } => format!("{rows:?}"),
    };
    paragraphs.iter().map(text).collect()
}

#[test]
fn a_gap_or_an_indent_starts_a_paragraph() {
    let lines = vec![
        line("One", 50.0, 100.0),
        line("goes on.", 50.0, 112.0),
        line("Two by its indent", 65.0, 124.0),
        line("goes on.", 50.0, 136.0),
        line("Three by the gap", 50.0, 160.0),
    ];
    let found = paragraphs(&[Block::Lines(lines)]);
    assert_eq!(texts(&found), ["One/goes on.", "Two by its indent/goes on.", "Three by the gap"]);
}

#[test]
fn list_items_are_paragraphs_of_their_own() {
    let lines = vec![
        line("As follows:", 50.0, 100.0),
        line("• one item", 60.0, 112.0),
        line("that is long", 70.0, 124.0),
        line("2. another", 60.0, 136.0),
    ];
    let found = paragraphs(&[Block::Lines(lines)]);
    assert_eq!(texts(&found), ["As follows:", "- • one item/that is long", "- 2. another"]);
    assert!(matches!(found[2], Paragraph::Item { marker: Marker::Number(2), .. }));
}

#[test]
fn a_sentence_goes_on_in_the_next_column() {
    let columns = [
        Block::Lines(vec![line("A sentence that", 50.0, 100.0)]),
        Block::Lines(vec![line("does not end", 300.0, 50.0), line("here.", 300.0, 62.0)]),
        Block::Lines(vec![line("Another.", 50.0, 200.0)]),
    ];
    let found = paragraphs(&columns);
    assert_eq!(texts(&found), ["A sentence that/does not end/here.", "Another."]);
    let mut all =
        vec![Paragraph::Text { lines: vec!["Ends.".to_owned()], size: 10.0, boxed: false }];
    push_or_join(
        &mut all,
        Paragraph::Text { lines: vec!["new".to_owned()], size: 10.0, boxed: false },
    );
    assert_eq!(all.len(), 2);
}

#[test]
fn code_keeps_its_indents() {
    let mono = |text, x, y| Line { mono: true, ..line(text, x, y) };
    let lines = vec![
        mono("fn main() {", 50.0, 100.0),
        mono("call();", 74.0, 112.0),
        mono("}", 50.0, 124.0),
        line("Text again.", 50.0, 150.0),
    ];
    let found = paragraphs(&[Block::Lines(lines)]);
    assert_eq!(texts(&found), ["code fn main() {/    call();/}", "Text again."]);
}
