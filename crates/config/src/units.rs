//! Durations, sizes and rates as text: `30s`, `64KB`, `100/1m`.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

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

/// A length of time above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

const SPANS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// A century: more is a typing error and would overflow clocks.
const LONGEST: u64 = 100 * 365 * 86_400_000;

impl FromStr for Span {
    type Err = InvalidUnit;

    fn from_str(text: &str) -> Result<Self, InvalidUnit> {
        let malformed = || InvalidUnit::Span(text.to_owned());
        let (number, unit) = split(text).ok_or_else(malformed)?;
        let (_, factor) = SPANS.iter().find(|(name, _)| *name == unit).ok_or_else(malformed)?;
        let number: u64 = number.parse().map_err(|_| InvalidUnit::TooLarge(text.to_owned()))?;
        match number.checked_mul(*factor) {
            Some(0) => Err(InvalidUnit::Zero(text.to_owned())),
            Some(ms) if ms <= LONGEST => Ok(Self(Duration::from_millis(ms))),
            _ => Err(InvalidUnit::TooLarge(text.to_owned())),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let (unit, factor) =
            SPANS.iter().rev().find(|(_, factor)| ms.is_multiple_of(*factor)).unwrap_or(&SPANS[0]);
        write!(f, "{}{unit}", ms / factor)
    }
}

/// A number of bytes above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub usize);

/// `KB` is 1024 bytes: the default limits are powers of two, and `64KB` must mean the default of 65,536.
const SIZES: [(&str, u64); 5] =
    [("", 1), ("B", 1), ("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30)];

impl FromStr for Size {
    type Err = InvalidUnit;

    fn from_str(text: &str) -> Result<Self, InvalidUnit> {
        let malformed = || InvalidUnit::Size(text.to_owned());
        let (number, unit) = split(text).ok_or_else(malformed)?;
        let unit = unit.to_ascii_uppercase().replace("IB", "B");
        let (_, factor) = SIZES.iter().find(|(name, _)| *name == unit).ok_or_else(malformed)?;
        let number: u64 = number.parse().map_err(|_| InvalidUnit::TooLarge(text.to_owned()))?;
        let bytes = number.checked_mul(*factor).and_then(|bytes| usize::try_from(bytes).ok());
        match bytes {
            Some(0) => Err(InvalidUnit::Zero(text.to_owned())),
            Some(bytes) => Ok(Self(bytes)),
            None => Err(InvalidUnit::TooLarge(text.to_owned())),
        }
    }
}

/// The most calls in a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub count: NonZeroU32,
    pub per: Span,
}

impl FromStr for Rate {
    type Err = InvalidUnit;

    fn from_str(text: &str) -> Result<Self, InvalidUnit> {
        let malformed = || InvalidUnit::Rate(text.to_owned());
        let (count, per) = text.split_once('/').ok_or_else(malformed)?;
        let (count, per) = (count.trim(), per.trim());
        if count.is_empty() || !count.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(malformed());
        }
        let count: u32 = count.parse().map_err(|_| InvalidUnit::TooLarge(text.to_owned()))?;
        let count = NonZeroU32::new(count).ok_or_else(|| InvalidUnit::Zero(text.to_owned()))?;
        let one = if per.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "1" };
        Ok(Self { count, per: format!("{one}{per}").parse().map_err(|_| malformed())? })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.count, self.per)
    }
}

/// Digits, then a unit, with at most a space between them.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (digits > 0).then(|| (&text[..digits], text[digits..].trim_start()))
}

/// Reads a setting from text, or from a number if the unit allows it.
struct TextOrNumber<T> {
    expected: &'static str,
    number: fn(u64) -> Result<T, String>,
}

impl<T: FromStr<Err = InvalidUnit>> Visitor<'_> for TextOrNumber<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        (self.number)(number).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrNumber {
            expected: "a duration such as `30s`",
            number: |number| Err(format!("`{number}` has no unit; did you mean `{number}s`?")),
        })
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrNumber {
            expected: "a size such as `65536` or `64KB`",
            number: |number| {
                number.to_string().parse().map_err(|error: InvalidUnit| error.to_string())
            },
        })
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrNumber {
            expected: "a rate such as `100/1m`",
            number: |number| Err(format!("`{number}` has no time; did you mean `{number}/1m`?")),
        })
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0 as u64)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "duration",
            "type": "string",
            "pattern": "^[0-9]+ ?(ms|s|m|h|d)$",
            "description": "A length of time: `500ms`, `30s`, `10m`, `1h`, `90d`.",
        })
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "size",
            "description": "Bytes, or a number and a unit: `65536`, `64KB`, `10MB`, `1GB` (1 KB is 1024 bytes).",
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {"type": "string", "pattern": "^[0-9]+ ?([KkMmGg]?[Ii]?[Bb])?$"},
            ],
        })
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "rate",
            "type": "string",
            "pattern": "^[0-9]+ ?/ ?[0-9]* ?(ms|s|m|h|d)$",
            "description": "The most calls in a length of time: `100/1m`, `10/s`.",
        })
    }
}

#[cfg(test)]
mod tests;
