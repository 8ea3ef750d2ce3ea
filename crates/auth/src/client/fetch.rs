//! Requests to untrusted servers: through the guard, with small limits on time and size.

use std::time::Duration;

use bytes::Bytes;
use egress::http::{Client, Limits, Request, Response, Scope};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use serde::de::DeserializeOwned;

use super::fault::Fault;

/// Metadata and tokens are small.
const MAX_BODY_BYTES: u64 = 256 * 1024;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Only metadata requests follow redirects: a request that holds a secret must not be redirected.
const METADATA_REDIRECTS: u8 = 3;

/// The outcome of fetching a document.
pub(super) enum Fetched<T> {
    Document(T),
    /// There is no such document; the text says how that showed.
    Absent(String),
}

/// Fetches a JSON document that may be absent.
pub(super) async fn document<T: DeserializeOwned>(
    client: &Client,
    what: &'static str,
    url: &str,
) -> Result<Fetched<T>, Fault> {
    let mut request = Request::get(url);
    request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let response = send(client, what, request, METADATA_REDIRECTS).await?;
    if !response.status.is_success() {
        return Ok(Fetched::Absent(format!("HTTP {}", response.status.as_u16())));
    }
    Ok(match serde_json::from_slice(&response.body) {
        Ok(document) => Fetched::Document(document),
        Err(_) => Fetched::Absent("a body that is not the expected JSON".to_owned()),
    })
}

/// Headers that prove who posts.
#[derive(Default)]
pub(super) struct PostHeaders {
    pub(super) authorization: Option<HeaderValue>,
    /// That the sender has the key which the requested token will be bound to.
    pub(super) proof: Option<HeaderValue>,
}

/// Posts a body that may hold secrets; follows no redirects.
pub(super) async fn post(
    client: &Client,
    what: &'static str,
    url: &str,
    (content_type, body): (&'static str, Bytes),
    more: PostHeaders,
) -> Result<Response, Fault> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Some(mut value) = more.authorization {
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    if let Some(proof) = more.proof {
        headers.insert("dpop", proof);
    }
    let request = Request { method: Method::POST, url: url.to_owned(), headers, body: body.into() };
    send(client, what, request, 0).await
}

async fn send(
    client: &Client,
    what: &'static str,
    request: Request,
    max_redirects: u8,
) -> Result<Response, Fault> {
    let limits = Limits {
        deadline: Some(TIMEOUT),
        connect: Duration::from_secs(5),
        max_body_bytes: MAX_BODY_BYTES,
        max_redirects,
        ..Limits::default()
    };
    client
        .send(request, &limits, &Scope::everything())
        .await
        .map_err(|why| Fault::Fetch { what, why })
}
