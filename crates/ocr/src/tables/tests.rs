use super::find;
use crate::layout::Layout;
use crate::marks::Rule;
use crate::word::{Fragment, Word};

fn word(text: &str, left: f64, top: f64) -> Fragment {
    let right = left + 10.0 * text.len() as f64;
    let word =
        Word { text: text.to_owned(), bbox: [left, top, right, top + 20.0], confidence: 1.0 };
    Fragment { words: vec![word] }
}

fn level(left: usize, right: usize, top: usize) -> Rule {
    Rule { left, top, right, bottom: top + 2, vertical: false }
}

fn upright(x: usize, top: usize, bottom: usize) -> Rule {
    Rule { left: x, top, right: x + 2, bottom, vertical: true }
}

#[test]
fn ruled_cells_hold_the_words_between_the_lines() {
    // The first row is one cell over both columns.
    let rules = [
        level(0, 400, 0),
        level(0, 400, 40),
        level(0, 400, 80),
        upright(0, 0, 82),
        upright(200, 40, 82),
        upright(400, 0, 82),
    ];
    let words =
        vec![word("Prices", 20.0, 10.0), word("tea", 20.0, 50.0), word("4.20", 220.0, 50.0)];
    let tables = find(&Layout::of(words, &[]), &rules, 12.0);
    assert_eq!(tables.len(), 1, "{tables:?}");
    assert!(tables[0].ruled);
    assert_eq!(tables[0].rows(), [["Prices", ""], ["tea", "4.20"]]);
    assert_eq!(tables[0].cells[0].column_end, 1);
    assert_eq!(tables[0].markdown(), "| Prices |  |\n| --- | --- |\n| tea | 4.20 |\n");
}

#[test]
fn aligned_words_are_a_table_and_prose_is_none() {
    let mut words = Vec::new();
    for (row, (name, price)) in
        [("tea", "4.20"), ("toast", "7.25"), ("water", "5.70")].iter().enumerate()
    {
        words.push(word(name, 0.0, 30.0 * row as f64));
        words.push(word(price, 300.0, 30.0 * row as f64));
    }
    let tables = find(&Layout::of(words, &[]), &[], 12.0);
    assert_eq!(tables.len(), 1);
    assert!(!tables[0].ruled);
    assert_eq!(tables[0].rows(), [["tea", "4.20"], ["toast", "7.25"], ["water", "5.70"]]);

    let prose = (0..5).map(|row| word("words", 0.0, 30.0 * f64::from(row))).collect();
    assert!(find(&Layout::of(prose, &[]), &[], 12.0).is_empty());
}

#[test]
fn a_frame_around_text_is_no_table() {
    let rules = [level(0, 400, 0), level(0, 400, 80), upright(0, 0, 82), upright(400, 0, 82)];
    let words = vec![word("framed", 20.0, 10.0), word("text", 20.0, 50.0)];
    assert!(find(&Layout::of(words, &[]), &rules, 12.0).is_empty());
}
