//! Numbers with their units in a sentence.

use language::prose::Language;

use super::intent::is_function_word;

/// The unit of a calendar year.
pub const YEAR: &str = "year";

/// Tokens of a sentence that are read.
const MAX_TOKENS: usize = 200;

/// A number or a range with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    pub low: f64,
    pub high: f64,
    /// In lower case and singular, such as `%`, `degree` or `patient`.
    pub unit: String,
}

impl Quantity {
    /// Whether both can be true of one thing, with some tolerance for rounding.
    pub fn agrees(&self, other: &Self) -> bool {
        let slack = if self.unit == YEAR { 0.0 } else { 0.1 };
        let room = |value: f64| if value.is_finite() { value.abs() * slack } else { 0.0 };
        self.low - room(self.low) <= other.high + room(other.high)
            && other.low - room(other.low) <= self.high + room(self.high)
    }
}

const WORDS: [(&str, f64); 22] = [
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("zwei", 2.0),
    ("drei", 3.0),
    ("vier", 4.0),
    ("fünf", 5.0),
    ("sechs", 6.0),
    ("sieben", 7.0),
    ("acht", 8.0),
    ("neun", 9.0),
    ("zehn", 10.0),
    ("elf", 11.0),
    ("zwölf", 12.0),
];

const SCALES: [(&str, f64); 9] = [
    ("hundred", 1e2),
    ("thousand", 1e3),
    ("million", 1e6),
    ("millionen", 1e6),
    ("billion", 1e9),
    ("trillion", 1e12),
    ("tausend", 1e3),
    ("milliarde", 1e9),
    ("milliarden", 1e9),
];

/// Spellings of units, each with the one that is compared.
const UNITS: [(&str, &str); 36] = [
    ("%", "%"),
    ("percent", "%"),
    ("percentage", "%"),
    ("prozent", "%"),
    ("°c", "degree"),
    ("°", "degree"),
    ("degree", "degree"),
    ("degrees", "degree"),
    ("grad", "degree"),
    ("celsius", "degree"),
    ("°f", "°f"),
    ("fahrenheit", "°f"),
    ("$", "dollar"),
    ("usd", "dollar"),
    ("dollars", "dollar"),
    ("€", "euro"),
    ("eur", "euro"),
    ("euro", "euro"),
    ("dollar", "dollar"),
    ("euros", "euro"),
    ("£", "pound"),
    ("pounds", "pound"),
    ("years", "years"),
    ("jahre", "years"),
    ("monate", "month"),
    ("jahren", "years"),
    ("days", "day"),
    ("hours", "hour"),
    ("h", "hour"),
    ("minutes", "minute"),
    ("min", "minute"),
    ("seconds", "second"),
    ("s", "second"),
    ("ms", "millisecond"),
    ("milliseconds", "millisecond"),
    ("times", "times"),
];

/// Words before a number that make it a calendar year.
const BEFORE_YEARS: [&str; 49] = [
    "in",
    "since",
    "by",
    "from",
    "until",
    "before",
    "after",
    "during",
    "around",
    "early",
    "late",
    "mid",
    "year",
    "of",
    "and",
    "to",
    "between",
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
    "oktober",
    "november",
    "december",
    "seit",
    "im",
    "ab",
    "bis",
    "vor",
    "nach",
    "von",
    "um",
    "ende",
    "anfang",
    "mitte",
    "jahr",
    "januar",
    "februar",
    "märz",
    "mai",
    "juni",
    "juli",
    "dezember",
];

const MOST: [&str; 10] = [
    "up to",
    "as much as",
    "at most",
    "less than",
    "fewer than",
    "under",
    "bis zu",
    "höchstens",
    "weniger als",
    "unter",
];
const LEAST: [&str; 8] =
    ["at least", "more than", "as many as", "over", "above", "mindestens", "mehr als", "über"];

/// Words between a number and its unit: `400,000 US dollars`.
const BEFORE_UNITS: [&str; 8] =
    ["us", "u.s", "metric", "canadian", "australian", "percentage", "additional", "full"];

/// The numbers of a sentence, without those that belong to a name such as `RFC 9110`.
pub fn quantities(sentence: &str) -> Vec<Quantity> {
    let tokens: Vec<&str> = sentence.split_whitespace().take(MAX_TOKENS).map(trim).collect();
    let mut lower: Vec<String> = tokens.iter().map(|token| token.to_lowercase()).collect();
    if lower.iter().any(|token| is_marked_number(token)) && is_german(sentence) {
        lower.iter_mut().for_each(swap_marks);
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(number) = Number::parse(&lower[at]) else {
            at += 1;
            continue;
        };
        let mut next = at + 1;
        let mut high = number.high;
        let mut suffix = number.suffix.clone();
        let joined = |word: &str| match word {
            "to" | "bis" | "–" | "-" => true,
            "and" | "und" => at > 0 && ["between", "zwischen"].contains(&lower[at - 1].as_str()),
            _ => false,
        };
        if lower.get(next).is_some_and(|word| joined(word))
            && let Some(end) = lower.get(next + 1).and_then(|token| Number::parse(token))
        {
            high = end.high;
            suffix = if end.suffix.is_empty() { suffix } else { end.suffix };
            next += 2;
        }
        let scale = lower.get(next).and_then(|word| lookup(&SCALES, word));
        next += usize::from(scale.is_some());
        let mut following = lower.get(next).map(String::as_str).unwrap_or_default();
        if BEFORE_UNITS.contains(&following)
            && let Some(unit) = lower.get(next + 1).filter(|word| known_unit(word).is_some())
        {
            following = unit;
        }
        let named = at > 0 && is_name(tokens[at - 1], at - 1);
        if let Some(unit) = unit(&number, &suffix, following, &lower, at)
            && (!named || unit == YEAR || !suffix.is_empty() || known_unit(following).is_some())
        {
            let scale = scale.unwrap_or(1.0);
            let (low, high) = bounds(&lower, at, number.low * scale, high * scale);
            found.push(Quantity { low, high, unit });
        }
        at = next;
    }
    found
}

