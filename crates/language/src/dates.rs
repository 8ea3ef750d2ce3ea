//! Dates and times of day as people write them in requests.

use jiff::Span;
use jiff::civil::Date;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A calendar date in a text, and the form in which it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenDate {
    pub date: Date,
    pub form: DateForm,
}

/// The form in which a date is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateForm {
    /// `2024-11-14`.
    Iso,
    /// `11/14/2024`, or `5/1/2023` without zeros.
    Slashes { zeros: bool },
    /// `14/11/2024`, where the first number cannot be a month.
    DayFirst,
    /// `November 14, 2024`, `14th of November 2024`, `tomorrow`, `yesterday`.
    Words,
}

impl WrittenDate {
    /// The date in the form in which it was written; words become ISO 8601.
    pub fn text(self) -> String {
        self.form.write(self.date)
    }

    /// A date some days later, in the same form.
    pub fn later(self, days: i64) -> Option<Self> {
        let date = self.date.checked_add(Span::new().try_days(days).ok()?).ok()?;
        Some(Self { date, ..self })
    }
}

impl DateForm {
    /// Writes a date.
    pub fn write(self, date: Date) -> String {
        let (year, month, day) = (date.year(), date.month(), date.day());
        match self {
            Self::Iso | Self::Words => format!("{year:04}-{month:02}-{day:02}"),
            Self::Slashes { zeros: true } => format!("{month:02}/{day:02}/{year:04}"),
            Self::Slashes { zeros: false } => format!("{month}/{day}/{year}"),
            Self::DayFirst => format!("{day:02}/{month:02}/{year:04}"),
        }
    }
}

/// Reads the date at the start of a text; returns it with the number of bytes that it takes. A date without a year is
/// the next one after `today`.
pub fn date_at(text: &str, today: Date) -> Option<(WrittenDate, usize)> {
    iso(text).or_else(|| slashes(text)).or_else(|| in_words(text, today))
}

/// Reads the time of day at the start of a text (`10:00`, `7 PM`, `9:30pm`); returns its length in bytes.
pub fn time_at(text: &str) -> Option<usize> {
    let hour = digits(text);
    if !(1..=2).contains(&hour) || text[..hour].parse::<u8>().ok()? > 24 {
        return None;
    }
    let mut end = hour;
    let mut is_time = false;
    for _ in 0..2 {
        let Some(rest) = text[end..].strip_prefix(':') else { break };
        if digits(rest) != 2 || rest[..2].parse::<u8>().ok()? > 59 {
            break;
        }
        end += 3;
        is_time = true;
    }
    let rest = &text[end..];
    let gap = rest.len() - rest.trim_start_matches(' ').len();
    let half: String =
        rest[gap..].chars().take_while(|c| c.is_ascii_alphabetic() || *c == '.').collect();
    if gap <= 1 && matches!(half.to_ascii_lowercase().as_str(), "am" | "pm" | "a.m." | "p.m.") {
        end += gap + half.len();
        is_time = true;
    }
    (is_time && ends_word(&text[end..])).then_some(end)
}

/// The time of day as `HH:MM`.
pub fn clock(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let digits_end = text.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(text.len());
    let mut parts = text[..digits_end].split(':');
    let hour: u32 = parts.next()?.parse().ok()?;
    let minute: u32 = parts.next().map_or(Some(0), |minute| minute.parse().ok())?;
    let half: String = text[digits_end..].chars().filter(char::is_ascii_alphabetic).collect();
    let hour = match half.as_str() {
        "pm" if hour < 12 => hour + 12,
        "am" if hour == 12 => 0,
        _ => hour,
    };
    (hour < 25 && minute < 60).then(|| format!("{hour:02}:{minute:02}"))
}

/// The number of days in a unit of time.
pub fn days_in(unit: &str) -> Option<i64> {
    match unit {
        "day" | "days" | "night" | "nights" => Some(1),
        "week" | "weeks" => Some(7),
        _ => None,
    }
}

