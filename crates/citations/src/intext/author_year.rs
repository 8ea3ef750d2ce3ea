//! `(Doe, 2024)`, `(Doe & Roe, 2020, p. 4; Poe, n.d.)` and `Doe et al. (2019)`.

use super::citation::{InTextCitation, Kind};
use super::index::Index;
use super::names::{self, Names};
use crate::parse::{is_date_word, year_of};

/// Longer parentheses are prose.
const MAX_GROUP: usize = 400;
/// How far back the names before a year are looked for.
const MAX_BEFORE: usize = 250;

pub(super) fn find(masked: &str, base: usize, index: &Index<'_>, found: &mut Vec<InTextCitation>) {
    let mut from = 0;
    while let Some(open) = masked[from..].find(['(', '[']).map(|at| from + at) {
        from = open + 1;
        let Some(close) = closing(masked, open) else { continue };
        let inner = &masked[open + 1..close];
        if !inner.contains(|c: char| c.is_ascii_digit()) && !has_undated(inner) {
            continue;
        }
        Group { masked, base, open, close, index }.find(found);
    }
}

/// The parenthesis or bracket that closes this one.
fn closing(text: &str, open: usize) -> Option<usize> {
    let limit = text.floor_char_boundary(open + MAX_GROUP);
    let (begin, end) = if text[open..].starts_with('(') { ('(', ')') } else { ('[', ']') };
    text[open..limit].find(end)?;
    let mut depth = 0_usize;
    for (at, c) in text[open..limit].char_indices() {
        if c == begin {
            depth += 1;
        } else if c == end {
            depth -= 1;
            if depth == 0 {
                return Some(open + at);
            }
        }
    }
    None
}

fn has_undated(text: &str) -> bool {
    ["n.d.", "in press", "forthcoming", "o. J.", "o.J."].iter().any(|word| text.contains(word))
}

struct Group<'a, 'b> {
    masked: &'a str,
    base: usize,
    open: usize,
    close: usize,
    index: &'a Index<'b>,
}

impl Group<'_, '_> {
    fn find(&self, found: &mut Vec<InTextCitation>) {
        let inner = &self.masked[self.open + 1..self.close];
        let single = !inner.contains(';');
        let mut at = self.open + 1;
        let mut last: Option<Names> = None;
        for (number, part) in inner.split(';').enumerate() {
            let start = at;
            at += part.len() + 1;
            let Some(dates) = dates(part) else { continue };
            let before = &part[..dates.start];
            if before.trim_matches([' ', ',', '(']).is_empty() {
                match &last {
                    Some(names) => {
                        self.push(names, &dates.years, start..start + part.len(), true, found)
                    }
                    None if number == 0 && self.masked[self.open..].starts_with('(') => {
                        last = self.narrative(&dates.years, found);
                    }
                    None => {}
                }
                continue;
            }
            let titled = |year: &String| {
                self.index.by_title(before.trim_matches([' ', ',', '"', '“', '”']), Some(year))
            };
            let range = if single {
                self.open..self.close + 1
            } else {
                trimmed(self.masked, start..start + part.len())
            };
            let Some(names) = names::at_end(before).filter(|names| {
                !before.contains(['"', '“'])
                    || resolve(self.index, names, &dates.years[0]).is_some()
            }) else {
                // A work without an author is cited by its title.
                for (year, reference) in
                    dates.years.iter().filter_map(|year| Some((year, titled(year)?)))
                {
                    found.push(InTextCitation {
                        range: self.base + range.start..self.base + range.end,
                        reference: Some(reference),
                        shown: format!("{}{year}", before.trim_start()),
                        kind: Kind::AuthorYear,
                        certain: true,
                    });
                }
                continue;
            };
            let comma = before.trim_end().ends_with(',');
            let certain = is_certain(&names, comma);
            self.push(&names, &dates.years, range, certain, found);
            last = Some(names);
        }
    }

