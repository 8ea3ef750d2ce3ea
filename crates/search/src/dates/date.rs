//! Calendar dates as pages, headers and file names write them.

use proto::time;

use super::month_of;

/// A date of which the day, or the month too, may be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    pub year: i32,
    pub month: Option<u8>,
    pub day: Option<u8>,
}

impl Date {
    /// Reads the date at the start of an ISO 8601 text: `2024`, `2024-05`, `2024-05-03T10:00:00Z`.
    pub fn parse_iso(text: &str) -> Option<Self> {
        let text = text.trim();
        let year = number(text.get(..4)?)?;
        if !(1..=9999).contains(&year) || text[4..].starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let year = i32::try_from(year).ok()?;
        let whole_year = Self { year, month: None, day: None };
        let Some(month) = part(&text[4..]) else { return Some(whole_year) };
        if !(1..=12).contains(&month) {
            return Some(whole_year);
        }
        let day = part(&text[7..]).filter(|day| (1..=31).contains(day));
        Some(Self { year, month: Some(month), day })
    }

    /// Reads a date of an HTTP header, such as `Wed, 21 Oct 2015 07:28:00 GMT`.
    pub fn parse_http(text: &str) -> Option<Self> {
        let mut words = text.split_once(',')?.1.split_ascii_whitespace();
        let day = u8::try_from(number(words.next()?)?).ok()?;
        let month = month_of(&words.next()?.to_ascii_lowercase())?;
        let year = i32::try_from(number(words.next()?)?).ok()?;
        (1..=31).contains(&day).then_some(Self { year, month: Some(month), day: Some(day) })
    }

    /// Finds a date in the path of a URL, as news sites write it: `/2024/05/03/` or `/2024-05-03-title`.
    pub fn parse_path(path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.split('/').collect();
        let year_of = |segment: &str| {
            let year = number(segment).filter(|_| segment.len() == 4)?;
            i32::try_from(year).ok().filter(|year| (1990..=2100).contains(year))
        };
        for (index, segment) in segments.iter().enumerate() {
            let two = |offset: usize, most: u32| {
                let text = segments.get(index + offset).filter(|text| text.len() == 2)?;
                let value = number(text).filter(|value| (1..=most).contains(value))?;
                u8::try_from(value).ok()
            };
            if let (Some(year), Some(month)) = (year_of(segment), two(1, 12)) {
                return Some(Self { year, month: Some(month), day: two(2, 31) });
            }
            let dashed = segment.get(..10).filter(|text| {
                text.bytes().filter(|byte| *byte == b'-').count() == 2
                    && year_of(&text[..4]).is_some()
            });
            if let Some(date) = dashed.and_then(Self::parse_iso).filter(|date| date.day.is_some()) {
                return Some(date);
            }
        }
        None
    }

    /// The date in ISO 8601, as far as it is known.
    pub fn iso(self) -> String {
        match (self.month, self.day) {
            (Some(month), Some(day)) => format!("{:04}-{month:02}-{day:02}", self.year),
            (Some(month), None) => format!("{:04}-{month:02}", self.year),
            _ => format!("{:04}", self.year),
        }
    }

    /// Days since 1970; an unknown month or day counts as the middle of what is known.
    pub fn days(self) -> Option<i64> {
        let day = self.day.unwrap_or(if self.month.is_some() { 15 } else { 1 });
        time::day_of_date(self.year, self.month.unwrap_or(7), day)
    }
}

/// The UTC date of a time, such as `2026-11-16`.
pub fn utc_date(unix_ms: u64) -> String {
    time::utc(unix_ms).date().to_string()
}

fn number(digits: &str) -> Option<u32> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

/// The two digits after a dash.
fn part(text: &str) -> Option<u8> {
    let digits = text.strip_prefix('-')?.get(..2)?;
    number(digits).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests;
