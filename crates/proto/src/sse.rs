//! Server-sent events, as far as MCP needs them: the data of each event, its kind, and where a stream is resumed.

use std::time::Duration;

use bytes::Bytes;

/// A longer line of data is collected before it ends.
const LONG_LINE: usize = 16 * 1024;

/// The longest event id that is remembered.
const MAX_ID_BYTES: usize = 1_024;

/// An event is larger than its reader allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event is too large")]
pub struct TooLarge;

/// Collects the data of one event.
pub trait EventData: Default {
    /// The whole data.
    type Whole;

    fn add(&mut self, chunk: &Bytes);

    /// Adds bytes that must be copied.
    fn add_slice(&mut self, bytes: &[u8]);

    /// Refuses data that is too large.
    fn check(&self) -> Result<(), TooLarge>;

    /// Takes the complete data.
    fn take(&mut self) -> Self::Whole;
}

/// Data of at most `MAX` bytes, as it came.
#[derive(Debug, Default)]
pub struct PlainData<const MAX: usize>(Vec<u8>);

impl<const MAX: usize> EventData for PlainData<MAX> {
    type Whole = Vec<u8>;

    fn add(&mut self, chunk: &Bytes) {
        self.0.extend_from_slice(chunk);
    }

    fn add_slice(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn check(&self) -> Result<(), TooLarge> {
        if self.0.len() > MAX { Err(TooLarge) } else { Ok(()) }
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// What the data of an event is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventKind {
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
pub struct Position {
    /// The id of the last event, as a header of HTTP can hold it.
    pub last_id: Option<Bytes>,
    /// How long the server wants the client to wait before it connects again.
    pub retry: Option<Duration>,
}

/// Parses bytes as they arrive and returns the data of whole events.
#[derive(Debug, Default)]
pub struct Events<D> {
    pub position: Position,
    kind: EventKind,
    /// The id of an event that has not ended yet.
    id: Option<Bytes>,
    /// Bytes of a line that has not ended yet.
    line: Vec<u8>,
    /// Whether the line has data that is being collected already.
    collecting: bool,
    /// Data lines of an event that has not ended yet.
    data: D,
    has_data: bool,
    /// Whether the last byte was a carriage return, whose line feed belongs to it.
    after_return: bool,
    begun: bool,
}

impl<D: EventData> Events<D> {
    /// Reads a stream that goes on after this position.
    pub fn after(position: Position) -> Self {
        Self { position, ..Self::default() }
    }

    /// Takes the next bytes and calls `event` with each event that ends in them, until it returns false. Returns the
    /// bytes after that event.
    pub fn feed(
        &mut self,
        bytes: &Bytes,
        mut event: impl FnMut(EventKind, D::Whole) -> bool,
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
                let fits = !value.is_empty() && !value.iter().any(u8::is_ascii_control);
                self.id = fits.then(|| Bytes::copy_from_slice(value));
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
mod tests;
