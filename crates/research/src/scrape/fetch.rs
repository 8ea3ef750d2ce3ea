//! Requests of the scraper, and what their failures mean for the caller.

use std::time::Duration;

use bytes::BytesMut;
use egress::http::{
    Client, Cut, FetchError, Limits, Partial, Refusal, Request, Scope, StreamingResponse,
};
use futures_util::StreamExt;
use http::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderName, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use proto::{Blame, Code, Failure};
use search::dates::parse_retry_after;
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use crate::scrape::kind::Kind;

/// How we name ourselves to sites; the form that robots of browsers' kind use.
pub(crate) const AGENT: &str =
    concat!("Mozilla/5.0 (compatible; Powerstrip/", env!("CARGO_PKG_VERSION"), ")");

/// How long to leave a site alone that is read too often and does not say for how long.
const UNSAID_WAIT: Duration = Duration::from_secs(30);

const NEGOTIATED_ACCEPT: &str = "text/markdown, text/html;q=0.9, */*;q=0.5";
const BROWSER_ACCEPT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// The point in time by which a call must have an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(time: Duration) -> Self {
        // Keeps a little for what follows the last request.
        Self(Instant::now() + time.saturating_sub((time / 20).min(Duration::from_millis(500))))
    }

    /// This point in time, or an earlier one after `limit`.
    pub(crate) fn at_most(self, limit: Duration) -> Self {
        Self(self.0.min(Instant::now() + limit))
    }

    pub(crate) fn at(self) -> Instant {
        self.0
    }

    /// The time that is left, at most `limit`.
    pub(crate) fn within(self, limit: Duration) -> Duration {
        self.0.saturating_duration_since(Instant::now()).min(limit)
    }
}

/// Which request a page is asked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As a browser navigates, under our own name; Markdown is preferred to HTML.
    Negotiated,
    /// As a browser navigates, for servers that refuse requests for Markdown.
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
            1 => Self::Negotiated,
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
            Self::Plain => set(ACCEPT, "text/html"),
            Self::Download => set(ACCEPT, "*/*"),
            Self::Negotiated | Self::Browser => {
                set(ACCEPT, if self == Self::Browser { BROWSER_ACCEPT } else { NEGOTIATED_ACCEPT });
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

/// Fetches a URL for which an answer in HTML may take `time`, and any other one `other` after its headers.
pub(crate) async fn fetch_negotiated(
    client: &Client,
    url: &str,
    (time, other): (Duration, Duration),
    max_body_bytes: u64,
) -> Result<Partial, FetchError> {
    let limits = limits(time, max_body_bytes);
    let end = Instant::now() + time;
    let request = Request { headers: Style::Negotiated.headers(), ..Request::get(url) };
    let StreamingResponse { status, headers, body: mut stream, target, .. } =
        client.stream(request, &limits, &Scope::everything()).await?;
    let declared = header(&headers, CONTENT_TYPE).and_then(Kind::of_type);
    let until = if declared == Some(Kind::Html) { end } else { end.min(Instant::now() + other) };
    let (mut body, mut cut) = (BytesMut::new(), None);
    while let Some(chunk) = timeout_at(until, stream.next()).await.unwrap_or_else(|_| {
        cut = Some(Cut::Deadline);
        None
    }) {
        match chunk {
            Ok(chunk) => body.extend_from_slice(&chunk),
            Err(FetchError::Timeout { .. }) => cut = Some(Cut::Deadline),
            Err(FetchError::TooLarge { .. }) => cut = Some(Cut::TooLarge),
            Err(_) => cut = Some(Cut::Broken),
        }
    }
    Ok(Partial { status, headers, final_url: target.url().clone(), body: body.freeze(), cut })
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

/// The wait that an answer asks for before the next request.
pub(crate) fn retry_after(status: u16, headers: &HeaderMap, now: u64) -> Option<Duration> {
    let value = header(headers, RETRY_AFTER).filter(|_| matches!(status, 429 | 503))?;
    parse_retry_after(value, now)
}

/// The failure for a page that was answered with an error, to be tried again after `wait`.
pub(crate) fn error_status(status: u16, wait: Option<Duration>) -> Failure {
    let why = match status {
        404 | 410 => "there is no such page",
        401 | 402 | 403 | 407 | 451 => "it may not be read without permission",
        408 | 504 => "it took too long to answer",
        429 => "it is read too often; try again later",
        500..=599 => "the site has a problem; try again later",
        _ => "the request was refused",
    };
    let message = format!("the site answered with status {status}: {why}");
    // A status that is neither a page nor an error, such as 304, is the site's fault.
    let code = if status < 400 { Code::Unavailable } else { Code::of_http(status) };
    let failure = Failure::new(code, message).blame(Blame::Tool);
    match wait.or((status == 429).then_some(UNSAID_WAIT)) {
        Some(wait) => {
            let milliseconds = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let details = json!({"status": status, "retryAfterMs": milliseconds});
            failure.retry_after(wait).details(details)
        }
        None => failure.details(json!({"status": status})),
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
