use super::{find, is_page_number, pattern};
use crate::lines::Line;
use crate::page::{Edge, Page};

fn edge(text: &str, height: f64) -> Edge {
    let line =
        Line { text: text.to_owned(), x: (50.0, 300.0), y: height * 800.0, size: 9.0, mono: false };
    Edge { line, artifact: false, height }
}

fn page(top: &[&str], bottom: &[&str]) -> Page {
    Page {
        top: top.iter().map(|text| edge(text, 0.05)).collect(),
        bottom: bottom.iter().map(|text| edge(text, 0.95)).collect(),
        ..Page::default()
    }
}

#[test]
fn page_numbers_are_known_on_a_single_page() {
    for line in ["7", "– 7 –", "Page 7 of 12", "vii", "Seite 3", "3 / 10", "p. 4"] {
        assert!(is_page_number(line), "{line}");
    }
    for line in ["Chapter 7", "2026 was a good year", "12345", "", "–", "of", "1 2 3"] {
        assert!(!is_page_number(line), "{line}");
    }
    let found = find(&[page(&["A title"], &["Page 1"])]);
    assert_eq!((found.top, found.bottom), (vec![vec![false]], vec![vec![true]]));
}

#[test]
fn lines_that_repeat_on_other_pages_are_furniture() {
    assert_eq!(pattern("Report | Chapter 12 (iv)"), "report | chapter # #");
    let pages = [
        page(&["Report, chapter 1"], &["The last line of a short page."]),
        page(&["Report, chapter 2"], &["Another line."]),
    ];
    let found = find(&pages);
    assert_eq!(found.top, vec![vec![true], vec![true]]);
    assert_eq!(found.bottom, vec![vec![false], vec![false]]);
}

#[test]
fn a_head_may_change_if_it_stays_where_it_is() {
    let pages = [page(&["One"], &[]), page(&["Two"], &[]), page(&["Three"], &[])];
    assert_eq!(find(&pages).top, vec![vec![true]; 3]);
    let pages = [page(&["One"], &[]), page(&["Two"], &[])];
    assert_eq!(find(&pages).top, vec![vec![false]; 2]);
}
