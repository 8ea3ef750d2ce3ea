//! Postal codes that words name or that follow a state; those after a place are found with the place.

use std::sync::LazyLock;

use regex::{Match, Regex};

use super::lists;
use super::network::regex;
use super::surroundings::{Surroundings, has_word};
use super::{Finding, Kind};

static CODE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:\d{5}(?:[- ]\d{4}|-\d{3})?|\d{3} \d{2}|\d{4}(?: [a-z]{2})?|\d{6}|\d{2}-\d{3}|[a-z]\d[a-z] ?\d[a-z]\d|[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2})\b",
    )
});
static STATE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]) (\d{5}(?:-\d{4})?)\b",
    )
});

static CUES: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("postcode"));

/// Names of postal codes that say nothing else.
static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("only-postcode"));
/// Words that name other numbers.
static OTHERS: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("no-postcode"));

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for hit in CODE.find_iter(around.text) {
        if around.is_free(&hit.range())
            && let Some(confidence) = judge(around, &hit)
        {
            found.push(Finding::new(
                Kind::ZipCode,
                hit.range(),
                confidence,
                "named as a postal code",
            ));
        }
    }
    for hit in STATE.captures_iter(around.text) {
        if let Some(code) = hit.get(1)
            && around.is_free(&code.range())
        {
            found.push(Finding::new(
                Kind::ZipCode,
                code.range(),
                0.72,
                "five digits after a state",
            ));
        }
    }
}

/// How sure the words around a number are that it is a postal code.
fn judge(around: &Surroundings<'_>, hit: &Match<'_>) -> Option<f32> {
    if around.introduced_by(hit.start(), &CUES) {
        return Some(0.9);
    }
    let digits = hit.as_str().chars().filter(char::is_ascii_digit).count();
    let named = digits > 3 && precedes_name(around, hit.end())
        || digits > 4 && answers_name(around, hit.start());
    named.then_some(0.7)
}

/// `the 20095 postcode`.
fn precedes_name(around: &Surroundings<'_>, end: usize) -> bool {
    let after = around.after(end);
    let Some(after) = after.strip_prefix(' ') else { return false };
    NAMES.iter().any(|name| {
        after.strip_prefix(name).is_some_and(|rest| {
            !rest.starts_with(|c: char| c.is_alphanumeric())
                && !rest.trim_start().starts_with([':', '=', '#'])
        })
    })
}

/// `What is the postcode of Hull? I think 20095`: the first number after the name, unless another word names it.
fn answers_name(around: &Surroundings<'_>, start: usize) -> bool {
    let before = around.before(start);
    if !before.contains("zip") && !before.contains("post") {
        return false;
    }
    let named = NAMES.iter().filter_map(|name| Some((before.rfind(name)?, name))).max();
    named.is_some_and(|(at, name)| {
        let between = &before[at + name.len()..];
        has_word(&before[at..], name)
            && !between.contains(|c: char| c.is_numeric() || c == '\n')
            && !OTHERS.iter().any(|other| has_word(between, other))
    })
}
