//! Where a browser comes back to after a person has agreed to something elsewhere.

use axum::Extension;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::{HeaderValue, StatusCode};
use proto::{Code, TraceId};
use strip::Failure;

use super::{Shared, reply};

/// A longer query is nobody's answer.
const MAX_QUERY_BYTES: usize = 16 * 1024;

pub(super) async fn callback(
    State(shared): State<Shared>,
    RawQuery(query): RawQuery,
    Extension(trace): Extension<TraceId>,
) -> Response {
    let Some(logins) = &shared.options.logins else { return none(trace) };
    let query = query.filter(|query| query.len() <= MAX_QUERY_BYTES).unwrap_or_default();
    let landing = logins.land(&query).await;
    let status = if landing.accepted { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let title = if landing.accepted { "Logged in" } else { "Not logged in" };
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head>\
         <body><h1>{title}</h1><p>{}</p></body></html>\n",
        inert(&landing.text)
    );
    let mut response = Response::new(Body::from(page));
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        // The address holds the code.
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What authorization servers may know about this gateway, for those that ask instead of registering it.
pub(super) async fn client(
    State(shared): State<Shared>,
    Extension(trace): Extension<TraceId>,
) -> Response {
    match shared.options.logins.as_ref().and_then(|logins| logins.client_document()) {
        Some(document) => reply::json(StatusCode::OK, &document),
        None => none(trace),
    }
}

fn none(trace: TraceId) -> Response {
    let failure = Failure::new(Code::NotFound, "no login is under way here");
    reply::refuse(StatusCode::NOT_FOUND, &failure, trace)
}

/// A text that is no markup.
pub(super) fn inert(text: &str) -> String {
    let mut inert = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => inert.push_str("&amp;"),
            '<' => inert.push_str("&lt;"),
            '>' => inert.push_str("&gt;"),
            '"' => inert.push_str("&quot;"),
            '\'' => inert.push_str("&#39;"),
            _ => inert.push(character),
        }
    }
    inert
}
