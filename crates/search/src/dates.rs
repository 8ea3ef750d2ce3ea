//! Dates as providers and pages write them: as milliseconds since 1970, and as calendar dates.

mod date;

use std::time::Duration;

use proto::time::{day_of_date, rfc3339, utc};

pub use date::{Date, utc_date};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Longer waits are taken for a mistake.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(86_400);

const SECOND: u64 = 1_000;
const DAY: u64 = 86_400 * SECOND;

/// Reads a date: RFC 3339, RFC 2822, `Nov 14, 2024`, `14 November 2024`, or relative to `now` (`3 hours ago`).
pub fn parse(text: &str, now: u64) -> Option<u64> {
    let text = text.trim();
    if text.len() > 100 {
        return None;
    }
    iso(text).or_else(|| relative(text, now)).or_else(|| words(text))
}

/// The wait that a `Retry-After` header asks for: seconds, or a date.
pub fn parse_retry_after(value: &str, now: u64) -> Option<Duration> {
    let wait = match value.trim().parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => Duration::from_millis(parse(value, now)?.saturating_sub(now)),
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

/// The date in RFC 3339, or the text itself if it is no date that we know.
pub fn normalize(text: &str, now: u64) -> String {
    parse(text, now).map_or_else(|| crate::text::tidy(text), rfc3339)
}

/// The year of a time.
pub fn year(unix_ms: u64) -> Option<u16> {
    u16::try_from(utc(unix_ms).year()).ok()
}

/// `2024-11-14`, `2024-11-14T10:00:00Z`, `2024-11-14 10:00:00.123+02:00`, `2024-11`, `2024`.
fn iso(text: &str) -> Option<u64> {
    let digits = |range: std::ops::Range<usize>| -> Option<u64> {
        let part = text.get(range)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()
    };
    let year = digits(0..4)?;
    if text.len() == 4 {
        return unix_ms(year, 1, 1);
    }
    let separator = text.as_bytes().get(4)?;
    if !matches!(separator, b'-' | b'/') {
        return None;
    }
    let month = digits(5..7)?;
    if text.len() == 7 {
        return unix_ms(year, month, 1);
    }
    if text.as_bytes().get(7) != Some(separator) {
        return None;
    }
    let date = unix_ms(year, month, digits(8..10)?)?;
    match text.get(10..) {
        None | Some("") => Some(date),
        Some(rest) if rest.starts_with(['T', 't', ' ']) => Some(date + time_of_day(&rest[1..])?),
        Some(_) => None,
    }
}

/// `10:00`, `10:00:00`, `10:00:00.123Z`, `10:00:00 +0200`; the offset is subtracted.
fn time_of_day(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(text.len());
    let mut parts = text[..end].split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = hour * 3_600 + minute * 60 + second;
    let zone = text[end..].trim_start_matches(|c: char| c == '.' || c.is_ascii_digit()).trim();
    let sign = zone.chars().next();
    let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let offset = match (sign, digits.len()) {
        (Some('+' | '-'), 4) => {
            digits[..2].parse::<u64>().ok()? * 3_600 + digits[2..].parse::<u64>().ok()? * 60
        }
        _ => 0,
    };
    let seconds = if sign == Some('-') { seconds + offset } else { seconds.saturating_sub(offset) };
    Some(seconds * SECOND)
}

/// `3 hours ago`, `1 day ago`, `yesterday`, `2w`.
fn relative(text: &str, now: u64) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    match text.as_str() {
        "today" | "just now" | "now" => return Some(now),
        "yesterday" => return Some(now.saturating_sub(DAY)),
        _ => {}
    }
    let text = text.strip_suffix("ago")?.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let count: u64 = match &text[..end] {
        "" => text.starts_with("a").then_some(1)?,
        digits => digits.parse().ok()?,
    };
    let unit = text[end..].trim().trim_start_matches("an ").trim_start_matches("a ");
    let unit = match unit.trim_end_matches('s') {
        "second" | "sec" => SECOND,
        "minute" | "min" => 60 * SECOND,
        "hour" | "hr" => 3_600 * SECOND,
        "day" => DAY,
        "week" => 7 * DAY,
        "month" => 30 * DAY,
        "year" => 365 * DAY,
        _ => return None,
    };
    Some(now.saturating_sub(count.checked_mul(unit)?))
}

/// Dates with the name of a month: RFC 2822, HTTP dates, `Nov 14, 2024`, `14 November 2024`.
fn words(text: &str) -> Option<u64> {
    let (mut day, mut month, mut year, mut time) = (None, None, None, 0);
    for word in text.split([' ', ',', '-']).filter(|word| !word.is_empty()) {
        let lower = word.trim_end_matches('.').to_ascii_lowercase();
        if let Some(number) = lower.parse::<u64>().ok().filter(|_| lower.len() <= 4) {
            match lower.len() {
                4 => year = year.or(Some(number)),
                _ => day = day.or(Some(number)),
            }
        } else if word.contains(':') {
            time = time_of_day(word)?;
        } else if lower.len() >= 3 {
            month = month.or(month_of(&lower).map(u64::from));
        }
    }
    Some(unix_ms(year?, month?, day?)? + time)
}

/// Midnight of a day.
fn unix_ms(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(1_970..=9_999).contains(&year) {
        return None;
    }
    let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    let days = day_of_date(i32::try_from(year).ok()?, month, day)?;
    Some(u64::try_from(days).ok()? * DAY)
}

/// The number of a month, by the start of its English name in lower case.
fn month_of(name: &str) -> Option<u8> {
    let index = MONTHS.iter().position(|month| name.starts_with(month))?;
    u8::try_from(index + 1).ok()
}

#[cfg(test)]
mod tests;
