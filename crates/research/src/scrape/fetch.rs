//! Requests of the scraper, and what their failures mean for the caller.

use std::time::Duration;

use bytes::BytesMut;
use egress::http::{
    Client, Cut, FetchError, Limits, Partial, Refusal, Request, Scope, StreamingResponse,
};
use futures_util::StreamExt;
use http::header::{
    ACCEPT, ACCEPT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, RETRY_AFTER, USER_AGENT,
};
use http::{HeaderMap, HeaderValue};
use proto::{Blame, Code, Failure};
use serde_json::json;
use tokio::time::Instant;

use crate::scrape::kind::Kind;

/// Bytes of a body that is read although it is not used.
const DRAINED: u64 = 64 * 1024;

/// How we name ourselves to sites; the form that robots of browsers' kind use.
pub(crate) const AGENT: &str =
    concat!("Mozilla/5.0 (compatible; Powerstrip/", env!("CARGO_PKG_VERSION"), ")");

/// The point in time by which a call must have an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(time: Duration) -> Self {
        // Keeps a little for what follows the last request.
        Self(Instant::now() + time.saturating_sub((time / 20).min(Duration::from_millis(500))))
    }

    pub(crate) fn at(self) -> Instant {
        self.0
    }

    /// What is left, at most `limit`.
    pub(crate) fn within(self, limit: Duration) -> Duration {
        self.0.saturating_duration_since(Instant::now()).min(limit)
    }
}

/// Which request a page is asked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `Accept: text/markdown`.
    Markdown,
    /// As a browser navigates, under our own name.
    Browser,
    /// Plain HTML.
    Plain,
    /// A file.
    Download,
}

impl Style {
    /// The request of a tier; 0 is a download.
    pub(crate) fn of_tier(tier: u8) -> Self {
        match tier {
            0 => Self::Download,
            1 => Self::Markdown,
            2 => Self::Browser,
            _ => Self::Plain,
        }
    }

    pub(crate) fn headers(self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut set = |name: HeaderName, value: &'static str| {
            headers.insert(name, HeaderValue::from_static(value));
        };
        match self {
            Self::Markdown => set(ACCEPT, "text/markdown"),
            Self::Plain => set(ACCEPT, "text/html"),
            Self::Download => set(ACCEPT, "*/*"),
            Self::Browser => {
                set(ACCEPT, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
                set(ACCEPT_LANGUAGE, "en-US,en;q=0.9");
                set(USER_AGENT, AGENT);
                set(HeaderName::from_static("sec-fetch-dest"), "document");
                set(HeaderName::from_static("sec-fetch-mode"), "navigate");
                set(HeaderName::from_static("sec-fetch-site"), "none");
                set(HeaderName::from_static("sec-fetch-user"), "?1");
                set(HeaderName::from_static("upgrade-insecure-requests"), "1");
            }
        }
        headers
    }
}

/// Fetches a URL, and keeps what has arrived when time or size run out.
pub(crate) async fn fetch(
    client: &Client,
    url: &str,
    headers: HeaderMap,
    time: Duration,
    max_body_bytes: u64,
) -> Result<Partial, FetchError> {
    let limits = limits(time, max_body_bytes);
    let request = Request { headers, ..Request::get(url) };
    client.fetch_partial(request, &limits, &Scope::everything()).await
}

/// Fetches a URL, but not the body of an answer in HTML, for which it returns `None`.
pub(crate) async fn fetch_unless_html(
    client: &Client,
    url: &str,
    headers: HeaderMap,
    time: Duration,
    max_body_bytes: u64,
) -> Result<Option<Partial>, FetchError> {
    let limits = limits(time, max_body_bytes);
    let request = Request { headers, ..Request::get(url) };
    let StreamingResponse { status, headers, body: mut stream, target } =
        client.stream(request, &limits, &Scope::everything()).await?;
    let declared = header(&headers, CONTENT_TYPE).and_then(Kind::of_type);
    let unused = declared == Some(Kind::Html) && status.is_success();
    let length = header(&headers, CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    // Reading a short body to its end leaves the connection usable for the next request.
    if unused && length.is_none_or(|length| length > DRAINED) {
        return Ok(None);
    }
    let (mut body, mut cut) = (BytesMut::new(), None);
    while let Some(chunk) = stream.next().await {
        match chunk {
            Ok(chunk) => body.extend_from_slice(&chunk),
            Err(FetchError::Timeout { .. }) => cut = Some(Cut::Deadline),
            Err(FetchError::TooLarge { .. }) => cut = Some(Cut::TooLarge),
            Err(_) => cut = Some(Cut::Broken),
        }
    }
    Ok(Some(Partial { status, headers, final_url: target.url().clone(), body: body.freeze(), cut }))
}

fn limits(time: Duration, max_body_bytes: u64) -> Limits {
    Limits {
        deadline: Some(time),
        connect: time.min(Duration::from_secs(10)),
        max_body_bytes,
        ..Limits::default()
    }
}

/// A header as text.
pub(crate) fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// The failure for a page that could not be fetched.
pub(crate) fn unreachable(error: FetchError) -> Failure {
    let failure = match &error {
        FetchError::Refused(Refusal::Redirects { .. }) => {
            Failure::new(Code::Unavailable, format!("the page was not read: {error}"))
                .retryable(false)
        }
        FetchError::Refused(refusal) => refused(refusal),
        FetchError::Timeout { .. } => {
            Failure::new(Code::Timeout, format!("the page did not answer: {error}"))
        }
        FetchError::TooLarge { .. } => {
            Failure::new(Code::Unavailable, format!("the page was not read: {error}"))
                .retryable(false)
        }
        _ => Failure::new(Code::Unavailable, format!("the page was not read: {error}")),
    };
    let blame = if failure.code == Code::InvalidInput { Blame::Caller } else { Blame::Tool };
    failure.blame(blame).caused_by(error)
}

/// The failure for an address that may not be fetched; nothing was sent to it.
pub(crate) fn refused(refusal: &Refusal) -> Failure {
    Failure::new(Code::InvalidInput, format!("the address may not be fetched: {refusal}"))
        .details(json!({"reason": "refused"}))
}

/// The failure for a page that was answered with an error.
pub(crate) fn error_status(status: u16, headers: &HeaderMap) -> Failure {
    let why = match status {
        404 | 410 => "there is no such page",
        401 | 402 | 403 | 407 | 451 => "it may not be read without permission",
        408 | 504 => "it took too long to answer",
        429 => "it is read too often; try again later",
        500..=599 => "the site has a problem; try again later",
        _ => "the request was refused",
    };
    let message = format!("the site answered with status {status}: {why}");
    // What is neither a page nor an error, such as 304, is the site's fault.
    let code = if status < 400 { Code::Unavailable } else { Code::of_http(status) };
    let failure = Failure::new(code, message).details(json!({"status": status})).blame(Blame::Tool);
    let seconds = header(headers, RETRY_AFTER).and_then(|value| value.trim().parse().ok());
    match seconds {
        Some(seconds) if matches!(status, 429 | 503) => {
            failure.retry_after(Duration::from_secs(seconds))
        }
        _ => failure,
    }
}

/// What a caller should know about a body that ended early.
pub(crate) fn cut_warning(cut: Cut) -> &'static str {
    match cut {
        Cut::Deadline => "The page did not arrive in time: this is the part that was received.",
        Cut::TooLarge => "The page is too large: only its beginning was read.",
        Cut::Broken => "The connection broke off: this is the part that was received.",
    }
}

#[cfg(test)]
mod tests;
