//! Times as text: RFC 3339 in UTC, the one format of times in JSON.

use serde_json::{Map, Value};

/// The endings of fields that hold milliseconds since 1970, in the spellings of our JSON.
const MILLISECONDS: [&str; 2] = ["UnixMs", "_unix_ms"];

/// Fields of files that hold milliseconds since 1970.
const OF_FILES: [&str; 2] = ["created_ms", "expires_ms"];

/// Fields that hold what callers and tools wrote, which is passed on as it is.
const FOREIGN: [&str; 7] =
    ["value", "arguments", "input", "result", "data", "options", "inputSchema"];

/// A time in RFC 3339, in UTC and with milliseconds: `2026-11-16T12:30:00.000Z`.
pub fn rfc3339(unix_ms: u64) -> String {
    let (seconds, ms) = (unix_ms / 1_000, unix_ms % 1_000);
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (of_day / 3_600, of_day % 3_600 / 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Adds to every field of milliseconds, such as `createdUnixMs`, the same time as `created_at` in RFC 3339. The field
/// itself stays, for programs that read it.
pub fn add_timestamps(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(add_timestamps),
        Value::Object(map) => {
            let ours = map.iter_mut().filter(|(key, _)| !FOREIGN.contains(&key.as_str()));
            ours.for_each(|(_, value)| add_timestamps(value));
            let times: Vec<_> = map.iter().filter_map(timestamp).collect();
            insert_missing(map, times);
        }
        _ => {}
    }
}

fn timestamp((key, value): (&String, &Value)) -> Option<(String, Value)> {
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

/// Year, month and day of a day since 1970 (Howard Hinnant's `civil_from_days`).
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests;
