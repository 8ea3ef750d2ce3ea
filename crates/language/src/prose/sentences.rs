/// One sentence, or a separate line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence<'a> {
    pub text: &'a str,
    /// Whether it ends as a sentence does; a heading or a list item does not.
    pub whole: bool,
}

/// Abbreviations, whose full stop does not end a sentence.
const ABBREVIATIONS: [&str; 42] = [
    "al", "approx", "art", "bzw", "ca", "cf", "co", "corp", "dept", "dr", "ed", "eg", "etc", "fig",
    "gen", "gov", "hon", "ie", "inc", "jr", "ltd", "mr", "mrs", "ms", "mt", "no", "nr", "op", "p",
    "pp", "prof", "rep", "rev", "sen", "sr", "st", "usw", "vgl", "vol", "vs", "z", "zb",
];

/// The sentences of a text, in order. Line breaks within a paragraph do not end a sentence; empty lines do.
pub fn sentences(text: &str) -> impl Iterator<Item = Sentence<'_>> {
    blocks(text).flat_map(|block| Cutter { rest: block })
}

/// Parts of a text that no sentence crosses: paragraphs, list items, and lines that end early.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let mut end = 0;
        let mut block = rest;
        for line in rest.split_inclusive('\n') {
            let next = &rest[end + line.len()..];
            end += line.len();
            let following = next.split('\n').next().unwrap_or_default().trim();
            if following.is_empty() || begins_item(following) || is_heading(line.trim()) {
                block = &rest[..end];
                break;
            }
        }
        rest = &rest[block.len().max(1).min(rest.len())..];
        Some(block.trim())
    })
    .filter(|block| !block.is_empty())
}

fn begins_item(line: &str) -> bool {
    let mut characters = line.chars();
    match characters.next() {
        Some('-' | '*' | '•' | '–' | '#' | '>') => {
            characters.next().is_some_and(char::is_whitespace) || line.starts_with('#')
        }
        Some(first) if first.is_ascii_digit() => {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            rest.starts_with(". ") || rest.starts_with(") ")
        }
        _ => false,
    }
}

fn is_heading(line: &str) -> bool {
    line.starts_with('#')
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '｡' | '।' | '؟' | '۔' | '։' | '።')
}

fn closes(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '」' | '』' | '）' | '】')
}

struct Cutter<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Cutter<'a> {
    type Item = Sentence<'a>;

    fn next(&mut self) -> Option<Sentence<'a>> {
        self.rest = self.rest.trim_start();
        if self.rest.is_empty() {
            return None;
        }
        let text = self.rest;
        let mut characters = text.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            if !ends_sentence(c) {
                continue;
            }
            let mut end = at + c.len_utf8();
            while let Some((next, c)) = characters.next_if(|(_, c)| ends_sentence(*c) || closes(*c))
            {
                end = next + c.len_utf8();
            }
            if is_end(text, at, c, &text[end..]) {
                self.rest = &text[end..];
                return Some(Sentence { text: text[..end].trim(), whole: true });
            }
        }
        self.rest = "";
        let whole = text.trim_end_matches(closes).ends_with(ends_sentence);
        Some(Sentence { text: text.trim(), whole })
    }
}

/// Whether the punctuation at `at` ends a sentence, by the characters around it.
fn is_end(text: &str, at: usize, mark: char, after: &str) -> bool {
    // East Asian marks end a sentence without a space after them.
    if !mark.is_ascii() && mark != '…' {
        return true;
    }
    let Some(next) = after.chars().next() else { return true };
    if !next.is_whitespace() {
        return false;
    }
    if mark != '.' {
        return !after.trim_start().starts_with(char::is_lowercase);
    }
    let word =
        text[..at].rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let folded = word.replace('.', "").to_lowercase();
    let initial = folded.chars().count() == 1 && word.chars().all(|c| c.is_uppercase() || c == '.');
    let begins = after.trim_start().chars().next();
    if begins.is_some_and(char::is_lowercase) {
        return false;
    }
    !(initial
        || ABBREVIATIONS.binary_search(&folded.as_str()).is_ok()
        || is_ordinal(&text[..at], word, after))
}

/// German months, and the words before which a number with a full stop is an ordinal: "zum 31. Januar", "der 2. Absatz".
const MONTHS: [&str; 12] = [
    "januar",
    "februar",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
];
const BEFORE_ORDINALS: [&str; 13] =
    ["ab", "beim", "bis", "das", "dem", "den", "der", "des", "die", "im", "seit", "vom", "zum"];

/// Whether a number with a full stop is a German ordinal.
fn is_ordinal(before: &str, number: &str, after: &str) -> bool {
    if !matches!(number.len(), 1 | 2) || !number.bytes().all(|c| c.is_ascii_digit()) {
        return false;
    }
    let word = |text: Option<&str>| {
        text.unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
    };
    let next = word(after.split_whitespace().next());
    let previous = word(before.split_whitespace().rev().nth(1));
    MONTHS.contains(&next.as_str()) || BEFORE_ORDINALS.contains(&previous.as_str())
}
