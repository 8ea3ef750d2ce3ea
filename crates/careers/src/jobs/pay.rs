//! What a job pays, as it is written.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{beginning, ending, has_phrase};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pay {
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// ISO 4217.
    pub currency: Option<String>,
    pub period: Option<Period>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    Hour,
    Day,
    Week,
    Month,
    Year,
}

const CURRENCY: &str = r"TEUR|T€|US\$|USD|CA\$|C\$|CAD|AU\$|A\$|AUD|NZ\$|NZD|\$|€|EUR(?:OS?)?|Euros?|£|GBP|CHF|SFr\.?|Fr\.|¥|JPY|PLN|zł|SEK|NOK|DKK|CZK|HUF|₹|INR|SGD|HKD|MXN|BRL|R\$|ZAR";
const NUMBER: &str = r"\d{1,3}(?:[.,'’ ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?";

static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    let one = |name: &str| {
        format!(
            r"(?P<{name}a>(?i:{CURRENCY}))?\s?(?P<{name}>{NUMBER})\s?(?P<{name}k>[kK]\b|(?i:tsd\.?|lpa|lakhs?|lacs?)\b)?\s?(?P<{name}b>(?i:{CURRENCY}))?"
        )
    };
    // "$40/hr - $50/hr": each amount may have its period.
    let each = r"(?:\s?(?:/|(?i:\b(?:per|an?|pro|par|por)\s))\s?(?i:hr|h|hour|std|stunde|heure|hora|day|tag|jour|día|week|mo|month|monat|mois|mes|yr|year|annum|jahr|an|año)\b\.?)?";
    let to = r"\s?(?:–|—|-|‑|−|(?i:\bto\b|\bbis\b|\band\b|\bund\b|\bet\b|à|\ba\b|\by\b))\s?";
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(&format!(r"{}(?:{each}{to}{})?", one("x"), one("y")))
        .expect("a pattern that compiles")
});

/// Words of pay, in lower case.
const PAY_WORDS: &str = "salary|pay|pays|paid|paying|compensation|remuneration|wage|wages|rate|earn|earnings|package|ote|gross|base|per \
    annum|p.a.|gehalt|jahresgehalt|vergütung|lohn|brutto|verdienst|verdienen|bezahlung|stundenlohn|tagessatz|entgelt|salaire|\
    rémunération|brut|tjm|salario|sueldo|retribución|bruto|brutos|remuneración|salarial";

/// Words of money that is not pay, in lower case.
const OTHER_MONEY: &str = "million|millions|mio|funding|revenue|turnover|budget|umsatz|bonus|referral|voucher|allowance|stipend|\
    investment|raised|series|fee|deposit|kaution|chiffre d'affaires|facturación|savings|learning|fine|price|grant";

const PERIODS: [(Period, &str); 5] = [
    (
        Period::Hour,
        "per hour|an hour|/hour|/hr|/h|hourly|p/h|ph|pro stunde|die stunde|je stunde|/std|/stunde|stundenlohn|par heure|de l'heure|\
         l'heure|/heure|horaire|por hora|la hora|/hora|hora",
    ),
    (
        Period::Day,
        "per day|a day|/day|daily|p/d|day rate|pro tag|am tag|/tag|tagessatz|je tag|par jour|/jour|tjm|la journée|por día|al día|/día|\
         diarios",
    ),
    (
        Period::Week,
        "per week|a week|/week|weekly|pw|pro woche|/woche|par semaine|/semaine|por semana|a la semana|semanales",
    ),
    (
        Period::Month,
        "per month|a month|/month|/mo|monthly|pcm|pro monat|im monat|/monat|monatlich|monatsgehalt|par mois|/mois|mensuel|mensuels|por \
         mes|al mes|/mes|mensuales|mensual",
    ),
    (
        Period::Year,
        "per year|a year|/year|/yr|yearly|annual|annually|per annum|p.a|pa|annum|pro jahr|im jahr|/jahr|jährlich|jahresgehalt|par an|/an|\
         annuel|annuels|l'an|por año|al año|/año|anuales|anual",
    ),
];

