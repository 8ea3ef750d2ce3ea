//! Reads the bodies of requests within limits of bytes, memory and time.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use auth::Session;
use axum::body::Body;
use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http_body_util::BodyExt as _;
use http_server::{Exceeded, Holder, Peer, Share, Shares};
use hyper::body::Body as _;
use proto::{Code, Failure, Principal};
use serde_json::json;
use tokio::time::{Instant, sleep_until};

/// The slowest rate of a body in bytes per second, averaged over `WINDOW`.
const LEAST_RATE: u64 = 1024;
const WINDOW: Duration = Duration::from_secs(10);

/// One caller may use this fraction of the memory for bodies.
const CALLERS: usize = 4;

/// How soon a refused caller may try again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Why a body was not read.
#[derive(Debug, thiserror::Error)]
pub enum BodyFault {
    #[error("the request body is larger than {limit} bytes")]
    TooLarge { size: Option<u64>, limit: usize },
    #[error("the request body did not arrive within {} s", .0.as_secs_f32())]
    TooSlow(Duration),
    #[error(
        "the request body arrived with less than {LEAST_RATE} bytes per second; send it faster"
    )]
    BelowRate,
    #[error(
        "the bodies of your unanswered requests exceed {limit} bytes, the limit per caller; wait for answers, or send \
         fewer at once"
    )]
    CallerFull { limit: usize },
    #[error("the bodies of all unanswered requests exceed {limit} bytes; try again later")]
    GatewayFull { limit: usize },
    #[error("the request body broke off: {0}")]
    Broken(String),
}

impl BodyFault {
    /// The failure that the caller receives.
    pub fn failure(&self) -> Failure {
        let code = match self {
            Self::CallerFull { .. } => Code::RateLimit,
            Self::GatewayFull { .. } => Code::Unavailable,
            _ => Code::InvalidInput,
        };
        let failure = Failure::new(code, self.to_string());
        match self {
            Self::TooLarge { size, limit } => {
                failure.details(json!({"size": size, "limit": limit}))
            }
            Self::CallerFull { limit } | Self::GatewayFull { limit } => {
                failure.details(json!({"limit": limit})).retry_after(RETRY_AFTER)
            }
            Self::TooSlow(_) | Self::BelowRate | Self::Broken(_) => failure,
        }
    }

    /// Whether the caller is the cause; such a refusal is recorded in the audit trail.
    pub(crate) fn is_callers(&self) -> bool {
        !matches!(self, Self::GatewayFull { .. } | Self::Broken(_))
    }
}

impl From<Exceeded> for BodyFault {
    fn from(exceeded: Exceeded) -> Self {
        match exceeded {
            Exceeded::Own { limit } => Self::CallerFull { limit },
            Exceeded::Total { limit } => Self::GatewayFull { limit },
        }
    }
}

/// Reads bodies within the memory that all of them share.
pub struct BodyReader {
    memory: Arc<Shares>,
    timeout: Duration,
}

impl Default for BodyReader {
    fn default() -> Self {
        Self { memory: Shares::new(64 << 20), timeout: Duration::from_secs(30) }
    }
}

impl BodyReader {
    /// Limits the bytes of unanswered requests that are held at once; one caller may use a quarter of them.
    #[must_use]
    pub fn with_memory(self, memory: usize) -> Self {
        Self { memory: Shares::new(memory), ..self }
    }

    /// Limits how long a client may take to send a body.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// How long a client may take to send a body.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Reads a body of JSON. Surrogates that are not part of a pair are replaced: the parser would refuse all of it.
    pub async fn read_json(
        &self,
        parts: &Parts,
        body: Body,
        limit: usize,
    ) -> Result<Bytes, BodyFault> {
        let bytes = self.read(parts, body, limit).await?;
        let replaced = match proto::without_lone_surrogates(&bytes) {
            Cow::Borrowed(_) => None,
            Cow::Owned(json) => Some(json),
        };
        Ok(match replaced {
            None => bytes,
            Some(json) => Bytes::from_owner(ReplacedBody { json, _counted: bytes }),
        })
    }