fn is_german(sentence: &str) -> bool {
    Language::detect(sentence).is_some_and(|language| language.code() == "de")
}

/// Whether a token is a number with a point or a comma within.
fn is_marked_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit()) && token.contains(['.', ','])
}

/// `1.500,5` as English writes it: `1,500.5`.
fn swap_marks(token: &mut String) {
    if is_marked_number(token) {
        *token = token
            .chars()
            .map(|c| match c {
                '.' => ',',
                ',' => '.',
                _ => c,
            })
            .collect();
    }
}

struct Number {
    low: f64,
    high: f64,
    suffix: String,
    /// Whether it is written in digits without a comma or a point.
    digits: bool,
}

impl Number {
    /// Reads `3`, `1,200`, `2.5%`, `$40`, `2–4` and `two`.
    fn parse(token: &str) -> Option<Self> {
        if let Some(value) = lookup(&WORDS, token) {
            return Some(Self { low: value, high: value, suffix: String::new(), digits: false });
        }
        let body = token.trim_start_matches(['~', '≈', '+', '±', '>', '<']);
        let currency = body.chars().next().filter(|c| matches!(c, '$' | '€' | '£'));
        let body = body.trim_start_matches(['$', '€', '£']);
        let (low, rest) = leading(body)?;
        let digits = body.len() - rest.len();
        let plain = body[..digits].bytes().all(|byte| byte.is_ascii_digit());
        let range = rest.strip_prefix(['-', '–', '—']).and_then(leading);
        let (high, rest) = range.unwrap_or((low, rest));
        let suffix = match currency {
            Some(symbol) => symbol.to_string(),
            None => rest.trim_start_matches('-').to_owned(),
        };
        Some(Self { low, high, suffix, digits: plain })
    }
}

/// The number at the beginning of a token, and the rest.
fn leading(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
    let mut number = &text[..end.unwrap_or(text.len())];
    number = number.trim_end_matches(['.', ',']);
    if !number.starts_with(|c: char| c.is_ascii_digit()) || number.matches('.').count() > 1 {
        return None;
    }
    let value = number.replace(',', "").parse().ok()?;
    Some((value, &text[number.len()..]))
}

fn unit(
    number: &Number,
    suffix: &str,
    following: &str,
    lower: &[String],
    at: usize,
) -> Option<String> {
    let is_year = number.digits && (1500.0..=2100.0).contains(&number.low);
    if is_year && suffix == "s" {
        return Some(YEAR.to_owned());
    }
    if !suffix.is_empty() {
        let short = suffix.chars().nth(6).is_none();
        return short.then(|| known_unit(suffix).unwrap_or(suffix).to_owned());
    }
    if let Some(unit) = known_unit(following) {
        return Some(unit.to_owned());
    }
    if is_year && (at == 0 || BEFORE_YEARS.contains(&lower[at - 1].as_str())) {
        return Some(YEAR.to_owned());
    }
    let noun = following.chars().nth(1).is_some()
        && following.chars().all(|c| c.is_alphabetic() || c == '-')
        && !is_function_word(following);
    if is_year && !noun {
        return Some(YEAR.to_owned());
    }
    noun.then(|| language::words::stem(following))
}

fn known_unit(word: &str) -> Option<&'static str> {
    UNITS.iter().find(|(spelling, _)| *spelling == word).map(|(_, unit)| *unit)
}

fn lookup(table: &[(&str, f64)], word: &str) -> Option<f64> {
    table.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

/// `up to 5` has no lower bound, `more than 5` no upper one, `about 5` is a range.
fn bounds(lower: &[String], at: usize, low: f64, high: f64) -> (f64, f64) {
    let before = lower[at.saturating_sub(3)..at].join(" ");
    let ends = |phrases: &[&str]| phrases.iter().any(|phrase| before.ends_with(phrase));
    let about = [
        "about",
        "around",
        "roughly",
        "approximately",
        "nearly",
        "almost",
        "some",
        "etwa",
        "rund",
        "ungefähr",
        "circa",
        "ca",
        "knapp",
        "fast",
    ];
    if ends(&MOST) {
        (f64::NEG_INFINITY, high)
    } else if ends(&LEAST) {
        (low, f64::INFINITY)
    } else if ends(&about) {
        (low * 0.85, high * 1.15)
    } else {
        (low, high)
    }
}

/// Whether a number after this token is a part of a name.
fn is_name(token: &str, at: usize) -> bool {
    let capital = token.starts_with(char::is_uppercase);
    let acronym = capital && token.chars().nth(1).is_some_and(char::is_uppercase);
    acronym || (capital && at > 0)
}

fn trim(token: &str) -> &str {
    let marks = |c: char| {
        matches!(c, ',' | '.' | ';' | ':' | '(' | ')' | '"' | '“' | '”' | '!' | '[' | ']')
    };
    token.trim_matches(marks)
}
