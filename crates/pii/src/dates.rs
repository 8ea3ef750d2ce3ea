//! Dates and times that name a day, a month of a year, or a year.

use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use regex::Regex;

use super::lists;
use super::network::regex;
use super::surroundings::Surroundings;
use super::{Finding, Kind};

const MONTHS: &str = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
/// The months of German, French, Spanish, Italian, Portuguese, Dutch and the Nordic languages that English has not.
const FOREIGN_MONTHS: &str = "(?:januar|jänner|februar|märz|maerz|mai|juni|juli|oktober|okt|dezember|dez|janvier|janv|février|fevrier|févr|fév|mars|avril|avr|juin|juillet|juil|août|aout|septembre|octobre|novembre|décembre|decembre|déc|enero|ene|febrero|marzo|abril|abr|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|novembre|dicembre|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro|januari|februari|maart|mei|augustus|augusti|desember|december)";
const TIME: &str = r"(?:[012]?\d:[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:\s?[ap]\.?m\b\.?)?(?:\s?(?:z|utc|gmt|[+-]\d{2}:?\d{2})\b)?)";

static PATTERNS: LazyLock<Vec<(Regex, f32, &'static str)>> = LazyLock::new(|| {
    let year = r"(?:19|20)\d{2}";
    let day = r"(?:[0-3]?\d)(?:st|nd|rd|th)?";
    let weekday = r"(?:(?:mon|tues?|wed(?:nes)?|thur?s?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?";
    let at = r"(?:,?\s+(?:at\s+)?|t)";
    vec![
        (
            regex(&format!(
                r"(?i)\b(?:1[5-9]|20)\d{{2}}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])(?:{at}{TIME})?\b"
            )),
            0.93,
            "date with year, month and day",
        ),
        (
            regex(&format!(
                r"(?i)\b(?:0?[1-9]|[12]\d|3[01])[-/.](?:0?[1-9]|[12]\d|3[01])[-/.](?:(?:1[5-9]|20)\d{{2}}|\d{{2}})(?:{at}{TIME})?\b"
            )),
            0.88,
            "date in numbers",
        ),
        (
            regex(&format!(
                r"(?i)\b{weekday}{day}\s+(?:of\s+)?{MONTHS}\b\.?(?:,?\s+{year})?(?:{at}{TIME})?"
            )),
            0.85,
            "day and month",
        ),
        (
            regex(&format!(r"(?i)\b{weekday}{MONTHS}\.?\s+{day}\b(?:,?\s+{year})?(?:{at}{TIME})?")),
            0.85,
            "month and day",
        ),
        (regex(&format!(r"(?i)\b(?:{day}-)?{MONTHS}\.?[ ,-]\s*{year}\b")), 0.85, "month and year"),
        (regex(&format!(r"(?i)\b{TIME}(?:\s?Uhr\b)?")), 0.5, "time of day"),
        (
            regex(
                r"(?i)\b(?:[01]?\d\s?[ap]\.?m\b\.?|(?:[01]?\d|2[0-4])(?:\s?Uhr\b|\s?h\s?[0-5]\d\b))",
            ),
            0.5,
            "time of day",
        ),
    ]
});

/// Days, months and years in other languages; the date is the group.
static FOREIGN: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    let year = r"(?:19|20)\d{2}";
    [
        regex(&format!(
            r"(?i)\b([0-3]?\d(?:\.|er|º|ª)?\s+(?:de\s+|di\s+)?{FOREIGN_MONTHS}\b\.?,?\s+(?:de\s+|del\s+)?{year}(?:,?\s+{TIME})?)"
        )),
        regex(&format!(r"(?i)\b({FOREIGN_MONTHS}\.?\s+(?:de\s+|del\s+)?{year})\b")),
        // A day and a month without a year, after an article that is written before days.
        regex(&format!(
            r"(?i)\b(?:am|vom|zum|dem|den|der|le|du|au|el|il|dal|del|al|dia|op)\s+([0-3]?\d(?:\.|er|º)?\s+(?:de\s+|di\s+)?{FOREIGN_MONTHS})\b"
        )),
    ]
});
/// Finds the names of foreign months much faster than the patterns.
static MONTH_NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let names = FOREIGN_MONTHS.trim_start_matches("(?:").trim_end_matches(')').split('|');
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(names)
        .expect("the names of months are few and short")
});

