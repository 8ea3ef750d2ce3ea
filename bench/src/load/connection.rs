//! A kept-alive HTTP/1.1 connection that does no more than these answers need.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The most bytes of a wrong answer that an error message repeats.
const SHOWN: usize = 400;

/// How a body in chunks ends, unless something follows the last chunk, which no server here sends.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
    /// A body that came in chunks, put together.
    joined: Vec<u8>,
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    head: &'a [u8],
    pub(crate) body: &'a [u8],
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) bytes: usize,
    pub(super) body: Length,
}

/// How long a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Known(usize),
    /// Chunked encoding.
    Chunks,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)
            .await
            .with_context(|| format!("{address} cannot be reached"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::with_capacity(16 * 1024), joined: Vec::new() })
    }

    /// Sends a request and reads its answer.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> anyhow::Result<Answer<'_>> {
        tokio::time::timeout(TIMEOUT, self.exchange(request))
            .await
            .context("a server did not answer in time")?
    }

    async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<Answer<'_>> {
        self.stream.write_all(request).await.context("a request could not be sent")?;
        self.received.clear();
        let head = loop {
            self.receive().await?;
            if let Some(head) = Head::read(&self.received)? {
                break head;
            }
        };
        let body = match head.body {
            Length::Known(length) => {
                let whole = head.bytes + length;
                while self.received.len() < whole {
                    self.receive().await?;
                }
                ensure!(self.received.len() == whole, "a server sent more than it was asked for");
                &self.received[head.bytes..]
            }
            Length::Chunks => {
                while !join(&self.received[head.bytes..], &mut self.joined)? {
                    self.receive().await?;
                }
                &self.joined[..]
            }
        };
        Ok(Answer { status: head.status, head: &self.received[..head.bytes], body })
    }

    async fn receive(&mut self) -> anyhow::Result<()> {
        let read = self.stream.read_buf(&mut self.received).await.context("an answer broke off")?;
        if read == 0 {
            bail!("a server closed a connection that was to be kept alive");
        }
        Ok(())
    }
}

impl Head {
    /// Reads a head as soon as all of it is there.
    pub(super) fn read(received: &[u8]) -> anyhow::Result<Option<Self>> {
        let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head = std::str::from_utf8(&received[..end]).context("a head is no text")?;
        let status = head
            .strip_prefix("HTTP/1.1 ")
            .and_then(|rest| rest.get(..3)?.parse().ok())
            .context("a server does not speak HTTP/1.1")?;
        let body = match (value(head, "content-length"), value(head, "transfer-encoding")) {
            (Some(length), None) => Length::Known(length.parse().context("a length is no number")?),
            (None, Some(coding)) if coding.eq_ignore_ascii_case("chunked") => Length::Chunks,
            _ => bail!("an answer does not say how long it is"),
        };
        Ok(Some(Self { status, bytes: end + 4, body }))
    }
}

/// The value of a header.
fn value<'a>(head: &'a str, header: &str) -> Option<&'a str> {
    head.split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case(header))
        .map(|(_, value)| value.trim())
}

/// Puts chunks together, if the last one is there.
pub(super) fn join(mut chunks: &[u8], joined: &mut Vec<u8>) -> anyhow::Result<bool> {
    // Most answers come whole or nearly so; looking at their end is cheaper than reading them again and again.
    if !chunks.ends_with(LAST_CHUNK) {
        return Ok(false);
    }
    joined.clear();
    loop {
        let Some(line) = chunks.windows(2).position(|two| two == b"\r\n") else { return Ok(false) };
        let length = std::str::from_utf8(&chunks[..line])
            .ok()
            .and_then(|text| usize::from_str_radix(text.split(';').next()?.trim(), 16).ok())
            .context("a chunk does not say how long it is")?;
        let Some(rest) = chunks.get(line + 2 + length..) else { return Ok(false) };
        if length == 0 {
            ensure!(rest == b"\r\n", "a server sent more than it was asked for");
            return Ok(true);
        }
        joined.extend_from_slice(&chunks[line + 2..line + 2 + length]);
        if rest.is_empty() {
            return Ok(false);
        }
        chunks = rest.strip_prefix(b"\r\n").context("a chunk is longer than it says")?;
    }
}

impl Answer<'_> {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        value(std::str::from_utf8(self.head).ok()?, name)
    }
}

impl fmt::Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.body[..self.body.len().min(SHOWN)];
        write!(f, "status {}, {}", self.status, String::from_utf8_lossy(shown))
    }
}
