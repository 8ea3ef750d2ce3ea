//! The bytes of files: uploads as streams, in one request or in parts, and downloads.

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
use proto::{Code, Failure, Principal, TraceId};
use serde::Serialize;
use serde_json::json;
use strip::Door;
use strip::files::FileUse;
use strip::files::operations::FileView;

use super::{Shared, reply, routes};

pub(super) use content::{content, text};
pub(super) use uploads::{begin, forget, progress, resume};

/// What every answer needs: the caller, the trace, and when the request came.
struct FileRequest {
    principal: Arc<Principal>,
    trace: TraceId,
    began: Instant,
}

impl FileRequest {
    fn new(principal: Arc<Principal>, trace: TraceId) -> Self {
        Self { principal, trace, began: Instant::now() }
    }

    /// The use of a file, for the audit trail.
    fn using<'a>(&self, action: &'static str, id: &'a str) -> FileUse<'a> {
        let (principal, trace) = (Arc::clone(&self.principal), self.trace);
        FileUse { action, id, principal, door: Door::Http, trace }
    }

    /// The result in an envelope.
    fn answer(&self, status: StatusCode, result: Result<impl Serialize, Failure>) -> Response {
        match result {
            Ok(data) => {
                let mut data = json!(data);
                proto::time::add_timestamps(&mut data);
                reply::enveloped(status, data, self.began, self.trace)
            }
            Err(failure) => reply::refuse_as_usual(&failure, self.trace),
        }
    }
}

pub(super) async fn put(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    request: Request,
) -> Response {
    let upload = FileRequest::new(principal, trace);
    let stored = async {
        let file = intake::take(&shared, &upload.principal, request).await?;
        Ok((file.id.to_string(), file))
    };
    let stored = shared.strip.audited(upload.using("upload", ""), stored).await;
    let location = stored.as_ref().ok().map(|file| format!("{}/{}", routes::FILES, file.id));
    let mut response = upload.answer(StatusCode::CREATED, stored.map(|file| FileView::from(&file)));
    if let Some(location) = location.and_then(|path| HeaderValue::from_str(&path).ok()) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// The id in the path; an unreadable path names no file.
fn id_of(path: Result<Path<String>, PathRejection>) -> String {
    path.map(|Path(id)| id).unwrap_or_default()
}

fn query(uri: &Uri) -> Result<HashMap<String, String>, Failure> {
    let read = Query::<HashMap<String, String>>::try_from_uri(uri);
    read.map(|Query(query)| query)
        .map_err(|error| invalid(format!("the query cannot be read: {error}")))
}

/// A number of seconds in the query.
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
