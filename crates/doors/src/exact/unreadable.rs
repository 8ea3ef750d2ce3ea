//! Lines that are not JSON, or too long.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use rmcp::model::RequestId;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::value::RawValue;

/// A line that is not JSON, or too long.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) why: String,
    /// The id of the request, if it could be found.
    pub(crate) id: Option<RequestId>,
}

/// The lines that wait for their answer. No more are read before these are answered.
pub(crate) type UnreadableLines = Arc<Mutex<VecDeque<Unreadable>>>;

impl Unreadable {
    /// A line that cannot be parsed; none if it can, or is empty.
    pub(crate) fn of(line: &[u8]) -> Option<Self> {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return None;
        }
        let why = parse_error(line)?.to_string();
        Some(Self { why, id: request_id(line) })
    }

    /// A line of which only the beginning was read.
    pub(crate) fn too_long(beginning: &[u8], most: usize) -> Self {
        let why = format!("the message is longer than {most} bytes; pass large data as a file");
        Self { why, id: first_id(&beginning[..beginning.len().min(MAX_SEARCHED)]) }
    }
}

/// How much of a line that is too long is searched for its id.
const MAX_SEARCHED: usize = 64 * 1024;

/// The id of a request that is cut off.
fn first_id(beginning: &[u8]) -> Option<RequestId> {
    let mut fields = Fields::default();
    // may fail: it ends too early
    let _ = serde_json::Deserializer::from_slice(beginning).deserialize_map(&mut fields);
    fields.id.filter(|_| !fields.is_answer)
}

/// What comes before the part that is cut off.
#[derive(Default)]
struct Fields {
    id: Option<RequestId>,
    is_answer: bool,
}

impl<'de> Visitor<'de> for &mut Fields {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.is_answer |= matches!(key.as_str(), "result" | "error");
            if key == "id" {
                self.id = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Why a line cannot be parsed. The quick check of most lines does not look at numbers, escapes and depth.
fn parse_error(line: &[u8]) -> Option<serde_json::Error> {
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(line) {
        return Some(error);
    }
    if !may_be_invalid(line) {
        return None;
    }
    serde_json::from_slice::<serde_json::Value>(line).err()
}

/// Whether a line could have half a surrogate pair, a number out of range, more levels than a parser takes, or bytes that
/// are not UTF-8.
fn may_be_invalid(line: &[u8]) -> bool {
    const SAFE_LEVELS: usize = 100;
    const SAFE_DIGITS: usize = 300;
    let (mut brackets, mut digits, mut before) = (0, 0, 0);
    for &byte in line {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        if digits > SAFE_DIGITS {
            return true;
        }
        match byte {
            b'[' | b'{' => brackets += 1,
            b'u' if before == b'\\' => return true,
            b'e' | b'E' if before.is_ascii_digit() => return true,
            _ => {}
        }
        before = byte;
    }
    brackets > SAFE_LEVELS || std::str::from_utf8(line).is_err()
}

/// The id of a request whose parts cannot all be parsed. A message without a method answers a request of ours, which has
/// another id.
fn request_id(line: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
        #[serde(borrow, rename = "method")]
        _method: &'a RawValue,
    }
    let envelope: Envelope<'_> = serde_json::from_slice(line).ok()?;
    serde_json::from_str(envelope.id.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_no_parser_takes_are_found_with_their_ids() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":"d","method":"ping","params":{}1{}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        let digits = "9".repeat(400);
        let long =
            format!(r#"{{"jsonrpc":"2.0","id":5,"method":"ping","params":{{"n":{digits}}}}}"#);
        for (line, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"n":1e400}}"#, Some("7")),
            (r#"{"jsonrpc":"2.0","id":8,"method":"ping","params":{"t":"\ud800"}}"#, Some("8")),
            (&deep, Some("d")),
            (&long, Some("5")),
            (r#"{"jsonrpc":"2.0","id":9,"result":{"n":1e400}}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, None),
            ("garbage", None),
            ("{} {}", None),
        ] {
            let unreadable = Unreadable::of(line.as_bytes()).expect(line);
            assert_eq!(unreadable.id.map(|id| id.to_string()).as_deref(), id, "{line}");
        }
        for line in
            ["", " \r\n", "\u{feff}{}\n", "{}", "[1e3]", r#"{"t":"\ud83d\ude00 e1"}"#, "7\r\n"]
        {
            assert!(Unreadable::of(line.as_bytes()).is_none(), "{line}");
        }
        assert!(Unreadable::of(b"{\"x\":\"\xff\"}").is_some());
    }
}
