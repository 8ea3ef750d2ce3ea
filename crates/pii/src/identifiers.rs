//! Numbers that states and banks give: IBAN, SSN, NINO, CPF, driver licences.

use std::ops::Range;
use std::sync::LazyLock;

use iban::Iban;
use regex::Regex;

use super::lists;
use super::network::regex;
use super::surroundings::Surroundings;
use super::{Finding, Kind};

static IBAN: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)\b[a-z]{2}[0-9]{2}(?:[ \u{a0}-]?[a-z0-9]{4}){2,7}(?:[ \u{a0}-]?[a-z0-9]{1,4})?\b")
});
static SSN: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(\d{3})([- .]?)(\d{2})([- .]?)(\d{4})\b"));
static NINO: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\b([a-z]{2})[ -]?\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?[a-d]\b"));
static CPF: LazyLock<Regex> = LazyLock::new(|| regex(r"\b\d{3}[. ]?\d{3}[. ]?\d{3}[- ]?\d{2}\b"));
static LICENCE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:(?:[a-z]{1,4}-?|[a-z] )?\d[a-z0-9]{3,}(?:[- ]\d{2,6}){0,4}|[a-z]{1,5}\d[a-z0-9-]{3,14})\b",
    )
});

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    ibans(around, found);
    social_security(around, found);
    national_insurance(around, found);
    tax_numbers(around, found);
    licences(around, found);
}

fn ibans(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for hit in IBAN.find_iter(around.text) {
        let Some(len) = checked_iban(hit.as_str()) else { continue };
        let place = hit.start()..hit.start() + len;
        let reason = "IBAN with right check digits, in its country's form";
        found.push(Finding::new(Kind::IbanCode, place, 0.99, reason));
    }
}

/// The length of the longest prefix, ending with a group, that is an IBAN of a known country.
fn checked_iban(written: &str) -> Option<usize> {
    let mut end = written.len();
    loop {
        let compact: String = written[..end].chars().filter(char::is_ascii_alphanumeric).collect();
        if compact.len() < 15 {
            return None;
        }
        if compact.to_uppercase().parse::<Iban>().is_ok() {
            return Some(end);
        }
        end = written[..end].rfind([' ', '\u{a0}', '-'])?;
    }
}

fn social_security(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    const CUES: &[&str] =
        &["ssn", "social security", "social", "ssns", "itin", "tax id", "taxpayer"];
    for hit in SSN.captures_iter(around.text) {
        let Some(whole) = hit.get(0) else { continue };
        let (area, first, group, second, serial) = (&hit[1], &hit[2], &hit[3], &hit[4], &hit[5]);
        if first != second || !around.is_free(&whole.range()) || !issued(area, group, serial) {
            continue;
        }
        let cued = if first.is_empty() {
            names_digits(around, &whole.range(), CUES)
        } else {
            around.mentions(&whole.range(), CUES)
        };
        let (confidence, reason) = match (first, cued) {
            (_, true) => (0.96, "number in the form of an SSN, named so"),
            ("-", false) => (0.8, "number in the form of an SSN"),
            (" ", false) => (0.45, "number in the form of an SSN"),
            _ => continue,
        };
        found.push(Finding::new(Kind::UsSsn, whole.range(), confidence, reason));
    }
}

/// Whether the words before digits name them, or those after them up to the next part of the sentence.
fn names_digits(around: &Surroundings<'_>, place: &Range<usize>, cues: &[&str]) -> bool {
    let after = around.after(place.end);
    let after = after.split([',', ';', '.', '(', ')', '?']).next().unwrap_or_default();
    cued_before(around, place, cues)
        || cues.iter().any(|cue| super::surroundings::has_word(after, cue))
}

/// Numbers that the Social Security Administration gives out; some ITINs have an area of 900 or more.
fn issued(area: &str, group: &str, serial: &str) -> bool {
    area != "000" && area != "666" && !area.starts_with('9') && group != "00" && serial != "0000"
}

fn national_insurance(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for hit in NINO.captures_iter(around.text) {
        let Some(whole) = hit.get(0) else { continue };
        let prefix = hit[1].to_uppercase();
        if !around.is_free(&whole.range()) || !is_nino_prefix(&prefix) {
            continue;
        }
        let cued = around.mentions(&whole.range(), &["insurance", "nino", "ni", "national"]);
        let upper = !whole.as_str().chars().any(char::is_lowercase);
        let confidence = match (cued, upper) {
            (true, _) => 0.97,
            (false, true) => 0.85,
            (false, false) => 0.6,
        };
        let reason = "two characters, six digits and a suffix A to D";
        found.push(Finding::new(Kind::UkNino, whole.range(), confidence, reason));
    }
}

fn is_nino_prefix(prefix: &str) -> bool {
    let mut chars = prefix.chars();
    let (Some(first), Some(second)) = (chars.next(), chars.next()) else { return false };
    !"DFIQUV".contains(first)
        && !"DFIOQUV".contains(second)
        && !["BG", "GB", "NK", "KN", "TN", "NT", "ZZ"].contains(&prefix)
}

fn tax_numbers(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for hit in CPF.find_iter(around.text) {
        if !around.is_free(&hit.range()) || !is_cpf(hit.as_str()) {
            continue;
        }
        let cued = around.mentions(&hit.range(), &["cpf", "cpfs", "contribuinte", "cliente"]);
        let (confidence, reason) = match (cued, hit.len()) {
            (true, _) => (0.98, "CPF with right check digits, named so"),
            (false, 14) => (0.92, "CPF with right check digits"),
            (false, _) => (0.4, "eleven digits with the check digits of a CPF"),
        };
        found.push(Finding::new(Kind::BrCpf, hit.range(), confidence, reason));
    }
}

fn is_cpf(written: &str) -> bool {
    let digits: Vec<u32> = written.chars().filter_map(|c| c.to_digit(10)).collect();
    if digits.len() != 11 || digits.iter().all(|digit| *digit == digits[0]) {
        return false;
    }
    [9, 10].into_iter().all(|count| {
        let total: u32 = digits[..count]
            .iter()
            .enumerate()
            .map(|(index, digit)| digit * (count as u32 + 1 - index as u32))
            .sum();
        total * 10 % 11 % 10 == digits[count]
    })
}

fn licences(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    static CUES: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("driver-licence"));
    const OTHERS: &[&str] = &["software", "product", "plate", "mit", "key", "business", "apache"];
    for hit in LICENCE.find_iter(around.text) {
        let digits = hit.as_str().chars().filter(char::is_ascii_digit).count();
        if digits < 4 || hit.len() > 20 || !around.is_free(&hit.range()) {
            continue;
        }
        if !cued_before(around, &hit.range(), &CUES) || cued_before(around, &hit.range(), OTHERS) {
            continue;
        }
        found.push(Finding::new(
            Kind::UsDriverLicense,
            hit.range(),
            0.82,
            "named as a driver licence",
        ));
    }
}

fn cued_before(around: &Surroundings<'_>, place: &Range<usize>, cues: &[&str]) -> bool {
    let before = around.before(place.start);
    let near = super::surroundings::floor(&before, before.len().saturating_sub(36));
    cues.iter().any(|cue| super::surroundings::has_word(&before[near..], cue))
}
