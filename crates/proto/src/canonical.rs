//! Canonical bytes of JSON values, so that equal values have equal digests.

use std::fmt;
use std::io::{self, Write as _};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, displayed as hex.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The raw bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The SHA-256 digest of bytes.
pub fn digest(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// The SHA-256 digest of several parts, each prefixed with its length, so that different lists have different digests.
pub fn digest_of_parts<const N: usize>(parts: [&[u8]; N]) -> Digest {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    Digest(hasher.finalize().into())
}

/// The canonical bytes of a value: no white space, object keys sorted, numbers as they were written.
pub fn bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    // Writing into a `Vec` cannot fail.
    let _ = write(value, &mut out);
    out
}

/// The length of a value as JSON without white space. Counted without keeping the text, because answers may be long.
pub fn len(value: &Value) -> usize {
    let mut count = Count(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(value: &Value, out: &mut Vec<u8>) -> io::Result<()> {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push(b'{');
            for (index, (key, item)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                serde_json::to_writer(&mut *out, key)?;
                out.push(b':');
                write(item, out)?;
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out)?;
            }
            out.push(b']');
        }
        Value::Number(number) => write!(out, "{number}")?,
        scalar => serde_json::to_writer(&mut *out, scalar)?,
    }
    Ok(())
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that is not a digest.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 hexadecimal digits")]
pub struct InvalidDigest;

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(InvalidDigest);
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16)
                .map_err(|_| InvalidDigest)?;
        }
        Ok(Digest(bytes))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
    use serde_json::json;

    use super::*;

    #[test]
    fn key_order_does_not_matter_but_values_do() {
        let a: Value = serde_json::from_str(r#"{"b":1,"a":[true,null,"x"]}"#).expect("JSON");
        assert_eq!(bytes(&a), br#"{"a":[true,null,"x"],"b":1}"#);
        assert_ne!(bytes(&json!({"a": 1})), bytes(&json!({"a": "1"})));
    }

    #[test]
    fn numbers_come_back_as_they_were_written() {
        for number in ["-2.539586579497232e-213", "0.1", "1e300", "18446744073709551615"] {
            let value: Value = serde_json::from_str(number).expect("a number");
            let again: Value = serde_json::from_slice(&bytes(&value)).expect("a number");
            assert_eq!(again, value);
            assert_eq!(value.to_string().parse::<f64>(), number.parse::<f64>());
        }
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(digest_of_parts([b"ab", b"c"]), digest_of_parts([b"a", b"bc"]));
        assert_ne!(digest_of_parts([b"ab", b""]), digest_of_parts([b"", b"ab"]));
    }

    fn text() -> impl Strategy<Value = String> {
        // Every kind of byte that JSON escapes, and some that look similar.
        let odd = r#"[\x00-\x20"\\/\x7fa\u{80}\u{2028}\u{1f600}]{0,20}"#;
        prop_oneof![any::<String>(), odd.prop_map(String::from)]
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            text().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map(text(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn canonical_bytes_are_the_same_value(value in json_value()) {
            let parsed: Value = serde_json::from_slice(&bytes(&value)).expect("canonical JSON parses");
            assert_eq!(parsed, value);
        }

        #[test]
        fn a_value_is_as_long_as_it_is_written(value in json_value()) {
            let written = value.to_string();
            assert_eq!(len(&value), written.len());
            assert_eq!(bytes(&value).len(), written.len());
        }

        #[test]
        fn digests_survive_their_text(input in any::<Vec<u8>>()) {
            let digest = digest(&input);
            let text = serde_json::to_string(&digest).expect("a digest serialises");
            assert_eq!(serde_json::from_str::<Digest>(&text).expect("its own text"), digest);
        }
    }
}