    fn push(
        &self,
        names: &Names,
        years: &[String],
        range: std::ops::Range<usize>,
        certain: bool,
        found: &mut Vec<InTextCitation>,
    ) {
        for year in years {
            let reference = resolve(self.index, names, year);
            found.push(InTextCitation {
                range: self.base + range.start..self.base + range.end,
                reference,
                shown: format!(
                    "{}{}, {year}",
                    names.whole,
                    if names.et_al { " et al." } else { "" }
                ),
                kind: Kind::AuthorYear,
                certain,
            });
        }
    }

    /// `Doe (2020)`: the names come before the parenthesis.
    fn narrative(&self, years: &[String], found: &mut Vec<InTextCitation>) -> Option<Names> {
        let from = self.masked.floor_char_boundary(self.open.saturating_sub(MAX_BEFORE));
        let before = self.masked[from..self.open].trim_end();
        let before =
            before.strip_suffix("'s").or_else(|| before.strip_suffix("’s")).unwrap_or(before);
        if self.open > 0
            && !self.masked[..self.open].ends_with([' ', '\'', '’'])
            && before.len() + from == self.open
        {
            // `f(2020)` is no citation, `田中(2020)` is.
            if before.chars().next_back().is_some_and(|c| c.is_ascii()) {
                return None;
            }
        }
        let starts = names::starts(before);
        for start in &starts {
            let Some(names) = names::parse(&before[*start..]) else { continue };
            if years.iter().any(|year| resolve(self.index, &names, year).is_some()) {
                self.push(&names, years, from + start..self.close + 1, true, found);
                return Some(names);
            }
        }
        let (start, names) = self.unknown_names(before, &starts)?;
        self.push(&names, years, from + start..self.close + 1, true, found);
        Some(names)
    }

    /// Names that no reference has, if they can be nothing else.
    fn unknown_names(&self, before: &str, starts: &[usize]) -> Option<(usize, Names)> {
        let last = *starts.last()?;
        let tail = &before[last..];
        let lower = before.to_lowercase();
        let et_al = ["et al.", "et al", "and colleagues"].iter().any(|end| lower.ends_with(end));
        let parsed = |start: usize| names::parse(&before[start..]).map(|names| (start, names));
        let person = |text: &str| {
            let word = text.split(' ').next_back().unwrap_or_default();
            word.chars().count() >= 3
                && word.chars().any(char::is_lowercase)
                && !word.chars().any(|c| c.is_ascii_digit())
        };
        if et_al {
            return parsed(last).filter(|(_, names)| names.list.len() == 1);
        }
        // An organisation by its name: `World Bank`.
        if let [first, _, ..] = starts
            && tail.split(' ').next_back().is_some_and(is_organisation_word)
        {
            return parsed(*first);
        }
        if !person(tail) {
            return None;
        }
        let known = |name: &str| !self.index.of_name(name.trim()).is_empty();
        if let Some((first, joined)) = joined_name(before, last) {
            let name = before[first..joined].trim_end();
            let other = !before[joined..].starts_with("and");
            if person(name) && (other || known(name) || known(tail) || self.verb_follows()) {
                return parsed(first);
            }
        }
        let previous = before[..last].trim_end().rsplit(' ').next().unwrap_or_default();
        let alone = !previous.chars().next().is_some_and(char::is_uppercase)
            || previous.ends_with('.')
            || names::is_excluded(previous);
        let led = matches!(
            previous,
            "by" | "By"
                | "see"
                | "See"
                | "also"
                | "auch"
                | "aussi"
                | "también"
                | "unlike"
                | "Unlike"
        );
        let reported =
            lower.get(..last).is_some_and(|lead| lead.trim_end().ends_with("according to"));
        (alone && (known(tail) || self.verb_follows() || led || reported))
            .then(|| parsed(last))
            .flatten()
    }

    /// Whether a verb of reporting follows the parenthesis.
    fn verb_follows(&self) -> bool {
        const VERBS: [&str; 30] = [
            "argue", "call", "claim", "compare", "conclude", "describe", "estimate", "examine",
            "find", "found", "have", "held", "identify", "measure", "note", "observe", "propose",
            "report", "review", "saw", "say", "show", "shown", "state", "study", "suggest", "use",
            "warn", "write", "wrote",
        ];
        let after = self.masked[self.close + 1..].trim_start();
        let word: String = after.chars().take_while(|c| c.is_alphabetic()).take(30).collect();
        let lower = word.chars().next().is_some_and(char::is_lowercase);
        let stem = word.trim_end_matches("es").trim_end_matches('s');
        let known = VERBS.contains(&word.as_str())
            || VERBS.contains(&stem)
            || VERBS.contains(&word.trim_end_matches('s'))
            || word.ends_with("ed") && word.len() > 4;
        lower && known
    }
}

