//! Running heads, running feet and page numbers: lines at the edges of pages that are no part of the text.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::page::{Edge, Page};

/// Lines at heights that differ by less than this share of the page are at the same height.
const HEIGHT: f64 = 0.012;

/// Whether each line at the top and at the bottom of each page is furniture.
#[derive(Debug, Default)]
pub(super) struct Furniture {
    pub(super) top: Vec<Vec<bool>>,
    pub(super) bottom: Vec<Vec<bool>>,
}

/// Finds running heads and feet by what repeats from page to page.
pub(super) fn find(pages: &[Page]) -> Furniture {
    let tops: Vec<&[Edge]> = pages.iter().map(|page| page.top.as_slice()).collect();
    let bottoms: Vec<&[Edge]> = pages.iter().map(|page| page.bottom.as_slice()).collect();
    // A page number is at the outer end: nothing is above the first line or below the last.
    Furniture {
        top: find_repeated(&tops, |_, at| at == 0),
        bottom: find_repeated(&bottoms, |edges, at| at + 1 == edges.len()),
    }
}

fn find_repeated(
    pages: &[&[Edge]],
    is_outermost: impl Fn(&[Edge], usize) -> bool,
) -> Vec<Vec<bool>> {
    let mut texts: HashMap<String, Vec<f64>> = HashMap::new();
    let mut places: HashMap<(i64, i64), usize> = HashMap::new();
    for edge in pages.iter().copied().flatten() {
        texts.entry(pattern(&edge.line.text)).or_default().push(edge.height);
        *places.entry(place(edge)).or_default() += 1;
    }
    let repeats = |edge: &Edge| {
        let heights = texts.get(&pattern(&edge.line.text)).map(Vec::as_slice).unwrap_or_default();
        let same = heights.iter().take(1000);
        same.filter(|height| (**height - edge.height).abs() < HEIGHT).count() > 1
    };
    // A chapter's title changes from page to page, but not its position.
    let is_there = |edge: &Edge| {
        let (height, size) = place(edge);
        let near = (height - 1..=height + 1).filter_map(|height| places.get(&(height, size)));
        pages.len() >= 3 && near.sum::<usize>() * 10 >= pages.len() * 6 && is_short(&edge.line.text)
    };
    pages
        .iter()
        .map(|edges| {
            (0..edges.len())
                .map(|at| {
                    let edge = &edges[at];
                    edge.artifact
                        || repeats(edge)
                        || is_there(edge)
                        || (is_outermost(edges, at) && is_page_number(&edge.line.text))
                })
                .collect()
        })
        .collect()
}

fn place(edge: &Edge) -> (i64, i64) {
    ((edge.height / HEIGHT).round() as i64, (edge.line.size * 2.0).round() as i64)
}

/// A line without its numbers.
fn pattern(line: &str) -> String {
    let words = line.split_whitespace().map(|word| {
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric());
        if is_roman(bare) { "#".to_owned() } else { digits_as_one(&word.to_lowercase()) }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn digits_as_one(word: &str) -> String {
    let mut out = String::new();
    for character in word.chars() {
        match character {
            character if character.is_numeric() => {
                if !out.ends_with('#') {
                    out.push('#');
                }
            }
            character => out.push(character),
        }
    }
    out
}

fn is_roman(word: &str) -> bool {
    (1..=7).contains(&word.len()) && word.bytes().all(|byte| b"ivxlc".contains(&byte))
}

/// A heading rather than a sentence.
fn is_short(line: &str) -> bool {
    line.split_whitespace().count() <= 14 && !line.trim_end().ends_with(['.', ',', ';', '-'])
}

/// Whether a line is nothing but a page number: `7`, `– 7 –`, `Page 7 of 12`, `vii`.
pub(super) fn is_page_number(line: &str) -> bool {
    const WORDS: [&str; 24] = [
        "page",
        "pages",
        "p",
        "pg",
        "of",
        "seite",
        "von",
        "página",
        "pagina",
        "pág",
        "pag",
        "de",
        "sur",
        "di",
        "sida",
        "side",
        "strona",
        "z",
        "strana",
        "стр",
        "страница",
        "из",
        "no",
        "nr",
    ];
    let mut numbers = 0;
    for word in line.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        if word.chars().all(char::is_numeric) && word.len() <= 4 || is_roman(&lower) {
            numbers += 1;
        } else if !WORDS.contains(&lower.as_str()) {
            return false;
        }
    }
    (1..=2).contains(&numbers)
}
