//! OAuth logins to servers: the page that begins one, and the callback of the authorization server.

use auth::client::{LoginOutcome, LoginPrompt};
use axum::Extension;
use axum::body::Body;
use axum::extract::{RawQuery, Request, State};
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, LOCATION, REFERRER_POLICY,
    SET_COOKIE,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use proto::{Code, Failure, TraceId};

use super::reply;
use super::state::Shared;

/// The longest query of a callback.
const MAX_QUERY_BYTES: usize = 16 * 1024;

/// The largest form; ours has two short fields.
const MAX_FORM_BYTES: usize = 4 * 1024;

/// Browsers apply `form-action` to all redirects after a form, and logins may redirect to any host.
const POLICY: &str =
    "default-src 'none'; form-action 'self' https: http:; base-uri 'none'; frame-ancestors 'none'";

/// Asks the person who opened a link to confirm that they requested the login.
pub(super) async fn invite(
    State(shared): State<Shared>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    Extension(trace): Extension<TraceId>,
) -> Response {
    let Some(logins) = &shared.options.logins else { return none(trace) };
    let query = query.filter(|query| query.len() <= MAX_QUERY_BYTES).unwrap_or_default();
    match logins.open_login(&query, &cookies(&headers)) {
        Ok(prompt) => prompt_page(&prompt),
        Err(refused) => result_page(&refused),
    }
}

/// Redirects the browser to the authorization server after the person has confirmed.
pub(super) async fn depart(
    State(shared): State<Shared>,
    Extension(trace): Extension<TraceId>,
    request: Request,
) -> Response {
    let Some(logins) = &shared.options.logins else { return none(trace) };
    let (parts, form) = request.into_parts();
    let form = match shared.bodies.read(&parts, form, MAX_FORM_BYTES).await {
        Ok(form) => form,
        Err(fault) => return reply::refuse(StatusCode::BAD_REQUEST, &fault.failure(), trace),
    };
    let away = logins.confirm_login(&String::from_utf8_lossy(&form), &cookies(&parts.headers));
    match away {
        Ok(away) => redirect(&away).unwrap_or_else(|| none(trace)),
        Err(refused) => result_page(&refused),
    }
}

fn redirect(away: &str) -> Option<Response> {
    let away = HeaderValue::try_from(away).ok()?;
    let mut response = page(StatusCode::SEE_OTHER, "Redirecting", String::new());
    response.headers_mut().insert(LOCATION, away);
    Some(response)
}

pub(super) async fn callback(
    State(shared): State<Shared>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    Extension(trace): Extension<TraceId>,
) -> Response {
    let Some(logins) = &shared.options.logins else { return none(trace) };
    let query = query.filter(|query| query.len() <= MAX_QUERY_BYTES).unwrap_or_default();
    let outcome = logins.finish_login(&query, &cookies(&headers)).await;
    outcome.retry_at.as_deref().and_then(redirect).unwrap_or_else(|| result_page(&outcome))
}

/// All `Cookie` headers, joined.
fn cookies(headers: &HeaderMap) -> String {
    let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    texts.collect::<Vec<_>>().join("; ")
}

fn prompt_page(prompt: &LoginPrompt) -> Response {
    let LoginPrompt { server, grantee, issuer, state, check, cookie } = prompt;
    let [server, grantee, issuer, state, check] =
        [server, grantee, issuer, state, check].map(|text| inert(text));
    let body = format!(
        "<p>The server <strong>{server}</strong> needs a login at <strong>{issuer}</strong>. The access that you grant \
         there will be used by <strong>{grantee}</strong>.</p>\
         <p>Continue only if that is you and you requested this login: otherwise another person will use your account.</p>\
         <form method=\"post\" action=\"login\"><input type=\"hidden\" name=\"state\" value=\"{state}\">\
         <input type=\"hidden\" name=\"check\" value=\"{check}\"><button type=\"submit\">Continue</button></form>"
    );
    let mut response = page(StatusCode::OK, "Log in to a server", body);
    let headers = response.headers_mut();
    // With `no-referrer` the form would have no `Origin` either.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        headers.insert(SET_COOKIE, cookie);
    }
    response
}

fn result_page(outcome: &LoginOutcome) -> Response {
    let status = if outcome.accepted { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let title = if outcome.accepted { "Logged in" } else { "Not logged in" };
    page(status, title, format!("<p>{}</p>", inert(&outcome.text)))
}

fn page(status: StatusCode, title: &str, body: String) -> Response {
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title></head>\
         <body><h1>{title}</h1>{body}</body></html>\n"
    );
    let mut response = Response::new(Body::from(page));
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        // The address holds the state or the code.
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The client metadata document, for authorization servers that fetch it instead of registering clients.
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
    let failure = Failure::new(Code::NotFound, "no login has been started here");
    reply::refuse(StatusCode::NOT_FOUND, &failure, trace)
}

/// Escapes a text for HTML.
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