const AT_MOST: &str = "up to|upto|max|max.|maximum|at most|no more than|bis zu|bis|maximal|höchstens|jusqu'à|jusqu’à|au plus|hasta|\
    máximo|as much as";
const AT_LEAST: &str = "from|starting at|starting from|at least|min|min.|minimum|no less than|not less than|ab|mindestens|à partir de|dès|\
    au moins|a partir de|desde|al menos|mínimo|over|more than|von";

/// Words further from an amount than this many bytes say nothing about it. A text with many amounts would be read once for
/// each without a limit.
const NEAR: usize = 300;

/// A sentence with more amounts is a table.
const MOST_AMOUNTS: usize = 40;

/// The pay in one line or sentence, and how sure it is that it is pay: 0 is not.
pub(super) fn find(text: &str, named: bool) -> Option<(Pay, u8)> {
    let mut best: Option<(Pay, u8)> = None;
    for found in AMOUNT.captures_iter(text).take(MOST_AMOUNTS) {
        let Some((pay, sure)) = read(text, &found, named) else { continue };
        if best.as_ref().is_none_or(|(_, before)| sure > *before) {
            best = Some((pay, sure));
        }
    }
    best
}

fn read(text: &str, found: &Captures<'_>, named: bool) -> Option<(Pay, u8)> {
    let part = |name: &str| found.name(name).map(|part| part.as_str());
    let whole = found.get(0)?;
    let currency = ["xa", "xb", "ya", "yb"].iter().find_map(|name| part(name));
    if currency.is_none() && !named {
        return None;
    }
    // A number within a word or a longer number is none.
    let start = found.name("xa").or_else(|| found.name("x"))?.start();
    let before = ending(&text[..start], NEAR).to_lowercase();
    if before.ends_with(|sign: char| sign.is_alphanumeric() || sign == '#') {
        return None;
    }
    let after = beginning(&text[whole.end()..], NEAR).to_lowercase();
    let (low, high) =
        (amount(part("x")?, part("xk"))?, part("y").and_then(|high| amount(high, part("yk"))));
    // "45–60k": the unit is written once.
    let low = match part("yk") {
        Some(unit) if part("xk").is_none() && high.is_some_and(|high| low * 20.0 < high) => {
            low * factor(unit)
        }
        _ => low,
    };
    // "55–65 TEUR": the unit is a part of the currency.
    let in_thousands =
        currency.is_some_and(|written| ["TEUR", "T€"].contains(&written.to_uppercase().as_str()));
    let scale = if in_thousands && low < 1000.0 { 1000.0 } else { 1.0 };
    let (low, high) = (low * scale, high.map(|high| high * scale));
    // "10,000+ customers" is no pay, "£72k + car allowance" and "£72k+" are.
    let open = after.starts_with('+') && !whole.as_str().ends_with(char::is_whitespace);
    if after.trim_start().starts_with('%') && high.is_none()
        || open && high.is_none() && currency.is_none()
    {
        return None;
    }
    let lead = tail(&before, 24);
    let next = head(&after, 28);
    let period = period(&next).or_else(|| period(&before)).or_else(|| period(&after));
    let sure = certainty(&before, &after, &lead, &next, named, period.is_some(), low)?;
    // Two amounts of a year's pay are rarely anything else.
    let sure = sure + u8::from(low >= 15_000.0 && high.is_some_and(|high| high < 10.0 * low));
    let (min, max) = match high {
        Some(high) if high < low => return None,
        Some(high) => (Some(low), Some(high)),
        None if ends_with_any(&lead, AT_MOST) => (None, Some(low)),
        None if ends_with_any(&lead, AT_LEAST) || open => (Some(low), None),
        None => (Some(low), Some(low)),
    };
    // An amount of five digits is never paid by the hour, day or month in these currencies, but for small units.
    let large = min.or(max).is_some_and(|amount| amount >= 15_000.0);
    let period = period.or((large && currency.is_some()).then_some(Period::Year));
    Some((Pay { min, max, currency: currency.and_then(code), period }, sure))
}

