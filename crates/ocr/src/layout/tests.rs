use proptest::prelude::{Just, Strategy, any, prop_assert_eq, proptest};

use super::Layout;
use crate::marks::Dashes;
use crate::word::{Fragment, Word};

/// A line of words of ten pixels for each character, at a place.
fn line(text: &str, left: f64, top: f64) -> Fragment {
    let mut x = left;
    let words = text.split(' ').map(|text| {
        let right = x + 10.0 * text.len() as f64;
        let word =
            Word { text: text.to_owned(), bbox: [x, top, right, top + 20.0], confidence: 0.9 };
        x = right + 10.0;
        word
    });
    Fragment { words: words.collect() }
}

fn text(fragments: Vec<Fragment>) -> String {
    Layout::of(fragments, &[]).text()
}

#[test]
fn columns_of_prose_are_read_one_after_the_other() {
    let mut fragments = Vec::new();
    for row in 0..4 {
        let top = f64::from(row) * 30.0;
        fragments.push(line("right side of text", 400.0, top));
        fragments.push(line("left side of text", 0.0, top));
    }
    let read = text(fragments);
    assert!(read.find("right").unwrap() > read.rfind("left").unwrap(), "{read}");
}

#[test]
fn a_heading_over_columns_is_read_first() {
    let mut fragments = vec![line("a heading that goes over both of the columns here", 100.0, 0.0)];
    for row in 1..5 {
        let top = f64::from(row) * 30.0;
        fragments.push(line("left side of text", 0.0, top));
        fragments.push(line("right side of text", 400.0, top));
    }
    let read = text(fragments);
    assert!(read.starts_with("a heading"), "{read}");
    assert!(read.find("right").unwrap() > read.rfind("left").unwrap(), "{read}");
}

#[test]
fn rows_of_a_receipt_are_read_across() {
    let rows = [("2 x tea", "4.20"), ("1 x cheese toast", "7.25"), ("3 x water", "5.70")];
    let fragments = rows.iter().zip(0u8..).flat_map(|((what, price), row)| {
        let top = f64::from(row) * 30.0;
        [line(price, 400.0, top), line(what, 0.0, top)]
    });
    assert_eq!(text(fragments.collect()), "2 x tea 4.20\n1 x cheese toast 7.25\n3 x water 5.70");
}

#[test]
fn paragraphs_have_an_empty_line_between_them() {
    let fragments = vec![line("one", 0.0, 0.0), line("two", 0.0, 30.0), line("three", 0.0, 110.0)];
    assert_eq!(text(fragments), "one\ntwo\n\nthree");
}

#[test]
fn dashes_replace_what_an_engine_made_of_them_but_no_words() {
    let dashes = Dashes { left: 0, top: 38, right: 200, bottom: 42, count: 20, sign: '-' };
    let above = line("above", 0.0, 0.0);
    let read =
        |middle: &str| Layout::of(vec![above.clone(), line(middle, 0.0, 30.0)], &[dashes]).text();
    assert_eq!(read("~_"), format!("above\n{}", "-".repeat(20)));
    assert_eq!(read("words"), "above\nwords");
    assert_eq!(
        Layout::of(vec![above.clone()], &[dashes]).text(),
        format!("above\n{}", "-".repeat(20))
    );
}

proptest! {
    #[test]
    fn no_word_is_lost_or_doubled(
        fragments in proptest::collection::vec(
            (Just("some words here"), 0.0..1000.0f64, 0.0..1000.0f64, any::<bool>())
                .prop_map(|(text, left, top, long)| line(if long { text } else { "one" }, left, top)),
            0..40,
        )
    ) {
        let expected: usize = fragments.iter().map(|fragment| fragment.words.len()).sum();
        prop_assert_eq!(Layout::of(fragments, &[]).words().count(), expected);
    }
}
