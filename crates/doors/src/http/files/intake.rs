//! Reading a file off the wire, never holding more of it than what has just arrived.

use std::time::{Duration, Instant};

use axum::extract::Request;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, stream};
use http::header::CONTENT_LENGTH;
use proto::{FileKind, Principal};
use serde_json::json;
use strip::Failure;
use strip::files::{FileRecord, NewFile};

use super::super::Shared;
use super::form::{Form, FormField};
use super::{invalid, media_type, query, seconds};

/// A sender who has had twice its patience must have sent so many bytes for every second since: a file that drips in
/// holds its connection and its place for ever.
const LEAST_PER_SECOND: f64 = 1024.0;

/// What stands before the file in a form is small.
const MAX_FIELD: usize = 4096;

/// Stores the file that a request brings: a form with one file in it, or the body itself.
pub(super) async fn take(
    shared: &Shared,
    principal: &Principal,
    request: Request,
) -> Result<FileRecord, Failure> {
    let files = shared.strip.files();
    let patience = shared.bodies.timeout();
    let query = query(request.uri())?;
    let mut new = NewFile::new(FileKind::File, query.get("name").map_or("", String::as_str));
    new.ttl = seconds(&query, "ttl")?;
    if media_type(request.headers()).as_deref() == Some("multipart/form-data") {
        return take_form(shared, principal, new, request, patience).await;
    }
    refuse_announced(shared, &request)?;
    let body = request.into_body().into_data_stream();
    let bytes = patient(body, patience, |error: axum::Error| broken_off(&error));
    files.put(principal, new, bytes).await
}

async fn take_form(
    shared: &Shared,
    principal: &Principal,
    mut new: NewFile,
    request: Request,
    patience: Duration,
) -> Result<FileRecord, Failure> {
    let files = shared.strip.files();
    let mut form = Form::of(request, patience).await?;
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
            let wanted = NewFile {
                name: if new.name.is_empty() { file_name } else { std::mem::take(&mut new.name) },
                ..new.clone()
            };
            kept = Some(files.put(principal, wanted, bytes).await?);
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

/// A file that came whole in a form that then went wrong is not kept: its sender is told that nothing was.
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

/// Who announces too much need not send it.
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

/// Chunks as they arrive, as long as the next one does not take too long, and all of them together do not.
pub(super) fn patient<'a, S, E>(
    bytes: S,
    patience: Duration,
    told: impl Fn(E) -> Failure + Send + Copy + 'a,
) -> BoxStream<'a, Result<Bytes, Failure>>
where
    S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'a,
    E: Send + 'a,
{
    let began = Instant::now();
    Box::pin(stream::unfold(Some((bytes, 0_usize)), move |state| async move {
        let (mut bytes, mut size) = state?;
        match tokio::time::timeout(patience, bytes.next()).await {
            Ok(None) => None,
            Ok(Some(Ok(chunk))) => {
                size += chunk.len();
                let counted = began.elapsed().saturating_sub(2 * patience).as_secs_f64();
                if (size as f64) < counted * LEAST_PER_SECOND {
                    return Some((Err(invalid("the upload is too slow")), None));
                }
                Some((Ok(chunk), Some((bytes, size))))
            }
            Ok(Some(Err(error))) => Some((Err(told(error)), None)),
            Err(_) => Some((Err(too_slow(patience)), None)),
        }
    }))
}

pub(super) fn broken_off(error: &dyn std::error::Error) -> Failure {
    invalid(format!("the upload broke off: {error}"))
}

pub(super) fn too_slow(patience: Duration) -> Failure {
    invalid(format!("nothing more arrived within {} s", patience.as_secs_f32()))
}
