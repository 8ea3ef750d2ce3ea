//! The two framings: one JSON message a line (MCP), or `Content-Length` headers before each (LSP).

use std::error::Error;
use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use proto::frame::{self, Decoder, MAX_HEADER_BYTES};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// No message of either side is larger.
pub(crate) const MAX_MESSAGE: usize = 32 << 20;

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
            Self::Headers => frame::encode(message),
        }
    }
}

/// Reads whole messages. A read that is given up loses nothing.
pub struct FrameReader<R> {
    read: R,
    buffer: BytesMut,
    framing: Option<Framing>,
    frames: Decoder,
    /// Bytes already searched for the end of a line.
    searched: usize,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Finds the framing out by the first bytes.
    pub fn sniffing(read: R) -> Self {
        Self {
            read,
            buffer: BytesMut::new(),
            framing: None,
            frames: Decoder::default(),
            searched: 0,
        }
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
            if self.buffer.len() > MAX_MESSAGE + MAX_HEADER_BYTES {
                let why = format!("a message has more than {MAX_MESSAGE} bytes");
                return Err(invalid(why));
            }
            if self.read.read_buf(&mut self.buffer).await? == 0 {
                return Ok(self.rest());
            }
        }
    }

    fn decode(&mut self) -> io::Result<Option<Bytes>> {
        if self.framing == Some(Framing::Headers) {
            return self.frames.decode(&mut self.buffer, MAX_MESSAGE).map_err(invalid);
        }
        if self.searched == 0 {
            let blank = self.buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.buffer.advance(blank);
        }
        let Some(first) = self.buffer.first() else { return Ok(None) };
        // A header's name begins with a letter; no JSON message that we take does.
        let sniffed = if first.is_ascii_alphabetic() { Framing::Headers } else { Framing::Lines };
        match *self.framing.get_or_insert(sniffed) {
            Framing::Lines => Ok(self.line()),
            Framing::Headers => self.decode(),
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

    /// A last line without its newline is still a message.
    fn rest(&mut self) -> Option<Bytes> {
        let rest = self.buffer.split();
        let whole = self.framing == Some(Framing::Lines) && !rest.trim_ascii().is_empty();
        whole.then(|| Bytes::copy_from_slice(rest.trim_ascii()))
    }
}

fn invalid(why: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests;
