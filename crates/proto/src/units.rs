//! Durations and sizes as people write them, in the config and in environment variables.

use std::time::Duration;

/// A text that is not a duration, a size or a rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUnit {
    #[error(
        "`{0}` is not a duration; write a number and a unit, such as `500ms`, `30s`, `10m`, `1h` or `90d`"
    )]
    Span(String),
    #[error(
        "`{0}` is not a size; write bytes, or a number and a unit, such as `64KB`, `10MB` or `1GB`"
    )]
    Size(String),
    #[error("`{0}` is not a rate; write a count and a time, such as `100/1m` or `10/s`")]
    Rate(String),
    #[error("`{0}` is too large")]
    TooLarge(String),
    #[error("`{0}` must be more than zero")]
    Zero(String),
}

/// The units of durations, in milliseconds, the shortest first.
pub const DURATIONS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// `KB` is 1024 bytes: the default limits are powers of two, and `64KB` must mean the default of 65,536.
const SIZES: [(&str, u64); 5] =
    [("", 1), ("B", 1), ("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30)];

/// A century: more is a typing error and would overflow clocks.
const LONGEST: u64 = 100 * 365 * 86_400_000;

/// Reads a duration above zero, such as `500ms`, `10s` or `1d`.
pub fn parse_duration(text: &str) -> Result<Duration, InvalidUnit> {
    let malformed = || InvalidUnit::Span(text.to_owned());
    let (number, unit) = split(text).ok_or_else(malformed)?;
    let (_, factor) = DURATIONS.iter().find(|(name, _)| *name == unit).ok_or_else(malformed)?;
    let number: u64 = number.parse().map_err(|_| InvalidUnit::TooLarge(text.to_owned()))?;
    match number.checked_mul(*factor) {
        Some(0) => Err(InvalidUnit::Zero(text.to_owned())),
        Some(ms) if ms <= LONGEST => Ok(Duration::from_millis(ms)),
        _ => Err(InvalidUnit::TooLarge(text.to_owned())),
    }
}

/// Reads a number of bytes above zero, such as `65536`, `64KB` or `10 MiB`.
pub fn parse_size(text: &str) -> Result<u64, InvalidUnit> {
    let malformed = || InvalidUnit::Size(text.to_owned());
    let (number, unit) = split(text).ok_or_else(malformed)?;
    let unit = unit.to_ascii_uppercase().replace("IB", "B");
    let (_, factor) = SIZES.iter().find(|(name, _)| *name == unit).ok_or_else(malformed)?;
    let number: u64 = number.parse().map_err(|_| InvalidUnit::TooLarge(text.to_owned()))?;
    match number.checked_mul(*factor) {
        Some(0) => Err(InvalidUnit::Zero(text.to_owned())),
        Some(bytes) => Ok(bytes),
        None => Err(InvalidUnit::TooLarge(text.to_owned())),
    }
}

/// Digits, then a unit, with at most spaces between them.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (digits > 0).then(|| (&text[..digits], text[digits..].trim_start()))
}
