//! Uploads in parts. `POST` begins one, `PATCH` with `Upload-Offset` goes on, `HEAD` returns the offset.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use files::{Progress, Upload};
use http::header::LOCATION;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use proto::{Principal, TraceId};
use serde::Deserialize;
use serde_json::{Value, json};
use strip::files::operations::FileView;

use super::intake::{broken_off, refuse_announced, timed};
use super::{FileRequest, id_of, invalid};
use crate::http::{Shared, reply, routes};

/// How many bytes of an upload have arrived.
const OFFSET: HeaderName = HeaderName::from_static("upload-offset");

/// How many bytes an upload will have.
const LENGTH: HeaderName = HeaderName::from_static("upload-length");

/// The largest body of a request that begins an upload.
const MAX_BODY: usize = 16 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeginParams {
    #[serde(default)]
    name: String,
    size: u64,
}

pub(crate) async fn begin(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    request: Request,
) -> Response {
    let caller = FileRequest::new(principal, trace);
    let begun = async {
        let (parts, body) = request.into_parts();
        let bytes = shared.bodies.read_json(&parts, body, MAX_BODY).await;
        let params: BeginParams = serde_json::from_slice(&bytes.map_err(|fault| fault.failure())?)
            .map_err(|error| {
                invalid(format!(
                    "the body is like {{\"name\": \"a.pdf\", \"size\": 1234}}: {error}"
                ))
            })?;
        shared.strip.files().begin_upload(&caller.principal, &params.name, params.size).await
    };
    match begun.await {
        Ok(upload) => {
            let mut response = caller.answer(StatusCode::CREATED, Ok(shown(&upload)));
            mark(response.headers_mut(), &upload);
            let place = format!("{}/{}", routes::UPLOADS, upload.id);
            if let Ok(place) = HeaderValue::from_str(&place) {
                response.headers_mut().insert(LOCATION, place);
            }
            response
        }
        Err(failure) => reply::refuse_as_usual(&failure, trace),
    }
}

pub(crate) async fn progress(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let caller = FileRequest::new(principal, trace);
    match shared.strip.files().upload(&caller.principal, &id_of(path)).await {
        Ok(upload) => {
            let mut response = caller.answer(StatusCode::OK, Ok(shown(&upload)));
            mark(response.headers_mut(), &upload);
            response
        }
        Err(failure) => reply::refuse_as_usual(&failure, trace),
    }
}

pub(crate) async fn resume(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let caller = FileRequest::new(principal, trace);
    let id = id_of(path);
    let added = async {
        let offset = request.headers().get(OFFSET).and_then(|offset| offset.to_str().ok());
        let offset = offset.and_then(|offset| offset.parse().ok()).ok_or_else(|| {
            invalid(
                "the header `Upload-Offset` says at which byte this part begins; HEAD returns it",
            )
        })?;
        refuse_announced(&shared, &request)?;
        let timeout = shared.bodies.timeout();
        let body = request.into_body().into_data_stream();
        let bytes = timed(body, timeout, |error: axum::Error| broken_off(&error));
        shared.strip.files().add_part(&caller.principal, &id, offset, bytes).await
    };
    match added.await {
        Ok(Progress::Incomplete(upload)) => {
            let mut response = caller.answer(StatusCode::OK, Ok(shown(&upload)));
            mark(response.headers_mut(), &upload);
            response
        }
        Ok(Progress::Done(file)) => {
            // Only the last part makes a file.
            let done = std::future::ready(Ok((file.id.to_string(), FileView::from(&*file))));
            let kept = shared.strip.audited(caller.using("upload", &id), done).await;
            caller.answer(StatusCode::CREATED, kept)
        }
        Ok(Progress::WrongOffset(upload)) => {
            let message = format!("this upload goes on at byte {}", upload.offset);
            let failure = invalid(message).details(shown(&upload));
            let mut response = reply::refuse(StatusCode::CONFLICT, &failure, trace);
            mark(response.headers_mut(), &upload);
            response
        }
        Err(failure) => reply::refuse_as_usual(&failure, trace),
    }
}

pub(crate) async fn forget(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let caller = FileRequest::new(principal, trace);
    let forgotten = shared.strip.files().cancel_upload(&caller.principal, &id_of(path)).await;
    caller.answer(StatusCode::OK, forgotten.map(|()| Value::Null))
}

fn mark(headers: &mut HeaderMap, upload: &Upload) {
    headers.insert(OFFSET, HeaderValue::from(upload.offset));
    headers.insert(LENGTH, HeaderValue::from(upload.size));
}

fn shown(upload: &Upload) -> Value {
    let mut shown = json!({
        "upload_id": upload.id,
        "name": upload.name,
        "size": upload.size,
        "offset": upload.offset,
        "expires_ms": upload.expires_ms,
    });
    if let Some(file) = &upload.file {
        shown["file_id"] = json!(file);
    }
    shown
}