    /// Reads the whole body. If `Content-Length` is too large, it is refused before a byte is read. Its memory counts
    /// against the caller's share until the last reference to the bytes is dropped.
    pub async fn read(
        &self,
        parts: &Parts,
        mut body: Body,
        limit: usize,
    ) -> Result<Bytes, BodyFault> {
        let announced: Option<u64> =
            parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let size = announced.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        if size.is_some_and(|size| size > limit) {
            return Err(BodyFault::TooLarge { size: announced, limit });
        }
        let began = Instant::now();
        let deadline = began + self.timeout;
        let mut timer = pin!(sleep_until(deadline.min(began + WINDOW)));
        let mut arrived = 0;
        let mut buffer: Option<Buffer> = None;
        loop {
            let frame = tokio::select! {
                biased;
                frame = body.frame() => frame,
                () = &mut timer => {
                    let now = Instant::now();
                    if now >= deadline {
                        return Err(BodyFault::TooSlow(self.timeout));
                    }
                    if arrived < LEAST_RATE * WINDOW.as_secs() {
                        return Err(BodyFault::BelowRate);
                    }
                    arrived = 0;
                    timer.as_mut().reset(deadline.min(now + WINDOW));
                    continue;
                }
            };
            let data = match frame {
                None => return Ok(buffer.map(Buffer::into_bytes).unwrap_or_default()),
                Some(Err(error)) => return Err(BodyFault::Broken(error.to_string())),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => data,
                    Err(_trailers) => continue,
                },
            };
            arrived += data.len() as u64;
            let held = buffer.as_ref().map_or(0, |buffer| buffer.bytes.len());
            if held + data.len() > limit {
                return Err(BodyFault::TooLarge { size: announced, limit });
            }
            match &mut buffer {
                // Most bodies are one frame, which is in memory already and is not counted.
                None if body.is_end_stream() => return Ok(data),
                None => {
                    let each = (self.memory.total() / CALLERS).max(limit);
                    let share = self.memory.take(holder(parts), 0, each)?;
                    let most = size.unwrap_or(limit);
                    let buffer = buffer.insert(Buffer { bytes: Vec::new(), most, share });
                    buffer.push(&data)?;
                }
                Some(buffer) => buffer.push(&data)?,
            }
        }
    }
}

/// An incomplete body, and the memory reserved for it.
struct Buffer {
    bytes: Vec<u8>,
    /// Its `Content-Length`, or the limit if it has none.
    most: usize,
    share: Share,
}

impl Buffer {
    /// Reserves memory as the bytes arrive, not when they are announced.
    fn push(&mut self, data: &[u8]) -> Result<(), BodyFault> {
        let (size, capacity) = (self.bytes.len() + data.len(), self.bytes.capacity());
        if size > capacity {
            let capacity_needed = size.max((2 * capacity).min(self.most));
            self.share.grow(capacity_needed - capacity)?;
            self.bytes.reserve_exact(capacity_needed - self.bytes.len());
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A body in which something was replaced.
struct ReplacedBody {
    json: Vec<u8>,
    /// The body that was read, whose memory counts against the caller's share until it is dropped.
    _counted: Bytes,
}

impl AsRef<[u8]> for ReplacedBody {
    fn as_ref(&self) -> &[u8] {
        &self.json
    }
}

/// The caller whose memory a body counts against; the address if none is known.
fn holder(parts: &Parts) -> Holder<'_> {
    let extensions = &parts.extensions;
    if let Some(principal) = extensions.get::<Arc<Principal>>() {
        return Holder::of(principal);
    }
    if let Some(session) = extensions.get::<Arc<Session>>() {
        return Holder::of(&session.principal);
    }
    let unspecified = std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
    Holder::at(extensions.get::<Arc<Peer>>().map_or(unspecified, |peer| peer.address()))
}
