//! Reads files from requests, without holding more of them than has just arrived.

use std::time::{Duration, Instant};

use axum::extract::Request;
use bytes::Bytes;
use files::{FileRecord, NewFile};
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, stream};
use http::header::CONTENT_LENGTH;
use proto::{Failure, FileKind, Principal};
use serde_json::json;

use super::super::Shared;
use super::form::{Form, FormField};
use super::{invalid, media_type, query, seconds};

/// After twice the timeout, a sender must have sent this many bytes for every second since: a slow upload would hold its
/// connection for ever.
const MIN_BYTES_PER_SECOND: f64 = 1024.0;

/// The most bytes of a field that is not the file.
const MAX_FIELD: usize = 4096;

/// Stores the file that a request brings: a form with one file in it, or the body itself.
pub(super) async fn take(
    shared: &Shared,
    principal: &Principal,
    request: Request,
) -> Result<FileRecord, Failure> {
    let files = shared.strip.files();
    let timeout = shared.bodies.timeout();
    let query = query(request.uri())?;
    let mut new = NewFile::new(FileKind::File, query.get("name").map_or("", String::as_str));
    new.ttl = seconds(&query, "ttl")?;
    if media_type(request.headers()).as_deref() == Some("multipart/form-data") {
        return take_form(shared, principal, new, request, timeout).await;
    }
    refuse_announced(shared, &request)?;
    let body = request.into_body().into_data_stream();
    let bytes = timed(body, timeout, |error: axum::Error| broken_off(&error));
    files.put(principal, new, bytes).await
}

async fn take_form(
    shared: &Shared,
    principal: &Principal,
    mut new: NewFile,
    request: Request,
    timeout: Duration,
) -> Result<FileRecord, Failure> {
    let files = shared.strip.files();
    let mut form = Form::of(request, timeout).await?;
    let mut kept: Option<FileRecord> = None;
    loop {
        let field = match form.next().await {
            Ok(Some(field)) => field,
            Ok(None) => break,
            Err(failure) => return Err(undone(shared, principal, kept, failure).await),
        };
        if kept.is_some() {
            let failure = invalid("one request takes one file; send the others on their own");
            return Err(undone(shared, principal, kept, failure).await);
        }
        let FormField { name: named, file_name, mut bytes } = field;
        let is_file = file_name.is_some() || named == "file";
        let file_name = file_name.unwrap_or_default();
        if is_file {
            let file = NewFile {
                name: if new.name.is_empty() { file_name } else { std::mem::take(&mut new.name) },
                ..new.clone()
            };
            kept = Some(files.put(principal, file, bytes).await?);
            continue;
        }
        let mut value = Vec::new();
        while let Some(chunk) = bytes.next().await {
            value.extend_from_slice(&chunk?);
            if value.len() > MAX_FIELD {
                return Err(invalid(format!("the field `{named}` is no file and too long")));
            }
        }
        if named == "name" {
            new.name = String::from_utf8_lossy(&value).into_owned();
        }
    }
    kept.ok_or_else(|| invalid("the form has no file in it; its field is called `file`"))
}

/// Deletes a file whose form turned out to be broken: the sender gets an error, so nothing may be stored.
async fn undone(
    shared: &Shared,
    principal: &Principal,
    kept: Option<FileRecord>,
    failure: Failure,
) -> Failure {
    if let Some(kept) = kept
        && let Err(error) = shared.strip.files().delete(principal, kept.id.as_str()).await
    {
        tracing::warn!(%error, file = %kept.id, "a file of a broken form is still there");
    }
    failure
}

/// Refuses a body by its announced length, before it is sent.
pub(super) fn refuse_announced(shared: &Shared, request: &Request) -> Result<(), Failure> {
    let limit = shared.strip.files().rules().max_bytes;
    let announced = request.headers().get(CONTENT_LENGTH);
    let size: Option<u64> = announced.and_then(|length| length.to_str().ok()?.parse().ok());
    match size.filter(|size| *size > limit) {
        None => Ok(()),
        Some(size) => Err(invalid(format!("the file is larger than {limit} bytes"))
            .details(json!({"size": size, "limit": limit}))),
    }
}

/// Chunks as they arrive, with a timeout for each and a minimum rate for all.
pub(super) fn timed<'a, S, E>(
    bytes: S,
    timeout: Duration,
    to_failure: impl Fn(E) -> Failure + Send + Copy + 'a,
) -> BoxStream<'a, Result<Bytes, Failure>>
where
    S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'a,
    E: Send + 'a,
{
    let began = Instant::now();
    Box::pin(stream::unfold(Some((bytes, 0_usize)), move |state| async move {
        let (mut bytes, mut size) = state?;
        match tokio::time::timeout(timeout, bytes.next()).await {
            Ok(None) => None,
            Ok(Some(Ok(chunk))) => {
                size += chunk.len();
                let counted = began.elapsed().saturating_sub(2 * timeout).as_secs_f64();
                if (size as f64) < counted * MIN_BYTES_PER_SECOND {
                    return Some((Err(invalid("the upload is too slow")), None));
                }
                Some((Ok(chunk), Some((bytes, size))))
            }
            Ok(Some(Err(error))) => Some((Err(to_failure(error)), None)),
            Err(_) => Some((Err(too_slow(timeout)), None)),
        }
    }))
}

pub(super) fn broken_off(error: &dyn std::error::Error) -> Failure {
    invalid(format!("the upload broke off: {error}"))
}

pub(super) fn too_slow(timeout: Duration) -> Failure {
    invalid(format!("nothing more arrived within {} s", timeout.as_secs_f32()))
}