fn certainty(
    before: &str,
    after: &str,
    lead: &str,
    next: &str,
    named: bool,
    period: bool,
    low: f64,
) -> Option<u8> {
    // "$105K + 15% bonus" is pay, "$5,000 bonus" is not.
    let same = next.split(['+', '(', ';', ',', '➕']).next().unwrap_or("");
    let same = same.split(" plus ").next().unwrap_or("");
    if any(same, OTHER_MONEY)
        || next.trim_start().starts_with(['m', 'b']) && next.trim_start().len() == 1
    {
        return None;
    }
    let other = any(&tail(before, 40), OTHER_MONEY) || any(lead, OTHER_MONEY);
    let cue = any(before, PAY_WORDS) || any(after, PAY_WORDS) || has_pay_compound(before);
    if other && !any(lead, PAY_WORDS) {
        return None;
    }
    let mut sure = u8::from(named) * 4 + u8::from(cue) * 2 + u8::from(period) * 2;
    sure += u8::from(low >= 1000.0);
    (sure >= 1).then_some(sure)
}

/// A number as it is written in four languages.
fn amount(written: &str, thousands: Option<&str>) -> Option<f64> {
    let mut digits = String::new();
    let groups: Vec<&str> = written.split(['.', ',', '\'', '’', ' ']).collect();
    for (index, group) in groups.iter().enumerate() {
        // A last group of one or two digits is a fraction.
        if index > 0 && index == groups.len() - 1 && group.len() < 3 {
            digits.push('.');
        }
        digits.push_str(group);
    }
    let number: f64 = digits.parse().ok()?;
    Some(thousands.map_or(number, |unit| number * factor(unit)))
}

/// What a unit after a number multiplies it by.
fn factor(unit: &str) -> f64 {
    if unit.to_lowercase().starts_with('l') { 100_000.0 } else { 1000.0 }
}

/// German joins the word for pay to others: "Bruttomonatsgehalt".
fn has_pay_compound(text: &str) -> bool {
    let ends = ["gehalt", "lohn", "vergütung", "entgelt", "verdienst"];
    text.split_whitespace().any(|word| {
        let word = word.trim_end_matches([':', ',']);
        ends.iter().any(|end| word.ends_with(end))
    })
}

fn code(written: &str) -> Option<String> {
    let code = match written.to_lowercase().as_str() {
        "$" | "us$" | "usd" => "USD",
        "ca$" | "c$" | "cad" => "CAD",
        "au$" | "a$" | "aud" => "AUD",
        "nz$" | "nzd" => "NZD",
        "€" | "eur" | "teur" | "t€" | "euro" | "euros" | "euros?" => "EUR",
        "£" | "gbp" => "GBP",
        "chf" | "sfr" | "sfr." | "fr." => "CHF",
        "¥" | "jpy" => "JPY",
        "pln" | "zł" => "PLN",
        "₹" | "inr" => "INR",
        "r$" | "brl" => "BRL",
        other => return (other.len() == 3).then(|| other.to_uppercase()),
    };
    Some(code.to_owned())
}

fn period(text: &str) -> Option<Period> {
    let text = text.replace('’', "'");
    let found = PERIODS.iter().filter_map(|(period, words)| {
        let places = words.split('|').filter(|word| {
            let compound =
                word.starts_with('/') || word.ends_with("gehalt") || word.ends_with("lohn");
            has_phrase(&text, word) || compound && text.contains(*word)
        });
        places.filter_map(|word| text.find(word)).min().map(|at| (at, *period))
    });
    found.min_by_key(|(at, _)| *at).map(|(_, period)| period)
}

fn any(text: &str, words: &str) -> bool {
    words.split('|').any(|word| has_phrase(text, word))
}

fn ends_with_any(text: &str, words: &str) -> bool {
    let text = text.trim_end().trim_end_matches([':', '(']).trim_end();
    words.split('|').any(|word| {
        text.strip_suffix(word).is_some_and(|before| !before.ends_with(char::is_alphanumeric))
    })
}

/// The last characters of a text.
fn tail(text: &str, characters: usize) -> String {
    let skipped = text.chars().count().saturating_sub(characters);
    text.chars().skip(skipped).collect()
}

/// The first characters of a text.
fn head(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}
