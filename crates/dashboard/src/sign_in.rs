//! Sign-in with a token, and sign-out.

use std::sync::Arc;

use auth::{Credential, Source};
use axum::extract::{Query, Request, State};
use axum::response::Response;
use http::header::{RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use http_server::Peer;
use maud::{Markup, html};
use proto::{Principal, Secret};
use serde::Deserialize;

use crate::layout::{bare_error, bare_page};
use crate::paths::{HOME, SIGN_IN, START};
use crate::posted::{MAX_SIGN_IN_BYTES, PostedForm, fields, foreign, see_other};
use crate::state::Dashboard;
use crate::{headers, words};

/// Browsers send it with requests for pages that are not opened yet.
const SEC_PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");

/// The longest token.
const MAX_TOKEN: usize = 16 * 1024;

#[derive(Deserialize)]
pub(super) struct Params {
    #[serde(default)]
    next: String,
    /// Present if a signed-in viewer wants to sign in again.
    again: Option<String>,
    /// The one-time code of the link that `serve` prints.
    code: Option<String>,
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    request: Request,
) -> Response {
    let next = headers::safe_next(&params.next).unwrap_or(HOME);
    if let Some(code) = params.code.as_deref() {
        return redeem(&dashboard, &request, code, next);
    }
    match dashboard.find_session(request.headers()) {
        Some(_) if params.again.is_none() => see_other(next),
        _ => form(&dashboard, StatusCode::OK, next, None),
    }
}

/// Signs the operator in by a one-time code.
fn redeem(dashboard: &Dashboard, request: &Request, code: &str, next: &str) -> Response {
    let admin = dashboard.parts.admin.as_ref().zip(dashboard.parts.sign_in_codes.as_ref());
    // Only a person who opens the link uses the code up, not a program that looks ahead.
    let opened = *request.method() == Method::GET && !request.headers().contains_key(SEC_PURPOSE);
    match admin.filter(|(_, codes)| opened && codes.redeem(code)) {
        Some((admin, _)) => {
            let identity = Identity { principal: Arc::clone(admin.principal()), credential: None };
            begin(dashboard, request.headers(), identity, next, see_other(next))
        }
        // A reload of the link, for example.
        None if dashboard.find_session(request.headers()).is_some() => see_other(next),
        None => {
            let text = "This sign-in link was used before or has expired. Restart the gateway for a new one, or enter the admin token.";
            form(dashboard, StatusCode::UNAUTHORIZED, next, Some(text))
        }
    }
}

pub(super) async fn sign_in(State(dashboard): State<Dashboard>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    // There is no session and no CSRF token yet, so the `Origin` is checked.
    if !dashboard.is_own_form(&parts.headers) {
        return foreign();
    }
    let fields = match fields(&parts, body, &dashboard, MAX_SIGN_IN_BYTES).await {
        Ok(fields) => fields,
        Err(refusal) => return refusal,
    };
    let field = |name: &str| fields.iter().find(|(key, _)| key == name).map_or("", |(_, v)| v);
    let next = headers::safe_next(field("next")).unwrap_or(HOME);
    let token = field("token").trim();
    let address = parts.extensions.get::<Arc<Peer>>().map(|peer| peer.address());
    let source = Source::new(address, token);
    // The admin token cannot be guessed, so wrong attempts of others do not lock the operator out.
    let operator = operator(&dashboard, token);
    if operator.is_none()
        && let Err(wait) = dashboard.attempts.check(&source)
    {
        let seconds = wait.as_secs().max(1);
        let text = format!("Too many wrong tokens. Try again in {seconds} seconds.");
        let mut response = form(&dashboard, StatusCode::TOO_MANY_REQUESTS, next, Some(&text));
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        return response;
    }
    let identity = match operator {
        Some(principal) => Some(Identity { principal, credential: None }),
        None => identify(&dashboard, token).await,
    };
    let Some(identity) = identity else {
        dashboard.attempts.note_failure(source);
        tracing::warn!("sign-in to the dashboard with a wrong token");
        let text = "This token is not valid.";
        return form(&dashboard, StatusCode::UNAUTHORIZED, next, Some(text));
    };
    begin(&dashboard, &parts.headers, identity, next, see_other(next))
}

/// The principal that signs in, and the credential that the session depends on; the admin token has none.
pub(super) struct Identity {
    pub(super) principal: Arc<Principal>,
    pub(super) credential: Option<Credential>,
}

/// Begins a session and adds its cookie to the answer.
pub(super) fn begin(
    dashboard: &Dashboard,
    headers: &HeaderMap,
    Identity { principal, credential }: Identity,
    next: &str,
    mut answer: Response,
) -> Response {
    let (secure, subject) = (dashboard.is_secure(), principal.subject.clone());
    let begun = dashboard.sessions.begin(principal, credential).ok();
    let cookie = begun.and_then(|id| {
        if !secure {
            answer = store_token_page(dashboard.sessions.find(&id)?.csrf(), next);
        }
        let name = headers::session_cookie(headers, secure);
        headers::set_cookie(&name, &id, None, secure)
    });
    let Some(cookie) = cookie else {
        return bare_error(StatusCode::SERVICE_UNAVAILABLE, "A session cannot be started.");
    };
    tracing::info!(subject, "signed in to the dashboard");
    answer.headers_mut().append(SET_COOKIE, cookie);
    answer
}

/// A page whose script stores the CSRF token where no other port can read it, and then redirects.
fn store_token_page(proof: &str, next: &str) -> Response {
    let body = html! {
        h1 { "Sign in" }
        p data-proof=(proof) data-next=(next) { "You are signed in." }
        p { a href=(next) { "Continue" } }
        noscript {
            p { "Without scripts all pages are read-only. To make changes, allow scripts or use HTTPS." }
        }
    };
    bare_page("Sign in", StatusCode::OK, body)
}

/// The operator, if the token is the admin token.
fn operator(dashboard: &Dashboard, token: &str) -> Option<Arc<Principal>> {
    let admin = dashboard.parts.admin.as_ref().filter(|_| token.len() <= MAX_TOKEN)?;
    admin.verify(token).map(Arc::clone)
}

/// The caller that a token or a key identifies.
async fn identify(dashboard: &Dashboard, token: &str) -> Option<Identity> {
    if token.is_empty() || token.len() > MAX_TOKEN {
        return None;
    }
    let credential = Secret::new(token);
    let principal = dashboard.parts.access.admit_bearer(&credential).await.ok()?;
    Some(Identity { principal, credential: Some(Credential::Entered(credential)) })
}

pub(super) async fn sign_out(State(dashboard): State<Dashboard>, posted: PostedForm) -> Response {
    dashboard.sessions.end(posted.session());
    dashboard.tries.remove_session(posted.session());
    dashboard.drafts.remove_session(posted.session());
    see_other(SIGN_IN)
}

/// Redirects to the sign-in page, and from there back to the requested page.
pub(super) fn redirect(uri: &Uri) -> Response {
    let path = uri.path_and_query().map_or(HOME, http::uri::PathAndQuery::as_str);
    match headers::safe_next(path) {
        Some(next) if next != HOME => see_other(&format!("{SIGN_IN}?next={}", words::in_url(next))),
        _ => see_other(SIGN_IN),
    }
}

/// The answer to a form without a session.
pub(super) fn refuse() -> Response {
    bare_error(StatusCode::UNAUTHORIZED, "You are not signed in. Sign in and try again.")
}

fn form(dashboard: &Dashboard, status: StatusCode, next: &str, fault: Option<&str>) -> Response {
    let provider = dashboard.parts.access.sign_in().map(|sign_in| sign_in.host());
    let body: Markup = html! {
        h1 { "Sign in" }
        @if let Some(host) = &provider {
            form.provider method="post" action=(START) {
                input type="hidden" name="next" value=(next);
                button.primary type="submit" autofocus[fault.is_none()] { "Sign in with " (words::inert(host)) }
            }
            @if dashboard.parts.admin.is_some() { p.or { "or" } }
        }
        @if dashboard.parts.admin.is_some() {
            form method="post" action=(SIGN_IN) {
                input type="hidden" name="next" value=(next);
                // Lets password managers store the token under a user name.
                input.hidden type="text" name="username" value="admin" autocomplete="username" readonly tabindex="-1" aria-hidden="true";
                label for="token" { @if dashboard.parts.access.is_guarded() { "Token or key" } @else { "Admin token" } }
                input #token type="password" name="token" required autofocus[provider.is_none() || fault.is_some()] autocomplete="current-password"
                    spellcheck="false" aria-describedby="hint" aria-invalid=[fault.map(|_| "true")];
                @if let Some(fault) = fault { p.fault role="alert" { (fault) } }
                button.primary[provider.is_none()] type="submit" { "Sign in" @if provider.is_some() { " with a token" } }
            }
            p.hint #hint {
                @if dashboard.parts.access.is_guarded() {
                    "Use an access token, a key of this gateway, or the admin token. "
                }
                "The gateway prints its admin token when it starts in a terminal, and stores it in its data folder as "
                code { "admin.token" } "."
            }
        } @else {
            p { "This gateway has no admin token, so sign-in is not possible." }
        }
    };
    bare_page("Sign in", status, body)
}
