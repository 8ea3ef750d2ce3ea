//! Signing in and out.

use std::sync::Arc;

use auth::{Credential, Secret, Source};
use axum::extract::{Query, Request, State};
use axum::response::Response;
use doors::Peer;
use http::header::{RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use maud::{Markup, html};
use proto::Principal;
use serde::Deserialize;

use crate::paths::{HOME, SIGN_IN, START};
use crate::posted::{MAX_SIGN_IN_BYTES, Posted, fields, foreign, see_other, trouble};
use crate::state::Dashboard;
use crate::{headers, layout, words};

/// No token that is ours is longer.
const MAX_TOKEN: usize = 16 * 1024;

#[derive(Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    next: String,
    /// Set by those who are signed in and want to be so anew.
    again: Option<String>,
}

pub(super) async fn page(
    State(board): State<Dashboard>,
    Query(wanted): Query<Wanted>,
    request: Request,
) -> Response {
    let next = headers::safe_next(&wanted.next).unwrap_or(HOME);
    match board.find_session(request.headers()) {
        Some(_) if wanted.again.is_none() => see_other(next),
        _ => form(&board, StatusCode::OK, next, None),
    }
}

pub(super) async fn enter(State(board): State<Dashboard>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    // Nobody is known yet, so there is no token of a session to ask for; where the form comes from, browsers say.
    if !board.is_own_form(&parts.headers) {
        return foreign();
    }
    let fields = match fields(&parts, body, &board, MAX_SIGN_IN_BYTES).await {
        Ok(fields) => fields,
        Err(refusal) => return refusal,
    };
    let field = |name: &str| fields.iter().find(|(key, _)| key == name).map_or("", |(_, v)| v);
    let next = headers::safe_next(field("next")).unwrap_or(HOME);
    let token = field("token").trim();
    let address = parts.extensions.get::<Arc<Peer>>().map(|peer| peer.address());
    let source = Source::new(address, token);
    // 256 bits are not guessed: whoever has them is not locked out by others who have not.
    let operator = operator(&board, token);
    if operator.is_none()
        && let Err(wait) = board.attempts.check(&source)
    {
        let seconds = wait.as_secs().max(1);
        let text = format!("Too many wrong tokens. Try again in {seconds} seconds.");
        let mut response = form(&board, StatusCode::TOO_MANY_REQUESTS, next, Some(&text));
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        return response;
    }
    let known = match operator {
        Some(operator) => Some((operator, None)),
        None => known(&board, token).await,
    };
    let Some((principal, credential)) = known else {
        board.attempts.note_failure(source);
        tracing::warn!("somebody tried to sign in to the dashboard with a wrong token");
        let text = "That is not a token that opens this dashboard.";
        return form(&board, StatusCode::UNAUTHORIZED, next, Some(text));
    };
    begin(&board, &parts.headers, (principal, credential), next, see_other(next))
}

/// Begins a session; the answer takes its cookie along.
pub(super) fn begin(
    board: &Dashboard,
    headers: &HeaderMap,
    (principal, credential): (Arc<Principal>, Option<Credential>),
    next: &str,
    mut answer: Response,
) -> Response {
    let (secure, who) = (board.is_secure(), principal.subject.clone());
    let begun = board.sessions.begin(principal, credential).ok();
    let cookie = begun.and_then(|id| {
        if !secure {
            answer = keeping(board.sessions.find(&id)?.csrf(), next);
        }
        let name = headers::session_cookie(headers, secure);
        headers::set_cookie(&name, &id, None, secure)
    });
    let Some(cookie) = cookie else {
        return trouble(
            StatusCode::SERVICE_UNAVAILABLE,
            "No session can be begun on this machine.",
        );
    };
    tracing::info!(who, "somebody signed in to the dashboard");
    answer.headers_mut().append(SET_COOKIE, cookie);
    answer
}

