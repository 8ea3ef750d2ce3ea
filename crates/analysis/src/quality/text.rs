//! A text with its words, sentences, headings and the parts that are no prose.

use std::ops::Range;
use std::sync::LazyLock;

use language::prose::sentences;
use regex::Regex;

/// At most this many words are read for each check.
const MOST_WORDS: usize = 400_000;

/// No alternative may read on beyond what it or another one takes: a search reads to the end of the longest that is possible,
/// and there is one for each place.
static NO_PROSE: LazyLock<Regex> = LazyLock::new(|| {
    pii::compiled(
        r"(?s)```.*?(?:```|$)|`[^`\n]{1,200}`|https?://\S+|www\.\S+|[\w.%+-]+@[\w-]+(?:\.[\w-]+)+|<[a-zA-Z/][^>\n]{0,300}>|\]\([^)\n]{0,500}\)|\b[\w./\\-]+/[\w./\\-]+",
    )
});

pub(super) struct Text<'t> {
    pub(super) source: &'t str,
    pub(super) words: Vec<Word<'t>>,
    pub(super) sentences: Vec<Range<usize>>,
    pub(super) headings: Vec<Heading>,
}

pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
    /// Whether a sentence begins with it.
    pub(super) first: bool,
    /// Whether it is code, a link or markup.
    pub(super) code: bool,
}

impl Word<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// A heading in Markdown.
pub(super) struct Heading {
    pub(super) level: usize,
    pub(super) title: String,
    pub(super) place: Range<usize>,
}

impl<'t> Text<'t> {
    pub(super) fn read(source: &'t str) -> Self {
        let code: Vec<Range<usize>> = NO_PROSE.find_iter(source).map(|hit| hit.range()).collect();
        let sentences: Vec<Range<usize>> = sentences(source)
            .map(|sentence| {
                let start = sentence.text.as_ptr() as usize - source.as_ptr() as usize;
                start..start + sentence.text.len()
            })
            .collect();
        let words = words(source, &sentences, &code);
        Self { source, words, sentences, headings: headings(source) }
    }

    /// The words of prose.
    pub(super) fn prose(&self) -> impl Iterator<Item = &Word<'t>> {
        self.words.iter().filter(|word| !word.code)
    }
}

fn words<'t>(source: &'t str, sentences: &[Range<usize>], code: &[Range<usize>]) -> Vec<Word<'t>> {
    let mut found = Vec::new();
    let mut code = code.iter().peekable();
    let mut starts = sentences.iter().map(|sentence| sentence.start).peekable();
    let mut begins = false;
    for (start, text) in pieces(source).take(MOST_WORDS) {
        while starts.next_if(|at| *at <= start).is_some() {
            begins = true;
        }
        while code.peek().is_some_and(|range| range.end <= start) {
            code.next();
        }
        let inside = code.peek().is_some_and(|range| range.start < start + text.len());
        found.push(Word { text, start, first: begins, code: inside });
        begins = false;
    }
    found
}

/// Runs of alphabetic characters, with apostrophes and hyphens inside.
fn pieces(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + source[at..].find(char::is_alphanumeric)?;
        let mut end = start;
        let mut chars = source[start..].char_indices().peekable();
        while let Some((offset, c)) = chars.next() {
            let joins = matches!(c, '\'' | '’' | '-')
                && chars.peek().is_some_and(|(_, next)| next.is_alphabetic());
            if !(c.is_alphanumeric() || joins || ('\u{300}'..='\u{36f}').contains(&c)) {
                break;
            }
            end = start + offset + c.len_utf8();
        }
        at = end;
        Some((start, &source[start..end]))
    })
}

fn headings(source: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut fenced = false;
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim_end();
        if trimmed.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let level = trimmed.chars().take_while(|c| *c == '#').count();
        if fenced || !(1..=6).contains(&level) || !trimmed[level..].starts_with(' ') {
            continue;
        }
        let title = trimmed[level..].trim().trim_end_matches('#').trim_end().to_owned();
        found.push(Heading { level, title, place: start..start + trimmed.len() });
    }
    found
}
