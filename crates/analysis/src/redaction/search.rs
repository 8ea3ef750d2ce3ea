//! Finds values wherever they are written: in another case or width, with other blanks, hyphens or invisible characters,
//! over the end of a line, percent-encoded, and numbers in other groups.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use pii::Kind;

use super::folding::Folded;

/// Shorter values, such as an age, are redacted only where they were found: elsewhere they are other words.
const SHORTEST_VALUE: usize = 4;

/// Numbers with fewer digits are compared as they are written.
const SHORTEST_NUMBER: usize = 7;

/// Longer values are searched in pieces, so that a search takes time in proportion to the text.
const LONGEST_PIECE: usize = 192;

/// The number of zeros that are the sign for other countries before a number.
const MOST_ZEROS: usize = 2;

/// The most bytes of all values together, for the memory of a search.
const MOST_BYTES: usize = 2 << 20;

/// The values that are searched.
#[derive(Debug, Default)]
pub(super) struct Search {
    compact: Option<Forms>,
    numbers: Option<Forms>,
    /// Names of several words, which are also parts of user names and files, and codes.
    names: Option<Forms>,
    /// Whether some values are not searched, because there are too many.
    incomplete: bool,
}

/// Values in one form and their labels.
#[derive(Debug)]
struct Forms {
    search: AhoCorasick,
    forms: Vec<(String, String)>,
}

/// A place with a value, and the label of the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) place: Range<usize>,
    pub(super) label: String,
}

impl Search {
    /// A search for values, each with its label.
    pub(super) fn new<'v>(values: impl Iterator<Item = (&'v str, &'v str)>) -> Self {
        let (mut compact, mut numbers) = (BTreeMap::new(), BTreeMap::new());
        let mut names = BTreeMap::new();
        let mut bytes = 0;
        let mut incomplete = false;
        for (value, label) in values.filter(|(value, _)| is_distinctive(value)) {
            if let Some(digits) = number(value) {
                for piece in pieces(&digits) {
                    numbers.entry(piece.to_owned()).or_insert_with(|| label.to_owned());
                }
            }
            let folded = Folded::compact(value);
            if (is_name(value) || is_code(value)) && folded.text.len() <= LONGEST_PIECE {
                let form = folded.without_dots().text;
                if bytes + form.len() <= MOST_BYTES && !names.contains_key(&form) {
                    bytes += form.len();
                    names.insert(form, label.to_owned());
                }
            }
            for piece in pieces(&folded.text) {
                if bytes + piece.len() > MOST_BYTES {
                    incomplete = true;
                } else if !compact.contains_key(piece) {
                    bytes += piece.len();
                    compact.insert(piece.to_owned(), label.to_owned());
                }
            }
        }
        let mut built = |forms: BTreeMap<String, String>| match Forms::new(forms) {
            Ok(forms) => forms,
            Err(_) => {
                incomplete = true;
                None
            }
        };
        let (compact, numbers, names) = (built(compact), built(numbers), built(names));
        Self { compact, numbers, names, incomplete }
    }

    /// Says that there are values which are not searched.
    pub(super) fn leave_out(&mut self) {
        self.incomplete = true;
    }

    /// Whether a value may be anywhere because not all are searched.
    pub(super) fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// The places of a text that have one of the values.
    pub(super) fn hits(&self, text: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        if let Some(forms) = &self.compact {
            let folded = Folded::compact(text);
            forms.each(
                &folded,
                |part, form| {
                    let place = folded.source(&part);
                    is_whole(text, &place, form).then_some(place)
                },
                &mut hits,
            );
            if let Some(names) = &self.names {
                let folded = folded.without_dots();
                let accept = |part, _: &str| {
                    let place = folded.source(&part);
                    is_apart(text, &place).then_some(place)
                };
                names.each(&folded, accept, &mut hits);
            }
        }
        if let Some(forms) = &self.numbers {
            let folded = Folded::digits(text);
            let accept = |part, form: &str| whole_number(text, folded.source(&part), form);
            forms.each(&folded, accept, &mut hits);
        }
        hits.sort_by_key(|hit| (hit.place.start, std::cmp::Reverse(hit.place.end)));
        hits
    }
}

impl Forms {
    fn new(forms: BTreeMap<String, String>) -> Result<Option<Self>, aho_corasick::BuildError> {
        if forms.is_empty() {
            return Ok(None);
        }
        let forms: Vec<(String, String)> = forms.into_iter().collect();
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(forms.iter().map(|(form, _)| form))?;
        Ok(Some(Self { search, forms }))
    }

