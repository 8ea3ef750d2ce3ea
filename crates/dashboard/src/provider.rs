//! Sign-in at the identity provider: the redirect to it, and its callback.
//!
//! Both use a page that refreshes to its target instead of a redirect. Browsers apply `form-action` to redirects after a
//! form, and the provider may redirect to any host; and after a redirect from another site they would not send the cookie
//! of the session.

use std::sync::Arc;

use auth::client::{SIGN_IN_TIMEOUT, SignIn, SignInFault, SignedIn};
use auth::{Credential, Refusal, TokenFault, scope};
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{ORIGIN, REFRESH, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use maud::{Markup, html};
use proto::Principal;

use crate::headers;
use crate::layout::{bare_error, bare_page};
use crate::paths::{HOME, SIGN_IN};
use crate::posted::{MAX_SIGN_IN_BYTES, fields, foreign};
use crate::sign_in::{self, Identity};
use crate::state::Dashboard;

pub(super) async fn start(State(dashboard): State<Dashboard>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    // Only our own pages start a sign-in: otherwise another site could sign a browser in unnoticed.
    if !dashboard.is_own_form(&parts.headers) {
        return foreign();
    }
    let Some(provider) = dashboard.parts.access.sign_in() else { return no_provider() };
    if let Some(refusal) = refuse_other_address(&dashboard, &parts.headers) {
        return refusal;
    }
    let fields = match fields(&parts, body, &dashboard, MAX_SIGN_IN_BYTES).await {
        Ok(fields) => fields,
        Err(refusal) => return refusal,
    };
    let next = fields.iter().find(|(key, _)| key == "next").map_or("", |(_, value)| value);
    let next = headers::safe_next(next).unwrap_or(HOME);
    let redirect = match provider.begin(next).await {
        Ok(redirect) => redirect,
        Err(fault) => return failed(fault),
    };
    let secure = dashboard.is_secure();
    let name = headers::sign_in_cookie(&redirect.tag, secure);
    let (key, seconds) = (redirect.key.expose(), SIGN_IN_TIMEOUT.as_secs());
    let Some(cookie) = headers::set_returning_cookie(&name, key, seconds, secure) else {
        return failed(SignInFault::Unavailable);
    };
    let mut response =
        refresh_page(&redirect.url, &format!("Redirecting to {} …", provider.host()));
    response.headers_mut().append(SET_COOKIE, cookie);
    response
}

pub(super) async fn callback(State(dashboard): State<Dashboard>, request: Request) -> Response {
    let Some(provider) = dashboard.parts.access.sign_in() else { return no_provider() };
    let query = request.uri().query().unwrap_or_default();
    let secure = dashboard.is_secure();
    let name = SignIn::tag(query).map(|tag| headers::sign_in_cookie(&tag, secure));
    let key = name.as_ref().and_then(|name| headers::cookie(request.headers(), name));
    let mut response = match provider.finish(query, key).await {
        Ok(signed_in) => finish(&dashboard, request.headers(), signed_in).await,
        Err(fault) => failed(fault),
    };
    if let (Some(name), Some(_)) = (&name, key)
        && let Some(cookie) = headers::set_returning_cookie(name, "", 0, secure)
    {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// Admits the token of the provider like any other, and begins the session.
async fn finish(dashboard: &Dashboard, headers: &HeaderMap, signed_in: SignedIn) -> Response {
    let next = headers::safe_next(&signed_in.next).unwrap_or(HOME).to_owned();
    let credential = Credential::SignedIn(signed_in.tokens);
    let Some(token) = credential.token().await else { return failed(SignInFault::NoToken) };
    match dashboard.parts.access.admit_bearer(&token).await {
        Ok(principal) if has_no_page(&principal) => {
            tracing::warn!(
                subject = principal.subject,
                "sign-in with a token that has no scope for any page"
            );
            refused(
                StatusCode::FORBIDDEN,
                "The identity provider accepted you, but your token has no access to this dashboard.",
                html! {
                    "Ask an operator of this gateway for a role or a scope, such as "
                    code { (scope::TOOLS_READ) } " (" code { "auth.roles" } ", " code { "auth.sign_in.scopes" } ")."
                },
            )
        }
        Ok(principal) => {
            let answer = refresh_page(&next, "You are signed in.");
            let identity = Identity { principal, credential: Some(credential) };
            sign_in::begin(dashboard, headers, identity, &next, answer)
        }
        Err(refusal) => refuse_token(&refusal),
    }
}

fn has_no_page(principal: &Arc<Principal>) -> bool {
    let pages = [
        scope::TOOLS_READ,
        scope::TOOLS_CALL,
        scope::APPROVALS_READ,
        scope::RUNS_READ,
        scope::AUDIT_READ,
        scope::FILES_READ,
        scope::METRICS_READ,
    ];
    !pages.iter().any(|page| scope::covers(principal, page))
}

/// Refuses a browser that uses another address than the callback's, because it would return without its cookie.
fn refuse_other_address(dashboard: &Dashboard, headers: &HeaderMap) -> Option<Response> {
    let public = dashboard.parts.access.origin()?;
    let here = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
    if here == Some(public) {
        return None;
    }
    let url = format!("{public}{SIGN_IN}");
    Some(refused(
        StatusCode::BAD_REQUEST,
        "The identity provider redirects to another address of this gateway than the one you use.",
        html! { "Sign in at " a href=(url) { (url) } "." },
    ))
}

/// A page that refreshes to a target, with a link for browsers that do not.
fn refresh_page(to: &str, text: &str) -> Response {
    let body = html! { h1 { "Sign in" } p { (text) } p { a href=(to) { "Continue" } } };
    let mut response = bare_page("Sign in", StatusCode::OK, body);
    if let Ok(refresh) = HeaderValue::from_str(&format!("0; url={to}")) {
        response.headers_mut().insert(REFRESH, refresh);
    }
    response
}

fn failed(fault: SignInFault) -> Response {
    let (status, hint) = match fault {
        SignInFault::Unavailable | SignInFault::NoToken => {
            (StatusCode::BAD_GATEWAY, "Try again later.")
        }
        SignInFault::Randomness => (StatusCode::SERVICE_UNAVAILABLE, ""),
        SignInFault::Denied | SignInFault::Refused(_) => (
            StatusCode::FORBIDDEN,
            "Try again with another account, or ask an operator of this gateway.",
        ),
        SignInFault::OtherIssuer | SignInFault::Unproven => (
            StatusCode::FORBIDDEN,
            "Try again, and tell an operator of this gateway if it happens again.",
        ),
        SignInFault::Unknown
        | SignInFault::OtherBrowser
        | SignInFault::Unreadable
        | SignInFault::NoCode => (StatusCode::BAD_REQUEST, "Sign in again in this browser."),
    };
    refused(status, &fault.to_string(), html! { (hint) })
}

/// Explains why a token of the provider is not accepted.
fn refuse_token(refusal: &Refusal) -> Response {
    match refusal {
        Refusal::Unreachable(_) => failed(SignInFault::Unavailable),
        Refusal::Agent => refused(
            StatusCode::FORBIDDEN,
            "This is the token of an agent. Agents cannot sign in.",
            html! { "Sign in as a user." },
        ),
        Refusal::BadToken(TokenFault::Audience) => refused(
            StatusCode::FORBIDDEN,
            "The token of the identity provider has another audience than this gateway.",
            html! {
                "For operators: the audience (" code { "aud" } ") must be the address of this gateway or " code { "auth.audience" }
                "; see also " code { "auth.sign_in.resource" } "."
            },
        ),
        Refusal::BadToken(fault) => {
            tracing::warn!(%fault, "the token of a sign-in was refused");
            refused(
                StatusCode::FORBIDDEN,
                &format!("The token of the identity provider is not accepted: {fault}."),
                html! { "Ask an operator of this gateway to check the settings under " code { "auth" } "." },
            )
        }
        _ => failed(SignInFault::NoToken),
    }
}

fn refused(status: StatusCode, text: &str, hint: Markup) -> Response {
    let body = html! {
        h1 { "Sign-in failed" }
        p.fault role="alert" { (text) }
        p.hint { (hint) }
        div.buttons { a.button href=(SIGN_IN) { "Back to the sign-in page" } }
    };
    bare_page("Sign-in failed", status, body)
}

/// The answer without an identity provider.
fn no_provider() -> Response {
    bare_error(StatusCode::NOT_FOUND, "This gateway has no identity provider.")
}
