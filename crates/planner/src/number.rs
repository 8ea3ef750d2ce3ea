//! Numbers in a text, with their units.

/// A number as written, and what it counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantity {
    pub(crate) value: f64,
    pub(crate) is_whole: bool,
    pub(crate) unit: Unit,
    /// The number without currency sign, commas and percent sign.
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unit {
    None,
    Percent,
    Currency,
    /// The word that follows: `2 pounds`, `4-star`.
    Word(String),
}

const SIGNS: [char; 4] = ['$', '€', '£', '¥'];
const CURRENCIES: [&str; 8] =
    ["dollars", "dollar", "euros", "euro", "usd", "eur", "gbp", "pounds sterling"];
const WORDS: [(&str, f64); 11] = [
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
];

/// Reads the number at the start of a text; returns it with its length in bytes, without the unit's word.
pub(crate) fn number_at(text: &str) -> Option<(Quantity, usize)> {
    if let Some(found) = word_at(text) {
        return Some(found);
    }
    let (has_sign, after_sign) = match text.chars().next() {
        Some(c) if SIGNS.contains(&c) => (true, c.len_utf8()),
        _ => (false, 0),
    };
    let negative = text[after_sign..].starts_with('-');
    let start = after_sign + usize::from(negative);
    let bytes = text.as_bytes();
    let mut end = start;
    let mut digits = String::new();
    let mut has_point = false;
    while let Some(&byte) = bytes.get(end) {
        let next_is_digit = bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        match byte {
            b'0'..=b'9' => digits.push(char::from(byte)),
            b',' if next_is_digit && groups_of_three(&bytes[end + 1..]) => {}
            b'.' if next_is_digit && !has_point => {
                has_point = true;
                digits.push('.');
            }
            _ => break,
        }
        end += 1;
    }
    if digits.is_empty() || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let rest = &text[end..];
    let mut unit = if has_sign { Unit::Currency } else { unit_after(rest) };
    if rest.starts_with('%') {
        end += 1;
        unit = Unit::Percent;
    } else if rest.starts_with(|c: char| c.is_alphanumeric()) && unit == Unit::None {
        return None;
    }
    let text = if negative { format!("-{digits}") } else { digits };
    let value: f64 = text.parse().ok()?;
    Some((Quantity { value, is_whole: !has_point, unit, text }, end))
}

fn groups_of_three(rest: &[u8]) -> bool {
    rest.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count() == 3
}

fn word_at(text: &str) -> Option<(Quantity, usize)> {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let word = text[..end].to_ascii_lowercase();
    let &(_, value) = WORDS.iter().find(|(name, _)| *name == word)?;
    let unit = unit_after(&text[end..]);
    Some((Quantity { value, is_whole: true, unit, text: value.to_string() }, end))
}

/// The word after a number: ` pounds`, `-star`, `km`.
fn unit_after(rest: &str) -> Unit {
    let word = rest.trim_start_matches([' ', '-']);
    if rest.len() - word.len() > 1 {
        return Unit::None;
    }
    let end = word.find(|c: char| !c.is_alphabetic()).unwrap_or(word.len());
    match word[..end].to_lowercase().as_str() {
        "" => Unit::None,
        "percent" => Unit::Percent,
        currency if CURRENCIES.contains(&currency) => Unit::Currency,
        word => Unit::Word(word.to_owned()),
    }
}
