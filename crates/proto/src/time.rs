//! The calendar, and times as text: RFC 3339 in UTC, the one format of times in JSON.

pub use jiff::civil::{Date, DateTime};
pub use jiff::tz::Offset;
use jiff::{Span, Timestamp};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The endings of fields that hold milliseconds since 1970, in the spellings of our JSON.
const MILLISECONDS: [&str; 2] = ["UnixMs", "_unix_ms"];

/// Fields of files that hold milliseconds since 1970.
const OF_FILES: [&str; 2] = ["created_ms", "expires_ms"];

/// Fields that hold what callers and tools wrote, which is passed on as it is.
const FOREIGN: [&str; 7] =
    ["value", "arguments", "input", "result", "data", "options", "inputSchema"];

/// Day 0 of counted days.
const EPOCH: Date = Date::constant(1970, 1, 1);

/// A point in time. One past the calendar's end, in the year 9999, is that end.
pub fn timestamp(unix_ms: u64) -> Timestamp {
    let known = i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    known.unwrap_or(Timestamp::MAX)
}

/// A time in RFC 3339, in UTC and with milliseconds: `2026-11-16T12:30:00.000Z`.
pub fn rfc3339(unix_ms: u64) -> String {
    format!("{:.3}", timestamp(unix_ms))
}

/// The date and time of day in UTC.
pub fn utc(unix_ms: u64) -> DateTime {
    Offset::UTC.to_datetime(timestamp(unix_ms))
}

/// The date of a day counted from 1970-01-01, if the calendar has it.
pub fn date_of_day(days: i64) -> Option<Date> {
    EPOCH.checked_add(Span::new().try_days(days).ok()?).ok()
}

/// Days from 1970-01-01 to a date, if the calendar has its month. Days past the end of the month count on.
pub fn day_of_date(year: i32, month: u8, day: u8) -> Option<i64> {
    let (year, month) = (i16::try_from(year).ok()?, i8::try_from(month).ok()?);
    let first = Date::new(year, month, 1).ok()?;
    Some(i64::from((first - EPOCH).get_days()) + i64::from(day) - 1)
}

/// A time in JSON, in RFC 3339. Every new field that holds a time has this type and a name that ends in `_at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(u64);

impl Time {
    pub fn from_unix_ms(unix_ms: u64) -> Self {
        Self(unix_ms)
    }

    pub fn unix_ms(self) -> u64 {
        self.0
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&rfc3339(self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = text.parse::<Timestamp>().ok();
        let unix_ms = known.and_then(|time| u64::try_from(time.as_millisecond()).ok());
        unix_ms.map(Self).ok_or_else(|| {
            D::Error::custom(
                "a time must be RFC 3339, such as `2026-11-16T12:30:00Z`, and since 1970",
            )
        })
    }
}

/// Adds to every field of milliseconds, such as `createdUnixMs`, the same time as `created_at` in RFC 3339. The field
/// itself is deprecated and stays for this release.
pub fn add_timestamps(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(add_timestamps),
        Value::Object(map) => {
            let ours = map.iter_mut().filter(|(key, _)| !FOREIGN.contains(&key.as_str()));
            ours.for_each(|(_, value)| add_timestamps(value));
            let times: Vec<_> = map.iter().filter_map(entry).collect();
            insert_missing(map, times);
        }
        _ => {}
    }
}

/// The entry to add for a field of milliseconds.
fn entry((key, value): (&String, &Value)) -> Option<(String, Value)> {
    let name = timestamp_name(key)?;
    let time = match value {
        Value::Null => Value::Null,
        _ => rfc3339(value.as_u64()?).into(),
    };
    Some((name, time))
}

/// The name of the time next to a field of milliseconds: `created_at` for `createdUnixMs`.
pub fn timestamp_name(key: &str) -> Option<String> {
    let of_file = || OF_FILES.contains(&key).then(|| key.trim_end_matches("_ms"));
    let stem = MILLISECONDS.iter().find_map(|ending| key.strip_suffix(ending)).or_else(of_file)?;
    Some(match stem {
        "" | "at" => "at".to_owned(),
        stem => format!("{}_at", snake_case(stem)),
    })
}

fn insert_missing(map: &mut Map<String, Value>, entries: Vec<(String, Value)>) {
    for (name, time) in entries {
        map.entry(name).or_insert(time);
    }
}

fn snake_case(camel: &str) -> String {
    let mut snake = String::with_capacity(camel.len() + 2);
    for character in camel.chars() {
        if character.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests;