/// `2024-11-14`; a time that follows is not part of it.
fn iso(text: &str) -> Option<(WrittenDate, usize)> {
    let part = text.get(..10)?;
    let bytes = part.as_bytes();
    if bytes[4] != b'-' || bytes[7] != b'-' || text[10..].starts_with(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    let date = date(number(&part[..4])?, number(&part[5..7])?, number(&part[8..])?)?;
    Some((WrittenDate { date, form: DateForm::Iso }, 10))
}

/// `11/14/2024`, `5/1/2023`, `14/11/2024`.
fn slashes(text: &str) -> Option<(WrittenDate, usize)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '/').unwrap_or(text.len());
    let parts: Vec<&str> = text[..end].split('/').collect();
    let &[first, second, year] = parts.as_slice() else { return None };
    if year.len() != 4 || first.len() > 2 || second.len() > 2 {
        return None;
    }
    let zeros = first.len() == 2 && second.len() == 2;
    let (first, second, year) = (number(first)?, number(second)?, number(year)?);
    let written = match date(year, first, second) {
        Some(date) => WrittenDate { date, form: DateForm::Slashes { zeros } },
        None => WrittenDate { date: date(year, second, first)?, form: DateForm::DayFirst },
    };
    Some((written, end))
}

/// `November 14, 2024`, `Nov 14th`, `14 November 2024`, `the 1st of January, 2023`, `today`, `tomorrow`.
fn in_words(text: &str, today: Date) -> Option<(WrittenDate, usize)> {
    let written = |date| WrittenDate { date, form: DateForm::Words };
    let mut words = words_at(text);
    let (first, end) = words.next()?;
    match first.as_str() {
        "today" => return Some((written(today), end)),
        "tomorrow" => return Some((written(today).later(1)?, end)),
        "yesterday" => return Some((written(today).later(-1)?, end)),
        _ => {}
    }
    let (month, day, mut end) = match (month_of(&first), day_of(&first)) {
        (Some(month), _) => {
            let (day, end) = words.next()?;
            (month, day_of(&day)?, end)
        }
        (None, Some(day)) => {
            let (mut next, mut end) = words.next()?;
            if next == "of" {
                (next, end) = words.next()?;
            }
            (month_of(&next)?, day, end)
        }
        (None, None) => return None,
    };
    let year = match words.next() {
        Some((year, after)) if year.len() == 4 && number(&year).is_some() => {
            end = after;
            number(&year)?
        }
        _ => {
            let this_year = i32::from(today.year());
            let passed = date(this_year, month, day).is_some_and(|date| date < today);
            this_year + i32::from(passed)
        }
    };
    Some((written(date(year, month, day)?), end))
}

/// Words in lower case with the offset of their end, as long as only spaces and commas are between them.
fn words_at(text: &str) -> impl Iterator<Item = (String, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let start = rest.len() - rest.trim_start_matches([' ', ',']).len();
        let word = &rest[start..];
        let length = word.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(word.len());
        if length == 0 || start > 2 {
            return None;
        }
        at += start + length;
        Some((word[..length].to_ascii_lowercase(), at))
    })
}

fn month_of(word: &str) -> Option<i32> {
    const REST: [&str; 12] =
        ["uary", "ruary", "ch", "il", "", "e", "y", "ust", "tember", "ober", "ember", "ember"];
    let place = MONTHS.iter().zip(REST).position(|(start, rest)| {
        word.strip_prefix(start).is_some_and(|end| end.is_empty() || end == rest || end == "t")
    })?;
    i32::try_from(place + 1).ok()
}

/// `14`, `1st`, `22nd`.
fn day_of(word: &str) -> Option<i32> {
    let end = digits(word);
    let is_day = matches!(&word[end..], "" | "st" | "nd" | "rd" | "th");
    number(&word[..end]).filter(|day| is_day && (1..=31).contains(day))
}

fn date(year: i32, month: i32, day: i32) -> Option<Date> {
    let (year, month) = (i16::try_from(year).ok()?, i8::try_from(month).ok()?);
    Date::new(year, month, i8::try_from(day).ok()?).ok()
}

fn number(text: &str) -> Option<i32> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn ends_word(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_alphanumeric())
}

#[cfg(test)]
mod tests;