/// Where the first of two joined names begins, and where it ends.
fn joined_name(before: &str, last: usize) -> Option<(usize, usize)> {
    let lead = before[..last].trim_end();
    let joined = ["and", "&", "und"].iter().find_map(|word| lead.strip_suffix(word))?;
    let first = *names::starts(joined).last()?;
    Some((first, joined.len()))
}

fn is_organisation_word(word: &str) -> bool {
    matches!(
        word,
        "Agency"
            | "Association"
            | "Bank"
            | "Bureau"
            | "Center"
            | "Centre"
            | "Commission"
            | "Council"
            | "Department"
            | "Foundation"
            | "Institute"
            | "Ministry"
            | "Nations"
            | "Office"
            | "Organization"
            | "Organisation"
            | "Panel"
            | "Programme"
            | "Service"
            | "Society"
            | "Union"
            | "University"
    )
}

fn is_certain(names: &Names, comma: bool) -> bool {
    let words = names.whole.split(' ').count();
    let digits = names.whole.contains(|c: char| c.is_ascii_digit());
    !digits && (comma || names.et_al || names.list.len() >= 2 && words <= 6)
}

/// The range without spaces at its ends.
fn trimmed(text: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + part.len() - part.trim_start().len();
    start..range.end - (part.len() - part.trim_end().len())
}

fn resolve(index: &Index<'_>, names: &Names, year: &str) -> Option<usize> {
    let whole = [names.whole.clone()];
    let by_list = || index.find(&names.list, names.et_al, year);
    let acronym = || names.acronym.clone().and_then(|acronym| index.find(&[acronym], false, year));
    index.find(&whole, names.et_al, year).or_else(by_list).or_else(acronym)
}

struct Dates {
    /// Where the first begins.
    start: usize,
    years: Vec<String>,
}

/// The years of a part: `Doe, 2020a, b, p. 4` has two.
fn dates(part: &str) -> Option<Dates> {
    let mut words = names::words(part).into_iter().peekable();
    let mut years: Vec<String> = Vec::new();
    let mut start = None;
    while let Some((at, word)) = words.next() {
        let trimmed = word.trim_matches([',', ':', '(', '[', ']', ')', '.']);
        let lower = word.trim_end_matches([',', ':']).to_lowercase();
        let next = words
            .peek()
            .map(|(_, next)| next.trim_end_matches([',', '.', ':']))
            .unwrap_or_default();
        let year = if trimmed.split('/').all(|year| year_of(year).is_some()) && !trimmed.is_empty()
        {
            Some(trimmed.to_owned())
        } else if lower.starts_with("n.d") {
            Some("n.d.".to_owned())
        } else if lower == "in" && next == "press" {
            words.next();
            Some("in press".to_owned())
        } else if lower == "forthcoming" {
            Some("forthcoming".to_owned())
        } else if let (Some(last), 1) = (years.last(), word.trim_end_matches(',').len()) {
            // A further suffix of the same year.
            let suffix = trimmed.chars().next().filter(char::is_ascii_lowercase);
            let base = last.trim_end_matches(|c: char| c.is_ascii_lowercase());
            suffix.filter(|_| base.len() < last.len()).map(|suffix| format!("{base}{suffix}"))
        } else {
            None
        };
        match year {
            Some(year) => {
                start.get_or_insert(at);
                years.push(year);
            }
            None if start.is_some() => break,
            None => {}
        }
    }
    let start = start?;
    // `(May 2020)` and `(since 2020)` are dates of something else.
    let before = part[..start].trim_end_matches([' ', ',']);
    let last = before.rsplit(' ').next().unwrap_or_default();
    if !last.is_empty() && (is_date_word(last) || names::is_excluded(last)) {
        return None;
    }
    Some(Dates { start, years })
}
