//! Quoted text. Nothing in a quote is an instruction.

use super::characters::is_word_char;

/// Opening marks with those that close them.
const MARKS: [(char, &[char]); 14] = [
    ('\'', &['\'']),
    ('"', &['"']),
    ('`', &['`']),
    ('“', &['”']),
    ('‘', &['’']),
    ('„', &['“', '”', '"']),
    ('‚', &['‘', '’']),
    ('«', &['»']),
    ('»', &['«']),
    ('‹', &['›']),
    ('›', &['‹']),
    ('”', &['”']),
    ('「', &['」']),
    ('『', &['』']),
];

/// Marks that open a quote even if nothing closes it: the others are apostrophes, or close quotes.
const CERTAIN: [char; 7] = ['"', '`', '“', '„', '«', '「', '『'];

/// A quote at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote<'a> {
    pub(super) inner: &'a str,
    /// With the marks, in bytes.
    pub(super) length: usize,
}

/// The quotes of a text, from left to right.
#[derive(Default)]
pub(super) struct Quotes {
    /// Marks that nothing closes from here on.
    unclosed: Vec<char>,
    /// The end of several marks that open nothing.
    skipped: usize,
}

impl Quotes {
    /// The quote that starts at a place.
    pub(super) fn at<'a>(&mut self, text: &'a str, at: usize) -> Option<Quote<'a>> {
        let rest = &text[at..];
        let mark = rest.chars().next().filter(|mark| is_mark(*mark))?;
        let before = text[..at].chars().next_back();
        if at < self.skipped || self.unclosed.contains(&mark) || !opens_after(before, mark) {
            return None;
        }
        let quote = quote_at(rest);
        if quote.is_none() {
            let run = rest.len() - rest.trim_start_matches(mark).len();
            self.skipped = at + run;
            if run == mark.len_utf8() && !CERTAIN.contains(&mark) {
                self.unclosed.push(mark);
            }
        }
        quote
    }
}

/// Whether a character can open a quote.
pub(super) fn is_mark(c: char) -> bool {
    MARKS.iter().any(|(open, _)| *open == c)
}

/// Whether a mark can open a quote after this character.
fn opens_after(before: Option<char>, mark: char) -> bool {
    let Some(before) = before else { return true };
    // The apostrophe of `don't`, and the inches of `5"`.
    let is_within = if CERTAIN.contains(&mark) {
        before.is_ascii_digit()
    } else {
        is_word_char(before) || matches!(before, '.' | '_' | '/' | '@')
    };
    !is_within
}

/// The quote at the start of a text. One that is not closed goes on to the end.
fn quote_at(text: &str) -> Option<Quote<'_>> {
    let open = text.chars().next()?;
    let &(_, closing) = MARKS.iter().find(|(opening, _)| *opening == open)?;
    let run = text.chars().take_while(|c| *c == open).count();
    if run > 1 && closing.contains(&open) {
        return of_run(text, open, run);
    }
    let start = open.len_utf8();
    let inner = &text[start..];
    let mut marks = inner.char_indices().filter(|(_, c)| closing.contains(c));
    let closed = marks.find(|(at, c)| {
        // An apostrophe within a word closes nothing.
        *at > 0 && !inner[at + c.len_utf8()..].starts_with(is_word_char)
    });
    match closed {
        Some((end, mark)) => {
            Some(Quote { inner: &inner[..end], length: start + end + mark.len_utf8() })
        }
        None => unclosed(inner, open, text.len()),
    }
}

/// A quote that begins with several marks: an empty one, or one between as many marks.
fn of_run(text: &str, mark: char, run: usize) -> Option<Quote<'_>> {
    let width = mark.len_utf8();
    let inner = &text[run * width..];
    if run == 2 && !inner.starts_with(|c: char| c.is_alphanumeric()) {
        return Some(Quote { inner: "", length: 2 * width });
    }
    let marks = &text[..run * width];
    match inner.find(marks) {
        Some(end) => Some(Quote { inner: inner[..end].trim(), length: end + 2 * marks.len() }),
        None => unclosed(inner, mark, text.len()),
    }
}

fn unclosed(inner: &str, mark: char, length: usize) -> Option<Quote<'_>> {
    let begins = inner.starts_with(|c: char| !c.is_whitespace());
    // The stop belongs to the request.
    let inner = inner.trim_end().trim_end_matches(['.', '!', '?', '。']);
    (begins && CERTAIN.contains(&mark)).then_some(Quote { inner, length })
}

#[cfg(test)]
mod tests {
    use super::{Quotes, opens_after, quote_at};

    #[test]
    fn the_text_between_marks_is_the_quote() {
        for (text, inner) in [
            ("'it's here' now", "it's here"),
            ("\"a b\", c", "a b"),
            ("“a” b", "a"),
            ("„a“ b", "a"),
            ("„a” b", "a"),
            ("«a b» c", "a b"),
            ("»a« b", "a"),
            ("「削除」する", "削除"),
            ("```delete all``` b", "delete all"),
            ("\"\" b", ""),
            ("\"not closed. Delete all.", "not closed. Delete all"),
            ("„not closed. Delete all", "not closed. Delete all"),
        ] {
            let quote = quote_at(text).map(|quote| quote.inner);
            assert_eq!(quote, Some(inner), "{text}");
        }
        for text in ["'tis so", "\" a", "a", "' b", "\""] {
            assert_eq!(quote_at(text), None, "{text}");
        }
    }

    #[test]
    fn apostrophes_and_inches_open_nothing() {
        assert!(!opens_after(Some('n'), '\'') && !opens_after(Some('5'), '"'));
        assert!(opens_after(Some('='), '"') && opens_after(Some('t'), '"'));
        assert!(opens_after(None, '\'') && opens_after(Some('是'), '\''));
    }

    #[test]
    fn marks_that_close_nothing_hide_no_quote() {
        let found = |text: &'static str| -> Vec<&str> {
            let mut quotes = Quotes::default();
            let places = text.char_indices().map(|(at, _)| at);
            places.filter_map(|at| quotes.at(text, at)).map(|quote| quote.inner).collect()
        };
        assert_eq!(found("'tis said 'so and “a” b"), ["a"]);
        assert_eq!(found("\" a \"b c"), ["b c"]);
        assert_eq!(found("'''x and “y”"), ["y"]);
    }

    #[test]
    fn a_quote_may_be_as_long_as_an_intent() {
        let long = "删".repeat(1_900);
        let text = format!("\"{long}\" b");
        assert_eq!(quote_at(&text).map(|quote| quote.inner.len()), Some(long.len()));
    }
}
