//! Server-sent events, as far as MCP needs them: the data of each event, its kind, and where a stream is resumed.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;

use crate::message_buffer::{MessageBuffer, RawMessage, TooLarge};

/// A longer line of data is collected before it ends.
const LONG_LINE: usize = 16 * 1024;

/// The longest event id that is remembered.
const MAX_ID_BYTES: usize = 1_024;

/// What the data of an event is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A JSON-RPC message.
    #[default]
    Message,
    /// The URL that messages are posted to, in the transport of 2024-11-05.
    Endpoint,
    /// Nothing that MCP defines.
    Other,
}

/// How far a stream was read, and how it is resumed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// The id of the last event.
    pub(crate) last_id: Option<HeaderValue>,
    /// How long the server wants the client to wait before it connects again.
    pub(crate) retry: Option<Duration>,
}

/// Parses bytes as they arrive and returns the data of whole events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(crate) position: Position,
    kind: EventKind,
    /// The id of an event that has not ended yet.
    id: Option<HeaderValue>,
    /// Bytes of a line that has not ended yet.
    line: Vec<u8>,
    /// Whether the line has data that is being collected already.
    collecting: bool,
    /// Data lines of an event that has not ended yet.
    data: MessageBuffer,
    has_data: bool,
    /// Whether the last byte was a carriage return, whose line feed belongs to it.
    after_return: bool,
    begun: bool,
}

impl Events {
    /// Reads a stream that goes on after this position.
    pub(crate) fn after(position: Position) -> Self {
        Self { position, ..Self::default() }
    }

