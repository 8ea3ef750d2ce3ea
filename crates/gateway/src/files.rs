//! Storage of files: a folder, or a bucket that is reached through the guarded HTTP client; and the text of files.

use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use bytes::Bytes;
use config::Loaded;
use egress::http::{BodyStream, Client, FetchError, Limits, Request, Rule, Scope};
use files::text::{ExtractText, ExtractedText, Source};
use files::{FileParts, Picture, PictureBounds};
use futures_util::StreamExt as _;
use http::HeaderValue;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use proto::{Clock, Failure};
use reading::{Document, Readers, ScaledPicture};
use store::{
    BucketOptions, Database, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService, Objects,
};

/// How long the service may take to start its answer. It includes the upload of a part.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(120);

/// The file storage of a config.
pub fn parts(
    loaded: &Loaded,
    data: &Path,
    database: Database,
    client: &Client,
    clock: &Clock,
) -> anyhow::Result<FileParts> {
    let mut parts = FileParts::in_folder(data, database, clock.clone())?;
    parts.rules = loaded.config.file_rules();
    parts.sniff = |head, name| documents::sniff(head, Some(name)).to_owned();
    if let Some(bucket) = loaded.bucket()? {
        let client = BucketClient::new(&bucket, client)?;
        parts.objects = Objects::bucket(bucket, client).context("`storage` cannot be used")?;
    }
    Ok(parts)
}

/// Extracts the text of files, and scales pictures down, in the sandbox. No reader sees the files of two tenants.
pub(super) struct ConfinedText(pub(super) Readers);

fn document(source: Source<'_>) -> Document {
    Document {
        owner: Some(source.tenant.to_owned()),
        name: Some(source.name.to_owned()),
        ..Document::new(source.path.to_owned(), source.media_type)
    }
}

#[async_trait]
impl ExtractText for ConfinedText {
    async fn extract(&self, source: Source<'_>) -> Result<ExtractedText, Failure> {
        let read = self.0.read(document(source)).await?;
        Ok(ExtractedText {
            text: read.text,
            media_type: read.media_type,
            parts: read.parts,
            title: read.meta.title,
            removed: read.removed,
            truncated: read.truncated,
        })
    }

    async fn smaller_picture(&self, source: Source<'_>, bounds: PictureBounds) -> Option<Picture> {
        let PictureBounds { longest_side, max_pixels } = bounds;
        match self.0.scale_down(document(source), longest_side, max_pixels).await {
            Ok(ScaledPicture { bytes, media_type, pixels }) => {
                Some(Picture { bytes, media_type, pixels })
            }
            Err(failure) => {
                tracing::debug!(%failure, "a picture has no smaller copy");
                None
            }
        }
    }
}

/// Sends requests to the bucket's service and to no other host.
struct BucketClient {
    client: Client,
    scope: Scope,
}

impl BucketClient {
    fn new(bucket: &BucketOptions, client: &Client) -> anyhow::Result<Self> {
        let Some(endpoint) = &bucket.endpoint else {
            return Ok(Self { client: client.clone(), scope: Scope::parse(["https"])? });
        };
        // The operator configured this host, so it may be private.
        let policy = client.policy().allowing(Rule::for_url(endpoint.as_str())?);
        Ok(Self { client: client.with_policy(policy), scope: Scope::everything() })
    }
}

impl fmt::Debug for BucketClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BucketClient")
    }
}

#[async_trait]
impl HttpService for BucketClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (mut parts, body) = request.into_parts();
        // The client sets these headers itself, and objects must not be compressed on the way.
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
        let answer = match tokio::time::timeout(RESPONSE_TIMEOUT, sent).await {
            Ok(answer) => answer.map_err(fault)?,
            Err(late) => return Err(HttpError::new(HttpErrorKind::Timeout, late)),
        };
        let mut response =
            HttpResponse::new(HttpResponseBody::new(StreamedBody(answer.body.into())));
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}

/// A streamed body. The lock is never contended: it only makes the type `Sync`.
struct StreamedBody(Mutex<BodyStream>);

impl Body for StreamedBody {
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
