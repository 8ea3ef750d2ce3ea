//! Phone numbers: in international form, in the groups of a country, or named by the words around them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::calling_codes;
use super::lists;
use super::network::regex;
use super::surroundings::Surroundings;
use super::{Finding, Kind};

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:\+|\(\+?)?\d(?:[ \u{a0}]?[().\-/‑–]{0,2}[ \u{a0}]?\d){5,16}(?:\s?(?:x|ext\.?|extension)\s?\d{1,6})?",
    )
});

static CUES: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("phone"));

/// Words that name other numbers; the nearest word decides.
static OTHERS: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("no-phone"));

pub(super) fn find(around: &Surroundings<'_>, region: Option<&str>, found: &mut Vec<Finding>) {
    for hit in NUMBER.find_iter(around.text) {
        let place = with_bracket(around.text, hit.range());
        if !is_alone(around, &place) {
            continue;
        }
        if let Some((confidence, reason)) = judge(around, &place, region) {
            found.push(Finding::new(Kind::PhoneNumber, place, confidence, reason));
        }
    }
}

/// The match with the bracket that opens it, or without one that it does not close.
fn with_bracket(text: &str, place: Range<usize>) -> Range<usize> {
    let written = &text[place.clone()];
    let (opened, closed) = (written.matches('(').count(), written.matches(')').count());
    if closed > opened && text[..place.start].ends_with('(') {
        place.start - 1..place.end
    } else if opened > closed && written.starts_with('(') {
        place.start + 1..place.end
    } else {
        place
    }
}

fn is_alone(around: &Surroundings<'_>, place: &Range<usize>) -> bool {
    let attached = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#' | '$' | '€' | '£');
    let mut on = around.text[place.end..].chars();
    let (next, second) = (on.next(), on.next());
    let goes_on = match next {
        Some('-' | '.' | ':' | ',') => {
            second.is_some_and(|c| c.is_ascii_digit()) && next != Some(',')
        }
        Some('%' | '€' | '°') => true,
        Some(c) => c.is_alphanumeric() || c == '_',
        None => false,
    };
    let mut back = around.text[..place.start].chars().rev();
    let joined = match (back.next(), back.next()) {
        (Some(c), _) if attached(c) => true,
        (Some('-' | '.' | ':'), Some(c)) => c.is_alphanumeric(),
        _ => false,
    };
    !goes_on && !joined
}

fn judge(
    around: &Surroundings<'_>,
    place: &Range<usize>,
    region: Option<&str>,
) -> Option<(f32, &'static str)> {
    let written = &around.text[place.clone()];
    let body = written.split(['x', 'e']).next().unwrap_or_default();
    let digits: String = body.chars().filter(char::is_ascii_digit).collect();
    if !(7..=15).contains(&digits.len()) {
        return None;
    }
    let international = body.trim_start_matches('(').starts_with('+');
    if international {
        return calling_codes::fits(&digits)
            .then_some((0.95, "country code and a number of its length"));
    }
    let groups: Vec<&str> =
        body.split(|c: char| !c.is_ascii_digit()).filter(|g| !g.is_empty()).collect();
    if is_other_number(body, &groups) {
        return None;
    }
    if digits.starts_with("00") && calling_codes::fits(&digits[2..]) && groups.len() > 1 {
        return Some((0.85, "00, a country code and a number of its length"));
    }
    let cued = is_named(around, place);
    let other = !cued && around.introduced_by(place.start, &OTHERS);
    let lens: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let shape = shape(&digits, &lens, body);
    match (cued, shape) {
        (true, Some(_)) => Some((0.9, "groups of a phone number, named so")),
        (true, None) if digits.len() <= 13 => Some((0.7, "number named as a phone")),
        (false, Some(confidence)) if !other => Some((confidence, "groups of a phone number")),
        _ => region
            .filter(|region| !other && calling_codes::fits_national(region, &digits))
            .map(|_| (0.55, "number of the region's length")),
    }
}

