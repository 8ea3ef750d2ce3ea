//! Payment cards: digits with a right Luhn check digit, and an issuer's prefix or words that say so.

use std::sync::LazyLock;

use regex::Regex;

use super::lists;
use super::network::regex;
use super::surroundings::Surroundings;
use super::{Finding, Kind};

static CARD: LazyLock<Regex> = LazyLock::new(|| regex(r"\b\d(?:[ \u{a0}-]?\d){11,18}\b"));

static CUES: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("card"));

/// Words that name other numbers.
const OTHERS: &[&str] =
    &["tracking", "isbn", "imei", "order number", "serial", "barcode", "ean", "parcel", "shipment"];

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for hit in CARD.find_iter(around.text) {
        let digits: Vec<u8> =
            hit.as_str().bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
        if !around.is_free(&hit.range()) || !luhn(&digits) || digits.iter().all(|d| *d == digits[0])
        {
            continue;
        }
        let cued = around.mentions(&hit.range(), &CUES);
        let other = around.introduced_by(hit.start(), OTHERS);
        let known = is_issued(&digits);
        let grouped = is_grouped(hit.as_str());
        let (confidence, reason) = match (cued, known, grouped) {
            (true, true, _) => (0.99, "right check digit, an issuer's prefix, named as a card"),
            (true, false, _) => (0.85, "right check digit, named as a card"),
            (false, true, true) => (0.9, "right check digit and an issuer's prefix"),
            _ => continue,
        };
        let confidence = if other && !cued { 0.3 } else { confidence };
        found.push(Finding::new(Kind::CreditCard, hit.range(), confidence, reason));
    }
}

/// The check of ISO/IEC 7812.
pub(super) fn luhn(digits: &[u8]) -> bool {
    let total: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| {
            let value = u32::from(*digit) * if index % 2 == 1 { 2 } else { 1 };
            value / 10 + value % 10
        })
        .sum();
    total.is_multiple_of(10)
}

/// Whether an issuer uses the prefix with this length. Twelve digits are too common without a word for them.
fn is_issued(digits: &[u8]) -> bool {
    let prefix = |count: usize| digits[..count].iter().fold(0u32, |n, d| n * 10 + u32::from(*d));
    let (one, two, three, four) = (prefix(1), prefix(2), prefix(3), prefix(4));
    match digits.len() {
        13 => one == 4,
        14 => two == 36 || two == 38 || two == 39 || (300..=305).contains(&three),
        15 => two == 34 || two == 37 || four == 1800 || four == 2131,
        16 => {
            one == 4
                || (51..=55).contains(&two)
                || (2221..=2720).contains(&four)
                || four == 6011
                || (644..=659).contains(&three)
                || two == 62
                || (3528..=3589).contains(&four)
                || matches!(two, 30 | 36 | 38 | 39 | 50 | 60 | 63 | 67 | 81)
        }
        19 => one == 4 || two == 62 || two == 67 || two == 63 || four == 6011,
        17 | 18 => two == 62 || two == 67,
        _ => false,
    }
}

/// Whether the digits are written without gaps or in the groups of cards.
fn is_grouped(written: &str) -> bool {
    let groups: Vec<usize> = written.split([' ', '\u{a0}', '-']).map(str::len).collect();
    matches!(
        groups[..],
        [_] | [4, 4, 4, 4]
            | [4, 6, 5]
            | [4, 6, 4]
            | [4, 4, 4, 4, 3]
            | [4, 4, 4, 1]
            | [6, 13]
            | [4, 4, 5]
    )
}