static WEEKDAY: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"));

static YEAR: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(?:1[6-9]|20)\d{2}\b"));
/// Words that are followed by times.
static BEFORE_YEARS: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("before-year"));
static YEAR_IN_BRACKETS: LazyLock<Regex> = LazyLock::new(|| regex(r"\(((?:1[6-9]|20)\d{2})\)"));

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for (pattern, confidence, reason) in PATTERNS.iter() {
        for hit in pattern.find_iter(around.text) {
            let written = hit.as_str().trim_end_matches(['.', ' ']);
            let place = hit.start()..hit.start() + written.len();
            if is_apart(around, &place) {
                found.push(Finding::new(Kind::DateTime, place, *confidence, reason));
            }
        }
    }
    if names_foreign_month(around.text) {
        for hit in FOREIGN.iter().flat_map(|pattern| pattern.captures_iter(around.text)) {
            let Some(date) = hit.get(1) else { continue };
            if is_apart(around, &date.range()) {
                let reason = "date in another language";
                found.push(Finding::new(Kind::DateTime, date.range(), 0.83, reason));
            }
        }
    }
    if around.text.contains("day") || around.text.contains("DAY") {
        for hit in WEEKDAY.find_iter(around.text) {
            if is_apart(around, &hit.range()) {
                found.push(Finding::new(Kind::DateTime, hit.range(), 0.52, "day of the week"));
            }
        }
    }
    for hit in YEAR.find_iter(around.text) {
        if follows_word_for_times(around.text, hit.start())
            && is_apart(around, &hit.range())
            && !counts(around, hit.end())
        {
            found.push(Finding::new(Kind::DateTime, hit.range(), 0.62, "year"));
        }
    }
    for hit in YEAR_IN_BRACKETS.captures_iter(around.text) {
        let Some(year) = hit.get(1) else { continue };
        if is_apart(around, &year.range()) && !counts(around, year.end()) {
            found.push(Finding::new(Kind::DateTime, year.range(), 0.62, "year"));
        }
    }
}

fn names_foreign_month(text: &str) -> bool {
    MONTH_NAMES.find_iter(text).any(|name| {
        !text[..name.start()].ends_with(char::is_alphabetic)
            && !text[name.end()..].starts_with(char::is_alphabetic)
    })
}

/// Whether a word that is followed by times, or a verb in the past, is directly before a place.
fn follows_word_for_times(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ':'));
    if !(1..=2).contains(&(at - before.len())) {
        return false;
    }
    let start = before
        .char_indices()
        .rev()
        .take(16)
        .take_while(|(_, c)| c.is_alphabetic())
        .last()
        .map_or(before.len(), |(start, _)| start);
    let word = before[start..].to_lowercase();
    let attached = before[..start].ends_with(|c: char| c.is_ascii_digit() || c == '_');
    let past = word.len() > 4 && word.is_ascii() && word.ends_with("ed");
    !attached && (past || BEFORE_YEARS.contains(word.as_str()))
}

/// A number that is part of a longer one, of a version or of an address is no date.
fn is_apart(around: &Surroundings<'_>, place: &std::ops::Range<usize>) -> bool {
    let before = around.char_before(place.start);
    let mut on = around.text[place.end..].chars();
    let (next, second) = (on.next(), on.next());
    let joined = before.is_some_and(|c| {
        c.is_alphanumeric() || matches!(c, '-' | '/' | '.' | ':' | '_' | '$' | '+')
    });
    let goes_on = next.is_some_and(|c| c.is_alphanumeric() || c == '_')
        || next.is_some_and(|c| matches!(c, '-' | '/' | '.' | ':'))
            && second.is_some_and(char::is_alphanumeric);
    !joined && !goes_on
}

/// `1980 rows`, `2000 euros`: an amount.
fn counts(around: &Surroundings<'_>, end: usize) -> bool {
    let after = around.after(end);
    let next = after.split_whitespace().next().unwrap_or_default();
    after.starts_with(' ')
        && next.len() > 3
        && next.ends_with('s')
        && next.chars().all(char::is_alphabetic)
        && !["was", "this", "versus"].contains(&next)
}
