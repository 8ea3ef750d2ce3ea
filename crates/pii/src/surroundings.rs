//! The words around a place of the text.

use std::ops::Range;

/// How many bytes before a value are read for words that say what it is.
const BEFORE: usize = 56;

/// How many bytes after it.
const AFTER: usize = 28;

/// A text, and what surrounds its values.
pub(super) struct Surroundings<'t> {
    pub(super) text: &'t str,
    table: Option<Table>,
}

/// Values separated by one character under a line of headings.
struct Table {
    separator: char,
    headings: Vec<String>,
    /// Where the first row begins.
    rows: usize,
}

impl<'t> Surroundings<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, table: Table::of(text) }
    }

    /// The words before a place, in lower case. In a table: the heading of the column.
    pub(super) fn before(&self, at: usize) -> String {
        if let Some(table) = &self.table
            && at >= table.rows
        {
            return table.heading(self.text, at).to_owned();
        }
        let from = floor(self.text, at.saturating_sub(BEFORE));
        self.text[from..at].to_lowercase()
    }

    /// The words after a place, in lower case, on the same line.
    pub(super) fn after(&self, at: usize) -> String {
        if self.table.as_ref().is_some_and(|table| at >= table.rows) {
            return String::new();
        }
        let to = floor(self.text, (at + AFTER).min(self.text.len()));
        let after = &self.text[at..to];
        after.split('\n').next().unwrap_or_default().to_lowercase()
    }

    /// Whether one of the words is before the place or shortly after it.
    pub(super) fn mentions(&self, place: &Range<usize>, words: &[&str]) -> bool {
        let before = self.before(place.start);
        if words.iter().any(|word| has_word(&before, word)) {
            return true;
        }
        let after = self.after(place.end);
        // Words after the end of a sentence belong to another statement.
        let after = after.split(['.', ';', '?', '!']).next().unwrap_or_default();
        words.iter().any(|word| has_word(after, word))
    }

    /// Whether one of the words is among the last three before the place.
    pub(super) fn introduced_by(&self, at: usize, words: &[&str]) -> bool {
        let before = self.before(at);
        let mut start = before.len();
        let mut seen = 0;
        for (index, _) in before.match_indices(|c: char| c.is_whitespace()).rev() {
            if before[index..start].trim().chars().any(char::is_alphanumeric) {
                seen += 1;
                start = index;
            }
            if seen == 3 {
                break;
            }
        }
        if seen < 3 {
            start = 0;
        }
        words.iter().any(|word| has_word(&before[start..], word))
    }

    pub(super) fn char_before(&self, at: usize) -> Option<char> {
        self.text[..at].chars().next_back()
    }

    pub(super) fn char_after(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    /// Whether the place is a token of its own: no letter, digit or joining character is attached to it.
    pub(super) fn is_free(&self, place: &Range<usize>) -> bool {
        let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '@');
        let before = self.char_before(place.start);
        if before.is_some_and(joins) {
            return false;
        }
        // `ab-12` and `3.12` are one token, `- 12` and `end. 12` are not.
        let mut back = self.text[..place.start].chars().rev();
        if let (Some('-' | '.' | ','), Some(c)) = (back.next(), back.next())
            && c.is_alphanumeric()
            && !self.in_table(place.start)
        {
            return false;
        }
        let after = self.char_after(place.end);
        if after.is_some_and(joins) {
            return false;
        }
        let mut on = self.text[place.end..].chars();
        !matches!((on.next(), on.next()), (Some('-' | '.'), Some(c)) if c.is_alphanumeric())
    }

    fn in_table(&self, at: usize) -> bool {
        self.table.as_ref().is_some_and(|table| at >= table.rows)
    }
}

impl Table {
    /// A table has two columns or more, short headings, and the same separators in its first row.
    fn of(text: &str) -> Option<Self> {
        let first = text.lines().next()?;
        let second = text.lines().nth(1)?;
        let separator = [',', '\t', ';', '|'].into_iter().find(|&c| first.contains(c))?;
        let headings: Vec<String> =
            first.split(separator).map(|cell| cell.trim().to_lowercase()).collect();
        let plain = |cell: &String| {
            cell.len() <= 30
                && cell.split_whitespace().count() <= 3
                && !cell.is_empty()
                && cell.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '_' | '-' | '/'))
        };
        let fits = second.matches(separator).count() >= headings.len() - 1;
        (fits && headings.iter().all(plain)).then(|| {
            let headings = headings.iter().map(|cell| cell.replace('_', " ")).collect();
            Self { separator, headings, rows: first.len() + 1 }
        })
    }

    /// The heading above a place. A line is read only as far as a value's window reaches.
    fn heading(&self, text: &str, at: usize) -> &str {
        let from = floor(text, at.saturating_sub(4_000));
        let line = text[from..at].rsplit('\n').next().unwrap_or_default();
        let column = line.matches(self.separator).count();
        self.headings.get(column).map_or("", String::as_str)
    }
}

/// Whether a word or phrase occurs with no other word attached.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphabetic) && !after.is_some_and(char::is_alphabetic)
    })
}

/// The nearest character boundary at or before a byte.
pub(super) fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
