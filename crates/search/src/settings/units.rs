//! Durations and sizes as people write them.

use std::time::Duration;

const DURATIONS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// KB is 1,000 bytes here, as in the table of limits.
const SIZES: [(&str, u64); 5] =
    [("", 1), ("B", 1), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];

/// Reads a duration such as `500ms`, `10s` or `1d`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let fault = || format!("`{text}` is not a duration such as `500ms`, `10s`, `5m`, `1h` or `1d`");
    let (number, unit) = split(text);
    let ms = DURATIONS.iter().find(|(name, _)| *name == unit).ok_or_else(fault)?.1;
    let ms = number.parse::<u64>().ok().and_then(|n| n.checked_mul(ms)).filter(|ms| *ms > 0);
    ms.map(Duration::from_millis).ok_or_else(fault)
}

/// Reads a size such as `50000`, `50KB` or `10MB`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let fault = || format!("`{text}` is not a size such as `50000`, `50KB` or `10MB`");
    let (number, unit) = split(text);
    let bytes = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).ok_or_else(fault)?.1;
    let bytes = number.parse::<u64>().ok().and_then(|n| n.checked_mul(bytes)).filter(|n| *n > 0);
    bytes.ok_or_else(fault)
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}
