//! Answers that are useful even if they end early.

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::{HeaderMap, StatusCode};
use url::Url;

use super::client::{Client, Limits, Request, StreamingResponse};
use super::error::FetchError;
use super::scope::Scope;

/// An answer with as much of its body as arrived within the limits.
#[derive(Clone, Debug)]
pub struct Partial {
    /// The status of the last hop.
    pub status: StatusCode,
    /// The headers of the last hop.
    pub headers: HeaderMap,
    /// Where the answer came from after redirects.
    pub final_url: Url,
    /// The body, unpacked, up to the limit.
    pub body: Bytes,
    /// Why the body is incomplete, if it is.
    pub cut: Option<Cut>,
}

/// Why a body is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The deadline passed.
    Deadline,
    /// The body is larger than the limit.
    TooLarge,
    /// The connection or the compressed data broke off.
    Broken,
}

impl Client {
    /// Sends a request and follows redirects like [`Client::send`], but keeps what has arrived when the deadline, the
    /// size limit or the connection ends the body. Fails only if no response headers arrived.
    pub async fn fetch_partial(
        &self,
        request: Request,
        limits: &Limits,
        scope: &Scope,
    ) -> Result<Partial, FetchError> {
        let (answer, deadline) = self.answer(request, limits, scope).await?;
        let StreamingResponse { status, headers, body: mut stream, target, .. } =
            answer.into_streaming(limits, deadline);
        let (mut body, mut cut) = (BytesMut::new(), None);
        while let Some(chunk) = stream.next().await {
            match chunk {
                Ok(chunk) => body.extend_from_slice(&chunk),
                Err(error) => {
                    cut = Some(match error {
                        FetchError::Timeout { .. } => Cut::Deadline,
                        FetchError::TooLarge { .. } => Cut::TooLarge,
                        _ => Cut::Broken,
                    });
                }
            }
        }
        let final_url = target.url().clone();
        Ok(Partial { status, headers, final_url, body: body.freeze(), cut })
    }
}