    /// Takes the next bytes and calls `event` with each event that ends in them, until it returns false. Returns the
    /// bytes after that event.
    pub(crate) fn feed(
        &mut self,
        bytes: &Bytes,
        mut event: impl FnMut(EventKind, RawMessage) -> bool,
    ) -> Result<Bytes, TooLarge> {
        let mut rest = bytes.clone();
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                let _line_feed = rest.split_to(1);
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.add(&rest)?;
                return Ok(Bytes::new());
            };
            self.add(&rest.split_to(end))?;
            self.after_return = rest[0] == b'\r';
            let _line_end = rest.split_to(1);
            if self.end_line() {
                if let Some(id) = self.id.take() {
                    self.position.last_id = Some(id);
                }
                let (kind, data) = (std::mem::take(&mut self.kind), self.data.take());
                if std::mem::take(&mut self.has_data) && !event(kind, data) {
                    return Ok(rest);
                }
            }
            self.data.check()?;
        }
        Ok(rest)
    }

    /// Adds a part of a line.
    fn add(&mut self, part: &Bytes) -> Result<(), TooLarge> {
        if self.collecting {
            self.data.add(part);
            return self.data.check();
        }
        self.line.extend_from_slice(part);
        if self.line.len() <= LONG_LINE {
            return Ok(());
        }
        let line = std::mem::take(&mut self.line);
        match self.value_of_data(&line) {
            Some(value) => {
                self.data.add(&Bytes::copy_from_slice(value));
                self.collecting = true;
                self.data.check()
            }
            // Comments and other fields; none that MCP uses is so long.
            None => Err(TooLarge),
        }
    }

    /// The data of a line, if it has any.
    fn value_of_data<'a>(&mut self, line: &'a [u8]) -> Option<&'a [u8]> {
        let first = !std::mem::replace(&mut self.begun, true);
        let line = line.strip_prefix(b"\xef\xbb\xbf").filter(|_| first).unwrap_or(line);
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if field != b"data" {
            self.read_field(field, value);
            return None;
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.data.add_slice(b"\n");
        }
        Some(value)
    }

    /// Reads a field other than the data.
    fn read_field(&mut self, field: &[u8], value: &[u8]) {
        match field {
            b"event" => {
                self.kind = match value {
                    b"" | b"message" => EventKind::Message,
                    b"endpoint" => EventKind::Endpoint,
                    _ => EventKind::Other,
                };
            }
            b"id" if value.len() <= MAX_ID_BYTES => {
                self.id = HeaderValue::from_bytes(value).ok().filter(|id| !id.is_empty());
            }
            b"retry" => {
                let number = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                self.position.retry = number.map(Duration::from_millis).or(self.position.retry);
            }
            _ => {}
        }
    }

    /// Ends a line; true if it ends an event.
    fn end_line(&mut self) -> bool {
        if std::mem::take(&mut self.collecting) {
            return false;
        }
        let line = std::mem::take(&mut self.line);
        let blank = line.is_empty() || (!self.begun && line == b"\xef\xbb\xbf");
        if let Some(value) = self.value_of_data(&line) {
            self.data.add_slice(value);
        }
        blank
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

    use super::*;

    fn all(chunks: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        let mut found = Vec::new();
        for chunk in chunks {
            let take = |_, data: RawMessage| {
                found.push(String::from_utf8_lossy(&data.json).into_owned());
                true
            };
            events.feed(&Bytes::copy_from_slice(chunk), take).unwrap();
        }
        found
    }

    #[test]
    fn events_end_with_an_empty_line_for_all_line_endings() {
        let text = "\u{feff}: hello\r\nevent: message\r\nid: 1\r\ndata: a\r\ndata:b\r\n\r\ndata\n\n\
                    retry: 5\n\nother: x\rdata: c\r\rdata: unfinished";
        assert_eq!(all(&[text.as_bytes()]), ["a\nb", "", "c"]);
    }

    #[test]
    fn an_event_has_a_kind_and_moves_the_position() {
        let text = "event: endpoint\ndata: /post\n\nretry: 250\nid: 7\ndata:\n\nevent: ping\ndata: x\n\n\
                    data: m\nid: 8\n\nretry: soon\nid: unfinished\n";
        let (mut events, mut found) = (Events::default(), Vec::new());
        let rest = events.feed(&Bytes::from_static(text.as_bytes()), |kind, data| {
            found.push((kind, String::from_utf8(data.json).unwrap()));
            true
        });
        assert_eq!(rest, Ok(Bytes::new()));
        let expected = [
            (EventKind::Endpoint, "/post"),
            (EventKind::Message, ""),
            (EventKind::Other, "x"),
            (EventKind::Message, "m"),
        ];
        assert_eq!(found, expected.map(|(kind, data)| (kind, data.to_owned())));
        assert_eq!(events.position.last_id.as_ref().unwrap(), "8");
        assert_eq!(events.position.retry, Some(Duration::from_millis(250)));
        let stopped =
            Events::default().feed(&Bytes::from_static(b"data: a\n\ndata: b"), |_, _| false);
        assert_eq!(stopped, Ok(Bytes::from_static(b"data: b")));
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let feed = |events: &mut Events, bytes: &'static [u8], times: usize| {
            let bytes = Bytes::from_static(bytes);
            (0..times).try_for_each(|_| events.feed(&bytes, |_, _| true).map(|_rest| ()))
        };
        let part: &[u8] = &[b' '; 10_000];
        // Text of any length, in one line or in many, and a comment.
        let mut events = Events::default();
        assert_eq!(feed(&mut events, b"data: ", 1), Ok(()));
        assert_eq!(feed(&mut events, part, 1_000), Err(TooLarge));
        let mut events = Events::default();
        assert_eq!(feed(&mut events, b"data: a sentence with spaces\n", 1_000_000), Err(TooLarge));
        let mut events = Events::default();
        assert_eq!(feed(&mut events, b":", 1), Ok(()));
        assert_eq!(feed(&mut events, part, 2), Err(TooLarge));
        let mut events = Events::default();
        assert_eq!(feed(&mut events, b"data: 1234\n\n:keep\n", 10_000), Ok(()));
    }

    #[test]
    fn long_base64_is_extracted() {
        let long = "QUJD".repeat(100_000);
        let text = format!("data: {{\"result\":{{\"blob\":\"{long}\"}},\"id\":1}}\n\n");
        for cut in [1_000, text.len()] {
            let mut events = Events::default();
            let mut found = Vec::new();
            for chunk in text.as_bytes().chunks(cut) {
                let take = |_, data| {
                    found.push(data);
                    true
                };
                events.feed(&Bytes::copy_from_slice(chunk), take).unwrap();
            }
            let data = found.pop().unwrap();
            assert!(data.json.len() < 200);
            let json = String::from_utf8(data.json).unwrap();
            assert_eq!(format!("data: {}\n\n", data.blobs.unwrap().restore(&json)), text);
        }
    }

    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"data: ".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"{}".to_vec()),
            any::<Vec<u8>>(),
        ];
        prop::collection::vec(piece, 0..20).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(bytes in pieces(), cut in any::<prop::sample::Index>()) {
            let at = cut.index(bytes.len() + 1);
            let whole = collect(&[&bytes]);
            assert_eq!(collect(&[&bytes[..at], &bytes[at..]]), whole);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(collect(&single), whole);
        }

        #[test]
        fn written_events_are_read_back(lines in prop::collection::vec("[^\r\n]{0,20}", 1..5)) {
            let mut text = String::new();
            for line in &lines {
                text.push_str(&format!("data: {line}\n"));
            }
            text.push('\n');
            assert_eq!(all(&[text.as_bytes()]), [lines.join("\n")]);
        }
    }

    fn collect(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut events = Events::default();
        let mut found = Vec::new();
        for chunk in chunks {
            let take = |_, data: RawMessage| {
                found.push(data.json);
                true
            };
            events.feed(&Bytes::copy_from_slice(chunk), take).unwrap();
        }
        found
    }
}
