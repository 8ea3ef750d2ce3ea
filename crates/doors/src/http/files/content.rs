//! A file's bytes and its text, in a way that no browser takes for a page of ours.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use files::{FileRecord, Grant, disposition, hex};
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, IF_RANGE, RANGE, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use proto::{Failure, Principal, TenantId, TraceId, Via};
use serde_json::json;

use super::{FileRequest, id_of, invalid, query};
use crate::http::{Shared, reply};

const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Headers that make browsers save a file instead of showing it, and that disable scripts if it is shown anyway.
const GUARDS: [(HeaderName, HeaderValue); 4] = [
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
];

pub(crate) async fn content(
    State(shared): State<Shared>,
    principal: Option<Extension<Arc<Principal>>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let sent = async {
        let (files, id) = (shared.strip.files(), id_of(path));
        let (action, principal, found) = match (grant(&query(&uri)?)?, principal) {
            (Some(grant), _) => {
                // An invalid link names a tenant, too, but leaves no audit row there.
                let file = files.open_link(&id, &grant).await?;
                ("download by link", bearer_of_link(&file), Some(file))
            }
            (None, Some(Extension(principal))) => ("download", principal, None),
            // Admission has refused requests with neither.
            (None, None) => return Err(invalid("a link or a credential is needed")),
        };
        let caller = Arc::clone(&principal);
        let opened = async {
            let file = match found {
                Some(file) => file,
                None => files.find(&caller, &id).await?,
            };
            Ok((file.id.to_string(), send(&shared, &file, &headers, trace).await?))
        };
        shared.strip.audited(FileRequest::new(principal, trace).using(action, &id), opened).await
    };
    sent.await.unwrap_or_else(|failure| reply::refuse_as_usual(&failure, trace))
}

pub(crate) async fn text(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let files = shared.strip.files();
    let id = id_of(path);
    let caller = FileRequest::new(principal, trace);
    let extracted = async {
        let file = files.find(&caller.principal, &id).await?;
        Ok((file.id.to_string(), files.text(&file).await?))
    };
    match shared.strip.audited(caller.using("text", &id), extracted).await {
        Ok(text) => {
            let mut response = Response::new(Body::from(text.to_string()));
            response.headers_mut().insert(CONTENT_TYPE, PLAIN);
            response.headers_mut().extend(GUARDS.map(|(name, value)| (Some(name), value)));
            response
        }
        Err(failure) => reply::refuse_as_usual(&failure, trace),
    }
}

/// The bearer of a link, in the tenant of the file.
fn bearer_of_link(file: &FileRecord) -> Arc<Principal> {
    Arc::new(Principal {
        tenant: file.tenant.clone(),
        subject: "link".to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    })
}

/// What a signed link says of itself.
fn grant(query: &HashMap<String, String>) -> Result<Option<Grant>, Failure> {
    let Some(signature) = query.get("sig") else { return Ok(None) };
    let broken = || invalid("the link is not whole: it has `expires`, `tenant` and `sig`");
    Ok(Some(Grant {
        tenant: TenantId::new(query.get("tenant").ok_or_else(broken)?),
        expires: query.get("expires").and_then(|at| at.parse().ok()).ok_or_else(broken)?,
        signature: signature.clone(),
    }))
}

async fn send(
    shared: &Shared,
    file: &FileRecord,
    caller: &HeaderMap,
    trace: TraceId,
) -> Result<Response, Failure> {
    let tag = format!("\"{}\"", hex(&file.sha256));
    let mut response = Response::default();
    let headers = response.headers_mut();
    headers.extend(GUARDS.map(|(name, value)| (Some(name), value)));
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    if matches(caller.get(IF_NONE_MATCH), &tag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(response);
    }
    let fitting =
        caller.get(IF_RANGE).is_none_or(|requested| requested.as_bytes() == tag.as_bytes());
    let requested = caller.get(RANGE).filter(|_| fitting).and_then(|range| range.to_str().ok());
    let part = match requested.map_or(RequestedRange::All, |range| read_range(range, file.size)) {
        RequestedRange::All => 0..file.size,
        RequestedRange::Part(part) => {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            let shown = format!("bytes {}-{}/{}", part.start, part.end - 1, file.size);
            if let Ok(shown) = HeaderValue::from_str(&shown) {
                response.headers_mut().insert(CONTENT_RANGE, shown);
            }
            part
        }
        RequestedRange::Nothing => {
            let failure = invalid(format!("the file has {} bytes", file.size));
            let failure = failure.details(json!({"size": file.size}));
            let mut refused = reply::refuse(StatusCode::RANGE_NOT_SATISFIABLE, &failure, trace);
            if let Ok(shown) = HeaderValue::from_str(&format!("bytes */{}", file.size)) {
                refused.headers_mut().insert(CONTENT_RANGE, shown);
            }
            return Ok(refused);
        }
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(part.end - part.start));
    let kind = HeaderValue::from_str(&file.media_type);
    headers
        .insert(CONTENT_TYPE, kind.unwrap_or(HeaderValue::from_static("application/octet-stream")));
    if let Ok(disposition) = HeaderValue::from_str(&disposition(file)) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    let bytes = shared.strip.files().open(file, Some(part)).await?;
    *response.body_mut() = Body::from_stream(bytes);
    Ok(response)
}

fn matches(header: Option<&HeaderValue>, tag: &str) -> bool {
    let Some(listed) = header.and_then(|value| value.to_str().ok()) else { return false };
    listed
        .split(',')
        .map(str::trim)
        .any(|known| known == "*" || known.trim_start_matches("W/") == tag)
}

#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    All,
    Part(Range<u64>),
    Nothing,
}

/// What a `Range` header asks for. One that is malformed, or wants several parts, is passed over, as HTTP allows.
fn read_range(text: &str, size: u64) -> RequestedRange {
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|range| range.split_once('-'))
    else {
        return RequestedRange::All;
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(first) || !digits(last) {
        return RequestedRange::All;
    }
    let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
    let part = match (first, last) {
        ("", "") => return RequestedRange::All,
        ("", count) => size.saturating_sub(number(count))..size,
        (start, "") => number(start)..size,
        (start, end) if number(end) < number(start) => return RequestedRange::All,
        (start, end) => number(start)..number(end).saturating_add(1).min(size),
    };
    if part.start < part.end { RequestedRange::Part(part) } else { RequestedRange::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_http_says() {
        for (text, requested) in [
            ("bytes=0-0", RequestedRange::Part(0..1)),
            ("bytes=0-9", RequestedRange::Part(0..10)),
            ("bytes=5-", RequestedRange::Part(5..10)),
            ("bytes=-3", RequestedRange::Part(7..10)),
            ("bytes=-30", RequestedRange::Part(0..10)),
            ("bytes=5-99999999999999999999999", RequestedRange::Part(5..10)),
            ("bytes=10-", RequestedRange::Nothing),
            ("bytes=-0", RequestedRange::Nothing),
            ("bytes=99999999999999999999999-", RequestedRange::Nothing),
            ("bytes=3-2", RequestedRange::All),
            ("bytes=0-1,3-4", RequestedRange::All),
            ("bytes=-", RequestedRange::All),
            ("bytes=+1-2", RequestedRange::All),
            ("lines=0-1", RequestedRange::All),
            ("", RequestedRange::All),
        ] {
            assert_eq!(read_range(text, 10), requested, "{text}");
        }
        assert_eq!(read_range("bytes=0-0", 0), RequestedRange::Nothing);
    }
}
