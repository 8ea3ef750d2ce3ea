//! Number formats such as `#,##0.00 [$€-407];[Red]-0%`, and numbers written by them.

use super::decimal::Decimal;

/// The most characters of a format that are read, and the most decimals that are shown.
const LONGEST: usize = 400;
const MOST_DECIMALS: usize = 30;

/// The most exponents and scaling signs.
const MOST_SCALED: i32 = 10;

/// A format for numbers: one section for all of them, or several by sign or by condition.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::office::xlsx) struct NumberFormat(Vec<Section>);

/// What dates and times a format shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::office::xlsx) enum Parts {
    Date,
    Time,
    /// Hours that are counted on after a day, as in `[h]:mm`.
    Duration,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Section {
    condition: Option<Condition>,
    tokens: Vec<Token>,
    /// How often the number is divided by 1000, as by the comma in `0,"k"`.
    thousands: i32,
    percents: i32,
    grouped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Condition {
    Less(f64),
    AtMost(f64),
    More(f64),
    AtLeast(f64),
    Equal(f64),
    Unequal(f64),
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Text(String),
    /// A digit; only `0` is shown where the number has none.
    Digit {
        always: bool,
    },
    Point,
    /// `E+` or `E-`.
    Exponent {
        plus: bool,
    },
    /// The number as it is.
    General,
}

/// Whether a format is one of dates or times.
pub(super) fn date_parts(code: &str) -> Option<Parts> {
    let (mut date, mut time) = (false, false);
    let mut characters = code.chars().take(LONGEST);
    while let Some(character) = characters.next() {
        match character {
            '"' => drop(characters.by_ref().find(|it| *it == '"')),
            '[' => {
                let inside: String = characters.by_ref().take_while(|it| *it != ']').collect();
                if matches!(
                    inside.to_ascii_lowercase().as_str(),
                    "h" | "hh" | "m" | "mm" | "s" | "ss"
                ) {
                    return Some(Parts::Duration);
                }
            }
            '\\' | '_' | '*' => drop(characters.next()),
            'y' | 'Y' | 'd' | 'D' => date = true,
            'h' | 'H' | 's' | 'S' => time = true,
            // Minutes in a time, else months.
            'm' | 'M' => date |= !time && !has_seconds(characters.clone()),
            // `General` has no letter of a date.
            'G' => drop(characters.by_ref().nth(5)),
            _ => {}
        }
    }
    match (date, time) {
        (true, _) => Some(Parts::Date),
        (false, true) => Some(Parts::Time),
        (false, false) => None,
    }
}

/// Whether seconds follow minutes, as in `mm:ss`.
fn has_seconds(rest: impl Iterator<Item = char>) -> bool {
    let mut rest = rest.skip_while(|it| matches!(it, 'm' | 'M'));
    rest.next() == Some(':') && matches!(rest.next(), Some('s' | 'S'))
}

impl NumberFormat {
    /// `None` for a format that shows numbers as they are, or as fractions.
    pub(super) fn parse(code: &str) -> Option<Self> {
        let mut sections = vec![Section::default()];
        let mut characters = code.chars().take(LONGEST).peekable();
        let mut commas = 0;
        while let Some(character) = characters.next() {
            let section = sections.last_mut()?;
            if !matches!(character, ',' | '0' | '#' | '?') {
                // Commas that no digit follows divide the number.
                section.thousands = (section.thousands + commas).min(MOST_SCALED);
                commas = 0;
            }
            match character {
                ';' => sections.push(Section::default()),
                '"' => section.text(characters.by_ref().take_while(|it| *it != '"')),
                '\\' => section.text(characters.next()),
                '_' => {
                    characters.next();
                    section.text([' ']);
                }
                '*' => drop(characters.next()),
                '[' => {
                    let inside: String = characters.by_ref().take_while(|it| *it != ']').collect();
                    section.bracket(&inside);
                }
                '0' | '#' | '?' => {
                    section.grouped |= commas > 0;
                    commas = 0;
                    section.tokens.push(Token::Digit { always: character == '0' });
                }
                ',' if section.has_digit() => commas += 1,
                '.' => section.tokens.push(Token::Point),
                '%' => {
                    section.percents = (section.percents + 1).min(MOST_SCALED);
                    section.text(['%']);
                }
                'E' | 'e' if matches!(characters.peek(), Some('+' | '-')) => {
                    let plus = characters.next() == Some('+');
                    section.tokens.push(Token::Exponent { plus });
                }
                'G' if characters.clone().take(6).eq("eneral".chars()) => {
                    characters.by_ref().take(6).for_each(drop);
                    section.tokens.push(Token::General);
                }
                '/' if section.has_digit() => return None,
                '@' => {}
                other => section.text([other]),
            }
        }
        let last = sections.last_mut()?;
        last.thousands = (last.thousands + commas).min(MOST_SCALED);
        let plain = sections.iter().all(|it| it.tokens == [Token::General] || it.tokens.is_empty());
        (!plain || sections.len() > 1).then_some(Self(sections))
    }

    /// A number as this format shows it.
    pub(super) fn show(&self, number: f64, general: impl Fn(f64) -> String) -> String {
        let (section, signed) = self.section(number);
        let text = section.show(number.abs(), general);
        let is_zero = !text.chars().any(|it| ('1'..='9').contains(&it));
        let sign = if signed && number < 0.0 && !is_zero { "-" } else { "" };
        extraction::text::on_one_line(&format!("{sign}{text}"))
    }

    /// The section for a number, and whether a minus sign must be added to it.
    fn section(&self, number: f64) -> (&Section, bool) {
        let Self(sections) = self;
        if let Some(found) = sections.iter().find(|it| it.condition.is_some_and(|it| it.is(number)))
        {
            return (found, true);
        }
        let plain: Vec<&Section> = sections.iter().filter(|it| it.condition.is_none()).collect();
        let conditional = plain.len() < sections.len();
        match plain.as_slice() {
            [] => (&sections[0], true),
            [first, ..] if conditional => (first, true),
            [_, negative, ..] if number < 0.0 => (negative, false),
            [_, _, zero, ..] if number == 0.0 => (zero, false),
            [first, ..] => (first, true),
        }
    }
}

impl Section {
    fn text(&mut self, text: impl IntoIterator<Item = char>) {
        match self.tokens.last_mut() {
            Some(Token::Text(last)) => last.extend(text),
            _ => self.tokens.push(Token::Text(text.into_iter().collect())),
        }
    }

    fn has_digit(&self) -> bool {
        self.tokens.iter().any(|token| matches!(token, Token::Digit { .. }))
    }

    /// A currency, a condition or a colour.
    fn bracket(&mut self, inside: &str) {
        if let Some(currency) = inside.strip_prefix('$') {
            let symbol = currency.split('-').next().unwrap_or_default();
            self.text(symbol.chars());
            return;
        }
        let limit = |sign: &str| inside.strip_prefix(sign)?.trim().parse::<f64>().ok();
        let condition = None
            .or_else(|| limit("<=").map(Condition::AtMost))
            .or_else(|| limit(">=").map(Condition::AtLeast))
            .or_else(|| limit("<>").map(Condition::Unequal))
            .or_else(|| limit("<").map(Condition::Less))
            .or_else(|| limit(">").map(Condition::More))
            .or_else(|| limit("=").map(Condition::Equal));
        self.condition = self.condition.or(condition);
    }

    /// A number without its sign.
    fn show(&self, number: f64, general: impl Fn(f64) -> String) -> String {
        let exponent = self.tokens.iter().position(|it| matches!(it, Token::Exponent { .. }));
        let mantissa = &self.tokens[..exponent.unwrap_or(self.tokens.len())];
        let point = mantissa.iter().position(|it| *it == Token::Point).unwrap_or(mantissa.len());
        let decimals: Vec<bool> = digits(&mantissa[point..]);
        let mut decimal = Decimal::of(number);
        decimal.shift(self.percents * 2 - self.thousands * 3);
        let power = if exponent.is_some() { decimal.normalise() } else { 0 };
        let shown = decimals.len().min(MOST_DECIMALS);
        let carried = decimal.round(shown);
        let power = if exponent.is_some() && carried { power + decimal.normalise() } else { power };
        let mut out = self.integer(&mantissa[..point], &decimal, number, &general);
        let always = decimals.iter().rposition(|always| *always).map_or(0, |last| last + 1);
        let fraction = decimal.fraction(shown, always.min(shown));
        let mut fraction = Some(fraction);
        for token in &mantissa[point..] {
            match token {
                Token::Text(text) => out.push_str(text),
                Token::Digit { .. } | Token::Point => {
                    if let Some(fraction) = fraction.take().filter(|it| !it.is_empty()) {
                        out.push('.');
                        out.push_str(&fraction);
                    }
                }
                Token::General | Token::Exponent { .. } => {}
            }
        }
        if let Some(at) = exponent {
            let rest = &self.tokens[at + 1..];
            let plus = matches!(self.tokens[at], Token::Exponent { plus: true });
            let sign = if power < 0 {
                "-"
            } else if plus {
                "+"
            } else {
                ""
            };
            let width = digits(rest).len();
            out.push_str(&format!("E{sign}{:0width$}", power.unsigned_abs()));
            rest.iter().for_each(|token| {
                if let Token::Text(text) = token {
                    out.push_str(text);
                }
            });
        }
        out
    }

    /// The part before the point: digits fill their places from the right.
    fn integer(
        &self,
        tokens: &[Token],
        decimal: &Decimal,
        number: f64,
        general: impl Fn(f64) -> String,
    ) -> String {
        let places = digits(tokens);
        let least = places.iter().position(|always| *always).map_or(0, |at| places.len() - at);
        let whole = decimal.whole(least, self.grouped);
        let mut rest: Vec<char> = whole.chars().collect();
        let mut left = places.len();
        let mut parts: Vec<String> = Vec::new();
        for token in tokens.iter().rev() {
            match token {
                Token::Text(text) => parts.push(text.clone()),
                Token::General => parts.push(general(number)),
                Token::Digit { .. } => {
                    left -= 1;
                    // The first place takes all digits that are left; a separator goes with the digit before it.
                    let mut taken = if left == 0 { rest.len() } else { 1.min(rest.len()) };
                    if left > 0 && rest.last() == Some(&',') {
                        taken = 2.min(rest.len());
                    }
                    parts.push(rest.split_off(rest.len() - taken).into_iter().collect());
                }
                Token::Point | Token::Exponent { .. } => {}
            }
        }
        parts.into_iter().rev().collect()
    }
}

impl Condition {
    fn is(self, number: f64) -> bool {
        match self {
            Self::Less(limit) => number < limit,
            Self::AtMost(limit) => number <= limit,
            Self::More(limit) => number > limit,
            Self::AtLeast(limit) => number >= limit,
            Self::Equal(limit) => number == limit,
            Self::Unequal(limit) => number != limit,
        }
    }
}

/// For each place of a digit whether it is always shown.
fn digits(tokens: &[Token]) -> Vec<bool> {
    let digit = |token: &Token| match token {
        Token::Digit { always } => Some(*always),
        _ => None,
    };
    tokens.iter().filter_map(digit).collect()
}