/// How sure the grouping alone is.
fn shape(digits: &str, lens: &[usize], written: &str) -> Option<f32> {
    let area = digits.chars().next().is_some_and(|c| ('2'..='9').contains(&c));
    match lens {
        [3, 3, 4] if area => {
            Some(if written.contains(' ') && !written.contains('(') { 0.65 } else { 0.8 })
        }
        [1, 3, 3, 4] if digits.starts_with('1') => Some(0.8),
        [2, 2, 2, 2, 2] if digits.starts_with('0') => Some(0.8),
        [2, 4, 4] | [2, 5, 4] if written.contains('(') => Some(0.75),
        // A trunk prefix, and two groups or more after it.
        [first, _, _, ..]
            if digits.starts_with('0') && (2..=5).contains(first) && digits.len() >= 9 =>
        {
            Some(0.6)
        }
        [3..=5, _] if digits.starts_with('0') && (9..=12).contains(&digits.len()) => Some(0.55),
        [2..=4, _, ..] if written.starts_with('(') && (7..=11).contains(&digits.len()) => Some(0.6),
        [5, 5] if area => Some(0.5),
        _ => None,
    }
}

/// Dates, ISBNs, dotted and decimal numbers.
fn is_other_number(written: &str, groups: &[&str]) -> bool {
    let lens: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let plain = |c: char| written.chars().all(|d| d.is_ascii_digit() || d == c);
    let year =
        |group: &str| group.len() == 4 && (group.starts_with("19") || group.starts_with("20"));
    let dated = match groups {
        [first, middle, last] if middle.len() <= 2 => {
            year(first) && last.len() <= 2 || year(last) && first.len() <= 2
        }
        // From month and year to month and year.
        [a, from, b, to] if a.len() <= 2 && b.len() <= 2 => year(from) && year(to),
        [first, middle, last, _, ..] if middle.len() <= 2 && last.len() <= 2 => year(first),
        _ => false,
    };
    let isbn = groups.first().is_some_and(|g| *g == "978" || *g == "979") && groups.len() >= 4;
    let ssn = lens == [3, 2, 4] && plain('-');
    let decimal = lens.len() == 2 && plain('.');
    let thousands = lens.len() >= 2
        && lens[0] <= 3
        && lens[1..].iter().all(|len| *len == 3)
        && (plain('.') && lens.len() < 4);
    let octets = plain('.') && lens.len() == 4 && lens.iter().all(|len| *len <= 3);
    let years = groups.len() == 2 && groups.iter().all(|group| year(group));
    dated || isbn || ssn || decimal || thousands || octets || years
}

/// Whether the words around it speak of a phone, and no nearer word of something else.
fn is_named(around: &Surroundings<'_>, place: &Range<usize>) -> bool {
    let before = around.before(place.start);
    let last = |words: &[&str]| {
        words
            .iter()
            .filter_map(|word| {
                before.rmatch_indices(word).map(|(at, _)| at).find(|at| {
                    let edge = |c: Option<char>| !c.is_some_and(char::is_alphabetic);
                    edge(before[..*at].chars().next_back())
                        && edge(before[at + word.len()..].chars().next())
                })
            })
            .max()
    };
    match (last(&CUES), last(&OTHERS)) {
        (Some(cue), Some(other)) => cue > other && !names_another(&before[cue..]),
        (Some(cue), None) => !names_another(&before[cue..]),
        (None, _) => {
            let after = around.after(place.end);
            let after: Vec<&str> = after
                .split(['.', ',', ';', '?'])
                .next()
                .unwrap_or_default()
                .split(|c: char| !c.is_alphabetic())
                .filter(|word| !word.is_empty())
                .take(2)
                .collect();
            after.iter().any(|word| {
                [
                    "office", "fax", "mobile", "cell", "home", "work", "phone", "tel", "main",
                    "direct",
                ]
                .contains(word)
            })
        }
    }
}

/// `extension 40412, badge `: the cue names the number after it, and another word the next one.
fn names_another(between: &str) -> bool {
    const JOINS: &[&str] = &["and", "or", "und", "oder", "et", "ou", "y", "o", "e", "also", "then"];
    let Some(last) = between.rfind(|c: char| c.is_ascii_digit()) else { return false };
    between[last + 1..]
        .split(|c: char| !c.is_alphabetic())
        .any(|word| word.chars().count() > 2 && !JOINS.contains(&word))
}
