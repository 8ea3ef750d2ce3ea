//! Values that a request contains: quotes, dates, numbers, addresses, names, lists.

mod characters;
mod ids;
mod quotes;
mod scan;

use language::dates::WrittenDate;
use language::words::{fold, is_stop_word, stem};

use crate::number::Quantity;

pub(crate) use characters::is_word_char;
pub(crate) use ids::IdKind;
pub(crate) use scan::{days_of, mentions};

/// The most values that are read from one request.
pub(crate) const MAX_MENTIONS: usize = 100;

/// The fewest digits of a name that is an identifier.
const MIN_DIGITS: usize = 2;

/// A value in a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mention {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// As written, without quotes.
    pub(crate) text: String,
    pub(crate) quoted: bool,
    pub(crate) value: Written,
    /// Words between the value before and this one, nearest first.
    pub(crate) before: Vec<Word>,
    /// Words that follow, nearest first.
    pub(crate) after: Vec<Word>,
    /// The number of the list (`a, b and c`) that it belongs to.
    pub(crate) group: usize,
}

/// A word near a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) stem: String,
    /// Whether it is more than a function word.
    pub(crate) has_content: bool,
}

impl Word {
    pub(crate) fn new(text: &str) -> Self {
        let text = fold(text);
        let has_content = !is_stop_word(&text) && !matches!(text.as_str(), "using" | "via");
        Self { stem: stem(&text), has_content, text }
    }
}

/// What a value looks like.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Written {
    Text,
    Name,
    Date(WrittenDate),
    /// A date with a time after it.
    Moment(WrittenDate, String),
    Time,
    Number(Quantity),
    Phone,
    Email,
    Url,
    Path,
    Id(IdKind),
    /// A type of files by its extension: `PDF files`, `every .txt`.
    FileType(String),
    List(Vec<String>),
}

impl Mention {
    /// Whether it has as many digits as an identifier: `abc123` and `PROJ-42` have, `Q3` has not.
    pub(crate) fn has_digits(&self) -> bool {
        self.text.bytes().filter(u8::is_ascii_digit).count() >= MIN_DIGITS
    }
}

/// The words before and after each value, and the lists that values form.
pub(crate) fn add_context(text: &str, mentions: &mut [Mention]) {
    let spans: Vec<(usize, usize)> = mentions.iter().map(|m| (m.start, m.end)).collect();
    let mut group = 0;
    // The word before the value before.
    let mut introduction: Option<String> = None;
    for (place, mention) in mentions.iter_mut().enumerate() {
        let from = place.checked_sub(1).map_or(0, |before| spans[before].1);
        let to = spans.get(place + 1).map_or(text.len(), |after| after.0);
        let between = &text[from..mention.start];
        if place > 0 && !is_separator(between, introduction.as_deref()) {
            group += 1;
        }
        mention.group = group;
        mention.before = near(between).into_iter().rev().take(8).collect();
        introduction = mention.before.first().map(|word| word.text.clone());
        let after = &text[mention.end..to];
        // Words after the end of a sentence say nothing about this value.
        let end = after.find(['.', ';', '!', '?', '\n', ',']).unwrap_or(after.len());
        mention.after = near(&after[..end]).into_iter().take(4).collect();
    }
}

fn near(text: &str) -> Vec<Word> {
    let start = text.rfind(['.', ';', '!', '?', '\n']).map_or(0, |at| at + 1);
    let parts = text[start..].split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| !part.is_empty()).map(Word::new).collect()
}

/// Whether two values with this text between them are items of one list. A word before the first one may be repeated:
/// `in London and in Paris`.
fn is_separator(between: &str, introduction: Option<&str>) -> bool {
    let text = between.trim();
    let repeated = introduction.and_then(|word| text.strip_suffix(word)).map(str::trim_end);
    [Some(text), repeated].into_iter().flatten().any(|text| {
        matches!(text, "," | "and" | ", and" | "&" | "or" | ", or" | "as well as" | "with")
    })
}