/// A page that lets the browser keep what proves that forms are its own, where no other port can read it, and goes on.
fn keeping(proof: &str, next: &str) -> Response {
    let body = html! {
        h1 { "Sign in" }
        p data-proof=(proof) data-next=(next) { "You are signed in." }
        p { a href=(next) { "Go on" } }
        noscript {
            p { "Without scripts you can look at all pages. To change something, allow them, or use HTTPS." }
        }
    };
    layout::bare("Sign in", StatusCode::OK, body)
}

/// The operator, if it is their token.
fn operator(board: &Dashboard, token: &str) -> Option<Arc<Principal>> {
    let admin = board.parts.admin.as_ref().filter(|_| token.len() <= MAX_TOKEN)?;
    admin.verify(token).map(Arc::clone)
}

/// Who a token stands for that is not the operator's: with `auth:`, the person whom a token or a key names.
async fn known(board: &Dashboard, token: &str) -> Option<(Arc<Principal>, Option<Credential>)> {
    if token.is_empty() || token.len() > MAX_TOKEN {
        return None;
    }
    let credential = Secret::new(token);
    let principal = board.parts.access.admit_bearer(&credential).await.ok()?;
    Some((principal, Some(Credential::Entered(credential))))
}

pub(super) async fn leave(State(board): State<Dashboard>, posted: Posted) -> Response {
    board.sessions.end(posted.session());
    board.tries.forget(posted.session());
    see_other(SIGN_IN)
}

/// Sends somebody who has not signed in to where they can, and later back.
pub(super) fn redirect(uri: &Uri) -> Response {
    let wanted = uri.path_and_query().map_or(HOME, http::uri::PathAndQuery::as_str);
    match headers::safe_next(wanted) {
        Some(next) if next != HOME => see_other(&format!("{SIGN_IN}?next={}", words::in_url(next))),
        _ => see_other(SIGN_IN),
    }
}

/// The answer to a form of somebody who has not signed in.
pub(super) fn refuse() -> Response {
    trouble(StatusCode::UNAUTHORIZED, "You are not signed in, or no longer. Sign in and try again.")
}

fn form(board: &Dashboard, status: StatusCode, next: &str, fault: Option<&str>) -> Response {
    let provider = board.parts.access.sign_in().map(|sign_in| sign_in.host());
    let body: Markup = html! {
        h1 { "Sign in" }
        @if let Some(host) = &provider {
            form.provider method="post" action=(START) {
                input type="hidden" name="next" value=(next);
                button.primary type="submit" autofocus[fault.is_none()] { "Sign in with " (words::inert(host)) }
            }
            @if board.parts.admin.is_some() { p.or { "or" } }
        }
        @if board.parts.admin.is_some() {
            form method="post" action=(SIGN_IN) {
                input type="hidden" name="next" value=(next);
                // Lets password managers keep the token under a name.
                input.hidden type="text" name="username" value="admin" autocomplete="username" readonly tabindex="-1" aria-hidden="true";
                label for="token" { @if board.parts.access.is_guarded() { "Token or key" } @else { "Admin token" } }
                input #token type="password" name="token" required autofocus[provider.is_none() || fault.is_some()] autocomplete="current-password"
                    spellcheck="false" aria-describedby="hint" aria-invalid=[fault.map(|_| "true")];
                @if let Some(fault) = fault { p.fault role="alert" { (fault) } }
                button.primary[provider.is_none()] type="submit" { "Sign in" @if provider.is_some() { " with a token" } }
            }
            p.hint #hint {
                @if board.parts.access.is_guarded() {
                    "Your access token or a key of this gateway, and you see what it covers; or the admin token. "
                }
                "The gateway shows its admin token when it starts in a terminal, and keeps it in its data folder as "
                code { "admin.token" } ", which only its owner can read."
            }
        } @else {
            p { "This process has no admin token, so nobody can sign in." }
        }
    };
    layout::bare("Sign in", status, body)
}
