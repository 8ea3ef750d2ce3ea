//! Files: handed in as they are read from the wire, listed, read back and deleted.

mod content;
pub(crate) mod form;
pub(crate) mod intake;
mod uploads;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderValue, StatusCode, Uri};
use proto::{Code, Envelope, Meta, Principal, TraceId};
use serde_json::{Value, json};
use strip::files::{FileUse, Listing, describe};
use strip::{Door, Failure};

use super::{Shared, reply, routes};

pub(super) use content::{content, text};
pub(super) use uploads::{begin, forget, progress, resume};

/// Who asks, under which trace and since when: what every answer here is made with.
struct Asked {
    principal: Arc<Principal>,
    trace: TraceId,
    began: Instant,
}

impl Asked {
    fn new(principal: Arc<Principal>, trace: TraceId) -> Self {
        Self { principal, trace, began: Instant::now() }
    }

    /// What is done with a file, for the audit trail.
    fn using<'a>(&self, action: &'static str, id: &'a str) -> FileUse<'a> {
        let (principal, trace) = (Arc::clone(&self.principal), self.trace);
        FileUse { action, id, principal, door: Door::Http, trace }
    }

    /// What came of it, in the envelope that all routes speak.
    fn answer(&self, status: StatusCode, result: Result<Value, Failure>) -> Response {
        match result {
            Ok(data) => reply::json(status, &self.envelope(data)),
            Err(failure) => reply::refuse_as_usual(&failure, self.trace),
        }
    }

    fn envelope(&self, data: Value) -> Envelope {
        Envelope {
            ok: true,
            data: Arc::new(data),
            meta: Meta {
                tool: "".into(),
                version: "".into(),
                duration_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
                trace_id: self.trace,
                warnings: Vec::new(),
            },
            errors: Vec::new(),
        }
    }
}

pub(super) async fn put(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    request: Request,
) -> Response {
    let asked = Asked::new(principal, trace);
    let taken = async {
        let file = intake::take(&shared, &asked.principal, request).await?;
        Ok((file.id.to_string(), file))
    };
    let kept = shared.strip.audited(asked.using("upload", ""), taken).await;
    let place = kept.as_ref().ok().map(|file| format!("{}/{}", routes::FILES, file.id));
    let mut response = asked.answer(StatusCode::CREATED, kept.map(|file| describe(&file)));
    if let Some(place) = place.and_then(|place| HeaderValue::from_str(&place).ok()) {
        response.headers_mut().insert(LOCATION, place);
    }
    response
}

pub(super) async fn list(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    uri: Uri,
) -> Response {
    let asked = Asked::new(principal, trace);
    let listed = async {
        let query = query(&uri)?;
        let read = |what: &str| invalid(format!("`{what}` of the query cannot be read"));
        let listing = Listing {
            kind: query
                .get("kind")
                .map(|kind| kind.parse())
                .transpose()
                .map_err(|_| read("kind"))?,
            run: query.get("run").cloned(),
            cursor: query.get("cursor").cloned(),
            limit: query
                .get("limit")
                .map(|limit| limit.parse())
                .transpose()
                .map_err(|_| read("limit"))?,
        };
        let page = shared.strip.files().list(&asked.principal, listing).await?;
        let files: Vec<_> = page.files.iter().map(describe).collect();
        Ok(json!({"files": files, "next_cursor": page.next}))
    };
    let listed = listed.await;
    asked.answer(StatusCode::OK, listed)
}

pub(super) async fn metadata(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let asked = Asked::new(principal, trace);
    let found = shared.strip.files().find(&asked.principal, &id_of(path)).await;
    asked.answer(StatusCode::OK, found.map(|file| describe(&file)))
}

pub(super) async fn delete(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let asked = Asked::new(principal, trace);
    let id = id_of(path);
    let deletion = async {
        let file = shared.strip.files().delete(&asked.principal, &id).await?;
        Ok((file.id.to_string(), file))
    };
    let deleted = shared.strip.audited(asked.using("delete", &id), deletion).await;
    asked.answer(StatusCode::OK, deleted.map(|file| describe(&file)))
}

/// A link by which anybody may read a file for a while.
pub(super) async fn link(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
) -> Response {
    let asked = Asked::new(principal, trace);
    let id = id_of(path);
    let linked = async {
        let lasting = seconds(&query(&uri)?, "ttl")?;
        let files = shared.strip.files();
        let found = files.find(&asked.principal, &id).await?;
        let url = files.link(&found, lasting).await?;
        Ok((found.id.to_string(), json!({"file_id": found.id, "url": url.as_str()})))
    };
    let linked = shared.strip.audited(asked.using("link", &id), linked).await;
    asked.answer(StatusCode::OK, linked)
}

/// A path that cannot be read names no file.
fn id_of(path: Result<Path<String>, PathRejection>) -> String {
    path.map(|Path(id)| id).unwrap_or_default()
}

fn query(uri: &Uri) -> Result<HashMap<String, String>, Failure> {
    let read = Query::<HashMap<String, String>>::try_from_uri(uri);
    read.map(|Query(query)| query)
        .map_err(|error| invalid(format!("the query cannot be read: {error}")))
}

/// A time in seconds that a query may name.
fn seconds(
    query: &HashMap<String, String>,
    key: &str,
) -> Result<Option<std::time::Duration>, Failure> {
    let read = |text: &String| text.parse().ok().filter(|seconds| *seconds > 0);
    query
        .get(key)
        .map(|text| {
            let wrong =
                || invalid(format!("`{key}` of the query is a number of seconds, 1 at least"));
            read(text).map(std::time::Duration::from_secs).ok_or_else(wrong)
        })
        .transpose()
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(Code::InvalidInput, message)
}

/// The media type of a request's body, in lower case and without its parameters.
fn media_type(headers: &http::HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}
