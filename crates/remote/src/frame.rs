//! The two framings: one JSON message a line (MCP), or `Content-Length` headers before each (LSP).

use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// No message of either side is larger.
pub(crate) const MAX_MESSAGE: usize = 32 << 20;

const MAX_HEADERS: usize = 8 << 10;

/// How messages are framed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// One message a line.
    #[default]
    Lines,
    /// Headers, an empty line, and as many bytes as they say.
    Headers,
}

impl Framing {
    /// A message as it goes over the wire.
    pub fn encode(self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Lines => {
                let mut line = Vec::with_capacity(message.len() + 1);
                // A newline inside is white space to JSON, but would end the line.
                line.extend(
                    message
                        .iter()
                        .map(|byte| if *byte == b'\n' || *byte == b'\r' { b' ' } else { *byte }),
                );
                line.push(b'\n');
                line
            }
            Self::Headers => {
                let mut frame = format!("Content-Length: {}\r\n\r\n", message.len()).into_bytes();
                frame.extend_from_slice(message);
                frame
            }
        }
    }
}

/// Reads whole messages. A read that is given up loses nothing.
pub struct FrameReader<R> {
    read: R,
    buffer: BytesMut,
    framing: Option<Framing>,
    /// Bytes already searched for the end of a line.
    searched: usize,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Finds the framing out by the first bytes.
    pub fn sniffing(read: R) -> Self {
        Self { read, buffer: BytesMut::new(), framing: None, searched: 0 }
    }

    /// Reads messages in a framing that is known.
    pub fn of(read: R, framing: Framing) -> Self {
        Self { framing: Some(framing), ..Self::sniffing(read) }
    }

    /// The framing, as far as it is known.
    pub fn framing(&self) -> Framing {
        self.framing.unwrap_or_default()
    }

    /// The next message; nothing at the end. An error means that no next message can be found.
    pub async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            if let Some(message) = self.decode()? {
                return Ok(Some(message));
            }
            if self.buffer.len() > MAX_MESSAGE + MAX_HEADERS {
                return Err(invalid(format!("a message has more than {MAX_MESSAGE} bytes")));
            }
            if self.read.read_buf(&mut self.buffer).await? == 0 {
                return Ok(self.rest());
            }
        }
    }

    fn decode(&mut self) -> io::Result<Option<Bytes>> {
        if self.searched == 0 {
            let blank = self.buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.buffer.advance(blank);
        }
        let Some(first) = self.buffer.first() else { return Ok(None) };
        // A header's name begins with a letter; no JSON message that we take does.
        let sniffed = if first.is_ascii_alphabetic() { Framing::Headers } else { Framing::Lines };
        match *self.framing.get_or_insert(sniffed) {
            Framing::Lines => Ok(self.line()),
            Framing::Headers => self.frame(),
        }
    }

    fn line(&mut self) -> Option<Bytes> {
        let Some(at) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let line = self.buffer.split_to(self.searched + at + 1);
        self.searched = 0;
        Some(Bytes::copy_from_slice(line.trim_ascii_end()))
    }

    fn frame(&mut self) -> io::Result<Option<Bytes>> {
        let Some((end, body)) = end_of_headers(&self.buffer) else {
            if self.buffer.len() > MAX_HEADERS {
                return Err(invalid(format!("the headers have more than {MAX_HEADERS} bytes")));
            }
            return Ok(None);
        };
        let length = content_length(&self.buffer[..end])?;
        if self.buffer.len() < body + length {
            return Ok(None);
        }
        self.buffer.advance(body);
        Ok(Some(self.buffer.split_to(length).freeze()))
    }

    /// A last line without its newline is still a message.
    fn rest(&mut self) -> Option<Bytes> {
        let rest = self.buffer.split();
        let whole = self.framing == Some(Framing::Lines) && !rest.trim_ascii().is_empty();
        whole.then(|| Bytes::copy_from_slice(rest.trim_ascii()))
    }
}

/// Where the headers end and the body begins; bare line feeds are taken, too.
fn end_of_headers(buffer: &[u8]) -> Option<(usize, usize)> {
    (0..buffer.len()).find_map(|at| match &buffer[at..] {
        [b'\n', b'\n', ..] => Some((at, at + 2)),
        [b'\n', b'\r', b'\n', ..] => Some((at, at + 3)),
        _ => None,
    })
}

fn content_length(headers: &[u8]) -> io::Result<usize> {
    let mut length = None;
    for line in headers.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        let (name, value) =
            line.split_once(':').ok_or_else(|| invalid("a header line has no colon"))?;
        if !name.trim().eq_ignore_ascii_case("content-length") {
            continue;
        }
        let value = value.trim();
        let parsed = value.parse().ok().filter(|_| value.bytes().all(|byte| byte.is_ascii_digit()));
        match (parsed, length) {
            (Some(parsed), None) => length = Some(parsed),
            (Some(parsed), Some(known)) if parsed == known => {}
            _ => return Err(invalid("the Content-Length is not one number of bytes")),
        }
    }
    match length {
        Some(length) if length <= MAX_MESSAGE => Ok(length),
        Some(length) => {
            Err(invalid(format!("a message has {length} bytes; {MAX_MESSAGE} are allowed")))
        }
        None => Err(invalid("the headers name no Content-Length")),
    }
}

fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

#[cfg(test)]
mod tests;
