//! Years and dates of references.

use std::ops::Range;

/// A date in parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DateGroup {
    /// With its parentheses.
    pub(super) range: Range<usize>,
    /// None if it should be a year and is not.
    pub(super) year: Option<String>,
}

/// The first group in parentheses that is a date: `(2020)`, `(2020a, May 3)`, `(n.d.)`, `(in press)`.
pub(super) fn date_group(text: &str) -> Option<DateGroup> {
    let mut from = 0;
    while let Some(open) = text[from..].find('(').map(|at| from + at) {
        let close = text[open..].find(')').map(|at| open + at)?;
        let inner = text[open + 1..close].trim();
        let range = open..close + 1;
        if let Some(year) = date(inner) {
            return Some(DateGroup { range, year: Some(year) });
        }
        // Something that was to be a year, right after the names.
        let digits = inner.bytes().filter(u8::is_ascii_digit).count();
        let short =
            inner.len() <= 6 && inner.chars().all(|c| c.is_ascii_alphanumeric() || c == '?');
        let before = text[..open].trim_end();
        if digits >= 2
            && short
            && (before.ends_with('.') || before.ends_with(')'))
            && !before.contains(". *")
        {
            return Some(DateGroup { range, year: None });
        }
        from = close + 1;
    }
    None
}

/// The year of a date as APA writes it.
fn date(inner: &str) -> Option<String> {
    let lower = inner.to_lowercase();
    if matches!(
        lower.as_str(),
        "n.d." | "n.d" | "nd" | "n. d." | "o.j." | "o. j." | "s.f." | "s.d."
    ) {
        return Some("n.d.".to_owned());
    }
    if lower.starts_with("n.d.") {
        return Some(inner.to_owned());
    }
    if matches!(
        lower.as_str(),
        "in press" | "forthcoming" | "im druck" | "in preparation" | "submitted"
    ) {
        return Some(lower);
    }
    let inner =
        lower.trim_start_matches("ca. ").trim_start_matches("c. ").trim_start_matches("circa ");
    let first = inner.split([',', ' ']).next().unwrap_or_default();
    if first.split(['/', '–', '-']).all(|part| year_of(part).is_some()) && !first.is_empty() {
        let rest = inner[first.len()..].trim_start_matches([',', ' ']);
        // `(2020 edition)` is no date, `(2020, May 3)` and `(2019, spring)` are.
        let plain = rest.is_empty() || rest.split([' ', ',', '–', '-', '/', '.']).all(is_date_word);
        return plain.then(|| first.to_owned());
    }
    // `(May 2020)` and `(3 May 2020)`.
    let words: Vec<_> = inner.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    match words[..] {
        [.., year]
            if words.len() <= 4
                && year_of(year).is_some()
                && words.iter().all(|word| is_date_word(word)) =>
        {
            Some(year.to_owned())
        }
        _ => None,
    }
}

const MONTHS: [&str; 46] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
    "spring",
    "summer",
    "autumn",
    "fall",
    "winter",
    "januar",
    "februar",
    "märz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
    "janvier",
    "février",
    "mars",
    "avril",
    "juin",
    "juillet",
    "enero",
    "marzo",
    "abril",
];

/// Whether a word may be part of a date.
pub(crate) fn is_date_word(word: &str) -> bool {
    let word = word.trim_end_matches('.').to_lowercase();
    word.is_empty()
        || MONTHS.contains(&word.as_str())
        || word.bytes().all(|b| b.is_ascii_digit())
        || year_of(&word).is_some()
}

/// `2020` or `2020a`, as a year of our time.
pub(crate) fn year_of(word: &str) -> Option<u16> {
    let digits = word.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(word);
    if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|year| (1400..=2100).contains(year))
}

/// `Doe, Jane. 2020.`: the names and the year.
pub(super) fn at_end(text: &str) -> Option<(&str, String)> {
    let trimmed = text.trim_end_matches(['.', ',', ' ']);
    let start = trimmed.rfind(' ')?;
    let word = trimmed[start + 1..].trim_matches(['(', ')']);
    year_of(word)?;
    Some((trimmed[..start].trim_end(), word.to_owned()))
}

/// `2020. Title`: the year and what follows it.
pub(super) fn at_start(text: &str) -> Option<(String, &str)> {
    let (word, rest) = text.split_once(' ')?;
    let year = word.trim_matches(['.', ',', '(', ')']);
    year_of(year)?;
    Some((year.to_owned(), rest.trim_start_matches(['.', ',', ' '])))
}

/// The year of publication in a text: the last that is neither of pages, nor of the day on which a page was read.
pub(super) fn in_text(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let stops = ["accessed", "retrieved", "abgerufen", "zugriff", "visited"];
    let end = stops.iter().filter_map(|stop| lower.find(stop)).min().unwrap_or(text.len());
    let text = &text[..end];
    let mut best: Option<String> = None;
    let mut fallback: Option<String> = None;
    let mut previous = "";
    for token in text.split_inclusive([' ', ';', ':', '(', ')', '[', ']', '/']) {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric());
        if year_of(word).is_some() {
            // Pages, volumes and numbers.
            let of_pages = matches!(
                previous,
                "pp" | "p" | "vol" | "no" | "pages" | "volume" | "number" | "art" | "article"
            );
            if of_pages {
                fallback.get_or_insert_with(|| word.to_owned());
            } else {
                best = Some(word.to_owned());
            }
        } else if let Some((first, last)) = word.split_once(['–', '-'])
            && year_of(first).is_some()
            && year_of(last).is_some()
            && !matches!(previous, "pp" | "p" | "pages")
        {
            fallback.get_or_insert_with(|| word.to_owned());
        } else if matches!(word.to_lowercase().as_str(), "n.d" | "forthcoming") {
            return Some(if word.starts_with('n') {
                "n.d.".to_owned()
            } else {
                word.to_lowercase()
            });
        }
        if !word.is_empty() {
            previous = word;
        }
    }
    best.or(fallback)
}

/// A year after the address, as in `https://example.org, 2020.`
pub(super) fn after(text: &str, address: usize) -> Option<String> {
    let rest = &text[address..];
    let after_address = rest.find(' ').map_or("", |at| &rest[at..]);
    let words = after_address.split(' ').filter(|word| !word.contains('/'));
    in_text(&words.collect::<Vec<_>>().join(" "))
}
