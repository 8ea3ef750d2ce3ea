//! Dates and times that name a day, a month of a year, or a year.

use std::sync::LazyLock;

use regex::Regex;

use super::network::regex;
use super::surroundings::Surroundings;
use super::{Finding, Kind};

const MONTHS: &str = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
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
        (regex(&format!(r"(?i)\b{TIME}")), 0.5, "time of day"),
        (regex(r"(?i)\b[01]?\d\s?[ap]\.?m\b\.?"), 0.5, "time of day"),
    ]
});

/// A year, after a word that is followed by times.
static YEAR: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:in|since|until|till|by|from|of|around|circa|year|before|after|during|late|early|mid|summer|winter|spring|autumn|fall|between|and|to|late-|born|class of)[\s(:]{1,2}((?:1[6-9]|20)\d{2})\b",
    )
});
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
    for pattern in [&YEAR, &YEAR_IN_BRACKETS] {
        for hit in pattern.captures_iter(around.text) {
            let Some(year) = hit.get(1) else { continue };
            if is_apart(around, &year.range()) && !counts(around, year.end()) {
                found.push(Finding::new(Kind::DateTime, year.range(), 0.62, "year"));
            }
        }
    }
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
