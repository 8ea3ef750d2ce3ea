//! Durations, sizes and rates as text: `30s`, `64KB`, `100/1m`.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use proto::units::{DURATIONS, InvalidUnit, parse_duration, parse_size};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// A length of time above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = InvalidUnit;

    fn from_str(text: &str) -> Result<Self, InvalidUnit> {
        parse_duration(text).map(Self)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let (unit, factor) = DURATIONS
            .iter()
            .rev()
            .find(|(_, factor)| ms.is_multiple_of(*factor))
            .unwrap_or(&DURATIONS[0]);
        write!(f, "{}{unit}", ms / factor)
    }
}

/// A number of bytes above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub usize);

impl FromStr for Size {
    type Err = InvalidUnit;

    fn from_str(text: &str) -> Result<Self, InvalidUnit> {
        let bytes = parse_size(text)?;
        bytes.try_into().map(Self).map_err(|_| InvalidUnit::TooLarge(text.to_owned()))
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
