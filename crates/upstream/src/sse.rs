//! Server-sent events, as far as MCP needs them: the data of each event, one JSON-RPC message.

/// Takes bytes as they arrive and hands out the data of whole events.
#[derive(Debug)]
pub(crate) struct Events {
    /// Bytes of a line that has not ended yet.
    line: Vec<u8>,
    /// Data lines of an event that has not ended yet.
    data: Vec<u8>,
    has_data: bool,
    /// Whether the last byte was a carriage return, whose line feed belongs to it.
    after_return: bool,
    begun: bool,
    limit: usize,
}

/// An event has more bytes than allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl Events {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_return: false,
            begun: false,
            limit,
        }
    }

    /// Takes the next bytes and calls `event` with the data of each event that ends in them, until it returns false.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        mut event: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), TooLarge> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(rest);
                return self.check();
            };
            self.line.extend_from_slice(&rest[..end]);
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.check()?;
            if self.end_line() {
                let data = std::mem::take(&mut self.data);
                if std::mem::take(&mut self.has_data) && !event(&data) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), TooLarge> {
        if self.line.len() + self.data.len() > self.limit { Err(TooLarge) } else { Ok(()) }
    }

    /// Takes in a whole line; true if it ends an event.
    fn end_line(&mut self) -> bool {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if line.is_empty() {
            return true;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        if field == b"data" {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

    use super::*;

    fn all(chunks: &[&[u8]]) -> Vec<String> {
        let mut events = Events::new(1_000);
        let mut found = Vec::new();
        for chunk in chunks {
            let take = |data: &[u8]| {
                found.push(String::from_utf8_lossy(data).into_owned());
                true
            };
            events.feed(chunk, take).unwrap();
        }
        found
    }

    #[test]
    fn events_end_with_an_empty_line_whatever_the_line_ends() {
        let text = "\u{feff}: hello\r\nevent: message\r\nid: 1\r\ndata: a\r\ndata:b\r\n\r\ndata\n\n\
                    retry: 5\n\nother: x\rdata: c\r\rdata: unfinished";
        assert_eq!(all(&[text.as_bytes()]), ["a\nb", "", "c"]);
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut events = Events::new(10);
        assert_eq!(events.feed(b"data: 123", |_| true), Ok(()));
        assert_eq!(events.feed(b"45678901234", |_| true), Err(TooLarge));
        let mut events = Events::new(10);
        assert_eq!(events.feed(b"data: 1234\ndata: 5678\ndata: 9\n", |_| true), Err(TooLarge));
        let mut events = Events::new(10);
        for _ in 0..1_000 {
            events.feed(b"data: 1234\n\n:keep\n", |_| true).unwrap();
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
        fn how_the_bytes_are_cut_does_not_matter(bytes in pieces(), cut in any::<prop::sample::Index>()) {
            let at = cut.index(bytes.len() + 1);
            let whole = collect(&[&bytes]);
            assert_eq!(collect(&[&bytes[..at], &bytes[at..]]), whole);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(collect(&single), whole);
        }

        #[test]
        fn what_is_written_is_read(lines in prop::collection::vec("[^\r\n]{0,20}", 1..5)) {
            let mut text = String::new();
            for line in &lines {
                text.push_str(&format!("data: {line}\n"));
            }
            text.push('\n');
            assert_eq!(all(&[text.as_bytes()]), [lines.join("\n")]);
        }
    }

    fn collect(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut events = Events::new(1 << 20);
        let mut found = Vec::new();
        for chunk in chunks {
            events
                .feed(chunk, |data| {
                    found.push(data.to_vec());
                    true
                })
                .unwrap();
        }
        found
    }
}
