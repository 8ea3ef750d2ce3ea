//! Sends requests to the API of one provider.

use std::time::Duration;

use bytes::Bytes;
use egress::http::{Client, FetchError, Limits, Request, Rule, Scope};
use http::header::RETRY_AFTER;
use url::Url;

use super::fault::Fault;
use crate::dates;
use crate::settings::ProviderName;

/// The most bytes of an answer.
const MAX_BODY_BYTES: u64 = 4_000_000;

/// An API at one address. Redirects stay at that address.
#[derive(Clone)]
pub struct Api {
    client: Client,
    base: Url,
    timeout: Duration,
}

/// An answer of an API.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Bytes,
    pub(crate) retry_after: Option<Duration>,
}

impl Api {
    /// The API of a provider, at its public address or at the one that the operator names, which may be private.
    pub fn new(
        client: &Client,
        provider: ProviderName,
        own: Option<&Url>,
        timeout: Duration,
    ) -> Option<Self> {
        let (client, base) = match own {
            None => (client.clone(), Url::parse(provider.row().url?).ok()?),
            Some(own) => {
                let rule = Rule::for_url(own.as_str()).ok()?;
                (client.with_policy(client.policy().allowing(rule)), own.clone())
            }
        };
        Some(Self { client, base, timeout })
    }

    /// The base URL.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Sends a request. Every status is an answer.
    pub async fn send(&self, request: Request, now: u64) -> Result<Reply, Fault> {
        let limits = Limits {
            deadline: Some(self.timeout),
            connect: self.timeout,
            max_body_bytes: MAX_BODY_BYTES,
            ..Limits::default()
        };
        let scope = Scope::origins([self.base.as_str()]);
        let response = self.client.send(request, &limits, &scope).await.map_err(describe)?;
        let retry_after = response.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        Ok(Reply {
            status: response.status.as_u16(),
            body: response.body,
            retry_after: retry_after.and_then(|value| dates::parse_retry_after(value, now)),
        })
    }
}

/// A fault without the URL, which may contain a key.
fn describe(error: FetchError) -> Fault {
    Fault::failed(match error {
        FetchError::Timeout { after, .. } => {
            return Fault::TimedOut { why: format!("timed out after {} s", after.as_secs_f32()) };
        }
        FetchError::Resolve { .. } => "its name cannot be resolved".to_owned(),
        FetchError::Connect { .. } => "no connection".to_owned(),
        FetchError::Tls { .. } => "no secure connection".to_owned(),
        FetchError::TooLarge { .. } => "the answer is too large".to_owned(),
        FetchError::Protocol { .. } => "the connection broke".to_owned(),
        FetchError::Refused(refusal) => format!("refused: {refusal}"),
        FetchError::Redirected(error) => return describe(*error),
    })
}

impl Reply {
    /// What a status other than success means for every provider.
    pub fn fault(&self) -> Option<Fault> {
        match self.status {
            200..=299 => None,
            401 | 403 => {
                Some(Fault::invalid_key(format!("the key was refused (HTTP {})", self.status)))
            }
            402 => Some(Fault::limited("no credit is left (HTTP 402)")),
            429 => Some(Fault::Limited {
                wait: self.retry_after,
                why: "rate limit reached (HTTP 429)".to_owned(),
            }),
            503 if self.retry_after.is_some() => Some(Fault::Limited {
                wait: self.retry_after,
                why: "overloaded (HTTP 503)".to_owned(),
            }),
            408 => Some(Fault::TimedOut { why: "timed out (HTTP 408)".to_owned() }),
            400..=499 => {
                Some(Fault::Refused { why: format!("refused the search (HTTP {})", self.status) })
            }
            status => Some(Fault::failed(format!("HTTP {status}"))),
        }
    }

    /// Whether the body contains a text.
    pub fn says(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.body).contains(text)
    }
}