    /// Adds each place that `accept` takes; after one that it refuses, the search goes on within it.
    fn each(
        &self,
        folded: &Folded,
        accept: impl Fn(Range<usize>, &str) -> Option<Range<usize>>,
        hits: &mut Vec<Hit>,
    ) {
        let mut from = 0;
        while let Some(found) =
            self.search.find(aho_corasick::Input::new(&folded.text).range(from..))
        {
            let (form, label) = &self.forms[found.pattern().as_usize()];
            match accept(found.start()..found.end(), form) {
                Some(place) => {
                    hits.push(Hit { place, label: label.clone() });
                    from = found.end();
                }
                None => {
                    from = found.start()
                        + folded.text[found.start()..].chars().next().map_or(1, char::len_utf8)
                }
            }
        }
    }
}

/// Whether a value is long enough to be the same thing wherever it occurs. Words of labels are not.
pub(super) fn is_distinctive(value: &str) -> bool {
    let label = Kind::ALL
        .iter()
        .any(|kind| kind.name().split('_').any(|word| word.eq_ignore_ascii_case(value)));
    value.chars().filter(|c| c.is_alphanumeric()).count() >= SHORTEST_VALUE && !label
}

/// The digits of a value that is a number, without the sign for other countries.
fn number(value: &str) -> Option<String> {
    if value.chars().any(char::is_alphabetic) {
        return None;
    }
    let folded = Folded::digits(value).text;
    let digits = folded.strip_prefix('x')?;
    let digits =
        if value.trim_start().starts_with("00") { digits.trim_start_matches('0') } else { digits };
    (digits.len() >= SHORTEST_NUMBER && !digits.contains('x')).then(|| digits.to_owned())
}

/// Pieces of about the same length, so that none is too short to be distinctive.
fn pieces(form: &str) -> Vec<&str> {
    let count = form.len().div_ceil(LONGEST_PIECE);
    let mut rest = form;
    let mut pieces = Vec::with_capacity(count);
    for left in (1..=count).rev() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(rest.len() / left));
        pieces.push(piece);
        rest = after;
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Whether a place is a word of its own. Addresses and long pieces are distinctive within other words too.
fn is_whole(text: &str, place: &Range<usize>, form: &str) -> bool {
    let joined = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    form.contains('@')
        || form.len() > LONGEST_PIECE / 3
        || !joined(text[..place.start].chars().next_back())
            && !joined(text[place.end..].chars().next())
}

/// Whether a value has several alphabetic words, as names of people and organisations have.
fn is_name(value: &str) -> bool {
    let is_word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() > 1;
    value.split_whitespace().filter(is_word).count() > 1
}

/// Whether a place is a name of its own within a longer word: `AnnaWeber2024`, `cvAnnaWeber`, `Anna Webers`.
fn is_apart(text: &str, place: &Range<usize>) -> bool {
    let name = &text[place.clone()];
    let (first, last) = (name.chars().next(), name.chars().next_back());
    let is = |c: Option<char>, accepts: fn(char) -> bool| c.is_some_and(accepts);
    let before = text[..place.start].chars().next_back();
    let begins = !is(before, char::is_alphanumeric)
        || !is(before, char::is_uppercase) && is(first, char::is_uppercase);
    let mut rest = text[place.end..].chars();
    let (next, after) = (rest.next(), rest.next());
    let is_genitive = next == Some('s') && !is(after, char::is_alphanumeric);
    let goes_on = is(next, char::is_uppercase) && is(last, char::is_lowercase) || is_genitive;
    let ends = !is(next, char::is_alphanumeric)
        || is(next, char::is_numeric) && is(last, char::is_alphabetic)
        || goes_on && has_parts(name);
    begins && ends
}

/// Whether a value is a code of characters and digits, as account numbers are.
fn is_code(value: &str) -> bool {
    let digits = value.chars().filter(char::is_ascii_digit).count();
    digits >= SHORTEST_NUMBER && value.chars().any(char::is_alphabetic)
}

/// Whether a text has a mark or a capital within.
fn has_parts(name: &str) -> bool {
    let pairs = name.chars().zip(name.chars().skip(1));
    let capital = |(one, next): (char, char)| one.is_lowercase() && next.is_uppercase();
    name.chars().any(|c| !c.is_alphanumeric()) || pairs.into_iter().any(capital)
}

/// The place of a number with its `+` or `00`; `None` if it is a part of a longer one. Long pieces are distinctive within
/// longer numbers too.
fn whole_number(text: &str, place: Range<usize>, form: &str) -> Option<Range<usize>> {
    if form.len() > LONGEST_PIECE / 3 {
        return Some(place);
    }
    // The zeros before a number may be as many as the text has characters, and have as many hits.
    let before = text.as_bytes()[..place.start].iter().rev();
    let zeros = before.take(MOST_ZEROS + 1).take_while(|byte| **byte == b'0').count();
    let before = &text[..place.start - zeros];
    let follows = text[place.end..].chars().next().is_some_and(char::is_numeric);
    if zeros > MOST_ZEROS || follows || before.chars().next_back().is_some_and(char::is_numeric) {
        return None;
    }
    let start = before.trim_end_matches('+').len();
    Some(start..place.end)
}
