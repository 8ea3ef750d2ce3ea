//! A kept-alive HTTP/1.1 connection that does no more than these answers need.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// An answer that takes longer than this will not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// As much of a wrong answer as a message repeats.
const SHOWN: usize = 400;

pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) bytes: usize,
    pub(super) body_bytes: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)
            .await
            .with_context(|| format!("{address} cannot be reached"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::with_capacity(16 * 1024) })
    }

    /// Sends a request and reads its answer.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> anyhow::Result<Answer<'_>> {
        tokio::time::timeout(PATIENCE, self.exchange(request))
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
        let whole = head.bytes + head.body_bytes;
        while self.received.len() < whole {
            self.receive().await?;
        }
        ensure!(self.received.len() == whole, "a server sent more than it was asked for");
        Ok(Answer { status: head.status, body: &self.received[head.bytes..] })
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
        let mut lines = head.split("\r\n");
        let status = lines
            .next()
            .and_then(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok())
            .context("a server does not speak HTTP/1.1")?;
        let body_bytes = lines
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.trim().parse().ok())
            .context("an answer does not say how long it is")?;
        Ok(Some(Self { status, bytes: end + 4, body_bytes }))
    }
}

impl fmt::Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.body[..self.body.len().min(SHOWN)];
        write!(f, "status {}, {}", self.status, String::from_utf8_lossy(shown))
    }
}
