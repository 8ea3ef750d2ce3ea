//! Signing in at the identity provider: the browser is sent there, and comes back.
//!
//! Both ways lead over a page of ours that goes on by itself. A redirect after a form would be held to the policy for
//! forms, wherever the provider leads in the end; and a redirect after the callback would still count as another site's
//! doing, with which browsers do not send the session's cookie.

use std::sync::Arc;

use auth::client::{SIGN_IN_PATIENCE, SignIn, SignInFault, SignedIn};
use auth::{Credential, Refusal, TokenFault, scope};
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{ORIGIN, REFRESH, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use maud::{Markup, html};
use proto::Principal;

use crate::paths::{HOME, SIGN_IN};
use crate::posted::{MAX_SIGN_IN_BYTES, fields, foreign, trouble};
use crate::state::Dashboard;
use crate::{headers, layout, sign_in};

pub(super) async fn start(State(board): State<Dashboard>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    // Only a page of ours sends somebody there: another site could otherwise sign them in while they look away.
    if !board.is_own_form(&parts.headers) {
        return foreign();
    }
    let Some(provider) = board.parts.access.sign_in() else { return nowhere() };
    if let Some(elsewhere) = comes_back_elsewhere(&board, &parts.headers) {
        return elsewhere;
    }
    let fields = match fields(&parts, body, &board, MAX_SIGN_IN_BYTES).await {
        Ok(fields) => fields,
        Err(refusal) => return refusal,
    };
    let next = fields.iter().find(|(key, _)| key == "next").map_or("", |(_, value)| value);
    let next = headers::safe_next(next).unwrap_or(HOME);
    let redirect = match provider.begin(next).await {
        Ok(redirect) => redirect,
        Err(fault) => return failed(fault),
    };
    let secure = board.is_secure();
    let name = headers::sign_in_cookie(&redirect.tag, secure);
    let (key, seconds) = (redirect.key.expose(), SIGN_IN_PATIENCE.as_secs());
    let Some(cookie) = headers::set_returning_cookie(&name, key, seconds, secure) else {
        return failed(SignInFault::Unavailable);
    };
    let mut response = onward(&redirect.url, &format!("Going to {} …", provider.host()));
    response.headers_mut().append(SET_COOKIE, cookie);
    response
}

pub(super) async fn callback(State(board): State<Dashboard>, request: Request) -> Response {
    let Some(provider) = board.parts.access.sign_in() else { return nowhere() };
    let query = request.uri().query().unwrap_or_default();
    let secure = board.is_secure();
    let name = SignIn::tag(query).map(|tag| headers::sign_in_cookie(&tag, secure));
    let key = name.as_ref().and_then(|name| headers::cookie(request.headers(), name));
    let mut response = match provider.finish(query, key).await {
        Ok(signed_in) => welcome(&board, request.headers(), signed_in).await,
        Err(fault) => failed(fault),
    };
    if let (Some(name), Some(_)) = (&name, key)
        && let Some(cookie) = headers::set_returning_cookie(name, "", 0, secure)
    {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// Looks at the token of somebody who came back as at any other, and begins their session.
async fn welcome(board: &Dashboard, headers: &HeaderMap, signed_in: SignedIn) -> Response {
    let next = headers::safe_next(&signed_in.next).unwrap_or(HOME).to_owned();
    let credential = Credential::SignedIn(signed_in.tokens);
    let Some(token) = credential.token().await else { return failed(SignInFault::NoToken) };
    match board.parts.access.admit_bearer(&token).await {
        Ok(principal) if opens_nothing(&principal) => {
            tracing::warn!(who = principal.subject, "somebody signed in whose token opens no page");
            refused(
                StatusCode::FORBIDDEN,
                "The identity provider knows you, but your token opens no page here.",
                html! {
                    "Whoever runs this gateway can give you a role or a scope, such as "
                    code { (scope::TOOLS_READ) } ", and see to it that the token carries it ("
                    code { "auth.roles" } ", " code { "auth.sign_in.scopes" } ")."
                },
            )
        }
        Ok(principal) => {
            let answer = onward(&next, "You are signed in.");
            sign_in::begin(board, headers, (principal, Some(credential)), &next, answer)
        }
        Err(refusal) => unfit(&refusal),
    }
}

fn opens_nothing(principal: &Arc<Principal>) -> bool {
    let pages = [
        scope::TOOLS_READ,
        scope::TOOLS_CALL,
        scope::APPROVALS_READ,
        scope::RUNS_READ,
        scope::FILES_READ,
        scope::METRICS_READ,
    ];
    !pages.iter().any(|page| scope::covers(principal, page))
}

/// Whoever uses another address than the provider sends browsers back to would come back without their cookie.
fn comes_back_elsewhere(board: &Dashboard, headers: &HeaderMap) -> Option<Response> {
    let public = board.parts.access.origin()?;
    let here = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
    if here == Some(public) {
        return None;
    }
    let place = format!("{public}{SIGN_IN}");
    Some(refused(
        StatusCode::BAD_REQUEST,
        "The identity provider sends browsers back to another address of this gateway than the one you use.",
        html! { "Sign in at " a href=(place) { (place) } "." },
    ))
}

/// A page that goes on by itself; its link is for browsers that do not.
fn onward(to: &str, text: &str) -> Response {
    let body = html! { h1 { "Sign in" } p { (text) } p { a href=(to) { "Go on" } } };
    let mut response = layout::bare("Sign in", StatusCode::OK, body);
    if let Ok(refresh) = HeaderValue::from_str(&format!("0; url={to}")) {
        response.headers_mut().insert(REFRESH, refresh);
    }
    response
}

fn failed(fault: SignInFault) -> Response {
    let (status, hint) = match fault {
        SignInFault::Unavailable | SignInFault::NoToken => {
            (StatusCode::BAD_GATEWAY, "Try again in a while.")
        }
        SignInFault::Randomness => (StatusCode::SERVICE_UNAVAILABLE, ""),
        SignInFault::Denied | SignInFault::Refused(_) => (
            StatusCode::FORBIDDEN,
            "Try again, perhaps with another account, or ask whoever runs this gateway.",
        ),
        SignInFault::OtherIssuer | SignInFault::Unproven => (
            StatusCode::FORBIDDEN,
            "Begin anew, and tell whoever runs this gateway if it happens again.",
        ),
        SignInFault::Unknown
        | SignInFault::OtherBrowser
        | SignInFault::Unreadable
        | SignInFault::NoCode => (StatusCode::BAD_REQUEST, "Begin anew, in this browser."),
    };
    refused(status, &fault.to_string(), html! { (hint) })
}

/// What is wrong with a token that the provider has just given, for whoever can mend it.
fn unfit(refusal: &Refusal) -> Response {
    match refusal {
        Refusal::Unreachable(_) => failed(SignInFault::Unavailable),
        Refusal::Agent => refused(
            StatusCode::FORBIDDEN,
            "This is an agent's token, and agents do not sign in here.",
            html! { "Sign in as yourself." },
        ),
        Refusal::BadToken(TokenFault::Audience) => refused(
            StatusCode::FORBIDDEN,
            "The identity provider's token is meant for somebody else than this gateway.",
            html! {
                "Whoever runs this gateway: the provider must name its address as the audience (" code { "aud" } "), or "
                code { "auth.audience" } " the one that it names; see also " code { "auth.sign_in.resource" } "."
            },
        ),
        Refusal::BadToken(fault) => {
            tracing::warn!(%fault, "the token of a sign-in opens nothing");
            refused(
                StatusCode::FORBIDDEN,
                &format!("The identity provider's token does not open this gateway: {fault}."),
                html! { "Whoever runs this gateway has to look at its settings for " code { "auth" } "." },
            )
        }
        _ => failed(SignInFault::NoToken),
    }
}

fn refused(status: StatusCode, text: &str, hint: Markup) -> Response {
    let body = html! {
        h1 { "Not signed in" }
        p.fault role="alert" { (text) }
        p.hint { (hint) }
        div.buttons { a.button href=(SIGN_IN) { "Back to the sign-in page" } }
    };
    layout::bare("Not signed in", status, body)
}

/// The answer where nobody signs in so.
fn nowhere() -> Response {
    trouble(StatusCode::NOT_FOUND, "Nobody signs in to this gateway by an identity provider.")
}
