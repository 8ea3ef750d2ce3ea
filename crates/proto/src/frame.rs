//! The framing of the Language Server Protocol: headers, an empty line, and as many bytes as `Content-Length` says.

use bytes::{Buf as _, Bytes, BytesMut};

/// The longest block of headers.
pub const MAX_HEADER_BYTES: usize = 8 * 1024;

/// A message over the limit is skipped, so that the next one can be read; a larger one than this ends the session.
const MAX_SKIPPED_BYTES: u64 = 64 * 1024 * 1024;

/// What is wrong with a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameFault {
    #[error("the headers are longer than {MAX_HEADER_BYTES} bytes")]
    HeaderTooLong,
    #[error("`{0}` is not a header line")]
    NotAHeader(String),
    #[error("the headers name no Content-Length")]
    NoLength,
    #[error("`{0}` is not a length in bytes")]
    BadLength(String),
    #[error("a message has {size} bytes; {limit} are allowed")]
    TooLarge { size: u64, limit: usize },
}

impl FrameFault {
    /// Whether the next frame can no longer be found.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, Self::TooLarge { size, .. } if *size <= MAX_SKIPPED_BYTES)
    }
}

/// Turns bytes as they arrive into frames.
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
    /// Bytes already searched for the end of the headers.
    searched: usize,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    #[default]
    Headers,
    Body(usize),
    Skipping(u64),
}

impl Decoder {
    /// The next message, once it has arrived and if it is not larger than `limit`.
    pub fn decode(
        &mut self,
        buffer: &mut BytesMut,
        limit: usize,
    ) -> Result<Option<Bytes>, FrameFault> {
        loop {
            match self.state {
                State::Headers => {
                    let Some(length) = self.headers(buffer)? else {
                        return Ok(None);
                    };
                    match usize::try_from(length) {
                        Ok(length) if length <= limit => self.state = State::Body(length),
                        _ => {
                            self.state = State::Skipping(length);
                            return Err(FrameFault::TooLarge { size: length, limit });
                        }
                    }
                }
                State::Body(length) => {
                    if buffer.len() < length {
                        return Ok(None);
                    }
                    self.state = State::Headers;
                    return Ok(Some(buffer.split_to(length).freeze()));
                }
                State::Skipping(left) => {
                    let here =
                        usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
                    buffer.advance(here);
                    let left = left - here as u64;
                    if left > 0 {
                        self.state = State::Skipping(left);
                        return Ok(None);
                    }
                    self.state = State::Headers;
                }
            }
        }
    }

    /// The length that the headers announce, once they are complete.
    fn headers(&mut self, buffer: &mut BytesMut) -> Result<Option<u64>, FrameFault> {
        if self.searched == 0 {
            let blank = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            buffer.advance(blank);
        }
        let Some((end, body)) = end_of_headers(buffer, self.searched) else {
            if buffer.len() > MAX_HEADER_BYTES {
                return Err(FrameFault::HeaderTooLong);
            }
            // The end may be split between two reads.
            self.searched = buffer.len().saturating_sub(3);
            return Ok(None);
        };
        self.searched = 0;
        if end > MAX_HEADER_BYTES {
            return Err(FrameFault::HeaderTooLong);
        }
        let headers = buffer.split_to(body);
        content_length(&headers[..end]).map(Some)
    }
}

/// Where the headers end and the body begins. Bare line feeds are accepted, because people write frames by hand.
fn end_of_headers(buffer: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while let Some(feed) = buffer[at..].iter().position(|byte| *byte == b'\n') {
        let feed = at + feed;
        match &buffer[feed + 1..] {
            [b'\n', ..] => return Some((feed, feed + 2)),
            [b'\r', b'\n', ..] => return Some((feed, feed + 3)),
            _ => at = feed + 1,
        }
    }
    None
}

fn content_length(headers: &[u8]) -> Result<u64, FrameFault> {
    let mut length = None;
    for line in headers.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        let (name, value) =
            line.split_once(':').ok_or_else(|| FrameFault::NotAHeader(shown(line)))?;
        if !name.trim().eq_ignore_ascii_case("content-length") {
            continue;
        }
        let value = value.trim();
        let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        let parsed = value.parse().ok().filter(|_| digits);
        // With two different lengths, two readers would see two different messages.
        match (parsed, length) {
            (Some(parsed), None) => length = Some(parsed),
            (Some(parsed), Some(known)) if parsed == known => {}
            _ => return Err(FrameFault::BadLength(shown(value))),
        }
    }
    length.ok_or(FrameFault::NoLength)
}

fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(80).collect()
}

/// A message with its header.
pub fn encode(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

#[cfg(test)]
mod tests;
