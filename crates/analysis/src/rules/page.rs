//! The text that rules are judged on: its headings, paragraphs and sentences.

use std::cell::OnceCell;
use std::ops::Range;

use language::prose::{Language, sentences};

/// Headings have at most this many words.
const LONGEST_HEADING: usize = 12;

pub(super) struct Page<'t> {
    pub(super) text: &'t str,
    pub(super) language: Option<&'static str>,
    pub(super) headings: Vec<(String, Range<usize>)>,
    found: OnceCell<Vec<pii::Finding>>,
}

impl<'t> Page<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let language = Language::detect(text).map(Language::code);
        Self { text, language, headings: headings(text), found: OnceCell::new() }
    }

    /// Personal data and dates, searched once for all rules.
    pub(super) fn personal_data(&self) -> &[pii::Finding] {
        self.found.get_or_init(|| pii::find(self.text, &pii::Options::default()))
    }

    pub(super) fn sentences(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        sentences(self.text).map(|sentence| self.place_of(sentence.text))
    }

    pub(super) fn paragraphs(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.text.split("\n\n").map(|paragraph| self.place_of(paragraph))
    }

    fn place_of(&self, part: &str) -> Range<usize> {
        let start = part.as_ptr() as usize - self.text.as_ptr() as usize;
        start..start + part.len()
    }
}

/// Lines that are headings: of Markdown, numbered, in capitals or bold, or short and set off by blank lines.
fn headings(text: &str) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut blank_before = true;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (index, line) in lines.iter().enumerate() {
        let start = at;
        at += line.len();
        let trimmed = line.trim();
        if trimmed.is_empty() {
            blank_before = true;
            continue;
        }
        let blank_after = lines.get(index + 1).is_none_or(|next| next.trim().is_empty());
        if is_heading(trimmed, blank_before && blank_after) {
            let title = trimmed.trim_start_matches('#').trim().trim_matches('*').trim();
            let inset = line.find(trimmed).unwrap_or(0);
            found.push((title.to_lowercase(), start + inset..start + inset + trimmed.len()));
        }
        blank_before = false;
    }
    found
}

fn is_heading(line: &str, apart: bool) -> bool {
    let words = line.split_whitespace().count();
    if words > LONGEST_HEADING {
        return false;
    }
    let marked =
        line.starts_with('#') || line.len() > 4 && line.starts_with("**") && line.ends_with("**");
    let numbered = line.split_once([' ', '\t']).is_some_and(|(first, rest)| {
        let number = first.trim_end_matches(['.', ')']);
        !number.is_empty()
            && first != number.trim_end_matches(|c: char| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_digit() || c == '.')
            && rest.trim_start().starts_with(char::is_uppercase)
            && !rest.trim_end().ends_with(['.', ',', ';'])
    });
    let capitals = words > 0
        && line.chars().filter(|c| c.is_alphabetic()).count() > 3
        && !line.chars().any(char::is_lowercase);
    let set_off =
        apart && !line.ends_with(['.', ',', ';', '!', '?']) && line.starts_with(char::is_uppercase);
    marked || numbered || capitals || set_off
}
