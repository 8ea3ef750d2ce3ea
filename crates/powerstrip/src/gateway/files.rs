//! Where files are kept, and how a bucket is reached: through the guarded client, like all that is outside.

use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use bytes::Bytes;
use config::{Config, Environment};
use egress::http::{BodyStream, Client, FetchError, Limits, Request, Rule, Scope};
use futures_util::StreamExt as _;
use http::HeaderValue;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use proto::Clock;
use store::{
    BucketOptions, Database, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService, Objects,
};
use strip::files::FileParts;

/// How long the service may take before it begins to answer. A part of an upload has to arrive before it can.
const PATIENCE: Duration = Duration::from_secs(120);

/// What files are kept with, as the config says.
pub(crate) fn parts(
    config: &Config,
    environment: &Environment,
    data: &Path,
    database: Database,
    client: &Client,
) -> anyhow::Result<FileParts> {
    let mut parts = FileParts::in_folder(data, database, Clock::default())?;
    parts.rules = config.file_rules();
    parts.sniff = |head, name| documents::sniff(head, Some(name)).to_owned();
    // The config was loaded, so its secrets are there; one that has gone since is told by its key.
    let bucket = config.storage.bucket(environment).map_err(|faults| {
        let told: Vec<_> =
            faults.iter().map(|(keys, why)| format!("storage.{} {why}", keys.join("."))).collect();
        anyhow::Error::msg(told.join("; "))
    })?;
    if let Some(bucket) = bucket {
        let courier = Courier::to(&bucket, client)?;
        parts.objects = Objects::bucket(bucket, courier).context("`storage` cannot be used")?;
    }
    Ok(parts)
}

/// Carries requests to the bucket's service and nowhere else.
struct Courier {
    client: Client,
    scope: Scope,
}

impl Courier {
    fn to(bucket: &BucketOptions, client: &Client) -> anyhow::Result<Self> {
        let Some(endpoint) = &bucket.endpoint else {
            return Ok(Self { client: client.clone(), scope: Scope::parse(["https"])? });
        };
        // The operator named this host, so it may be a private one.
        let policy = client.policy().allowing(Rule::for_url(endpoint.as_str())?);
        Ok(Self { client: client.with_policy(policy), scope: Scope::everything() })
    }
}

impl fmt::Debug for Courier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Courier")
    }
}

#[async_trait]
impl HttpService for Courier {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (mut parts, body) = request.into_parts();
        // The client frames the message itself, and an object must come as it lies there.
        parts.headers.remove(HOST);
        parts.headers.remove(CONTENT_LENGTH);
        parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let body = body.collect().await?.to_bytes();
        let request = Request {
            method: parts.method,
            url: parts.uri.to_string(),
            headers: parts.headers,
            body: body.into(),
        };
        let limits = Limits {
            deadline: None,
            max_body_bytes: u64::MAX,
            max_redirects: 0,
            ..Limits::default()
        };
        let sent = self.client.stream(request, &limits, &self.scope);
        let answer = match tokio::time::timeout(PATIENCE, sent).await {
            Ok(answer) => answer.map_err(fault)?,
            Err(late) => return Err(HttpError::new(HttpErrorKind::Timeout, late)),
        };
        let mut response = HttpResponse::new(HttpResponseBody::new(Arriving(answer.body.into())));
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}

/// A body as it arrives. The lock is never contended: it only says that the body is polled from one place at a time.
struct Arriving(Mutex<BodyStream>);

impl Body for Arriving {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let stream = self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        stream
            .poll_next_unpin(cx)
            .map(|next| next.map(|chunk| chunk.map(Frame::data).map_err(fault)))
    }
}

fn fault(error: FetchError) -> HttpError {
    let kind = match &error {
        FetchError::Timeout { .. } => HttpErrorKind::Timeout,
        FetchError::Protocol { .. } => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}
