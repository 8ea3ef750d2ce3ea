//! `/approve/…`: the signed links that a webhook is sent. Opening one shows what it is about and decides nothing, for
//! mail programs and chats open links before people do; the button on the page decides.

use approvals::{
    ApprovalRow, ApprovalState, DecideError, Decider, Decision, ShownFile, Verdict,
    shown_arguments, shown_files,
};
use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, StatusCode};
use proto::{TraceId, clean};
use url::form_urlencoded;

use super::Shared;
use super::login::inert as escaped;

/// A reason, and no more.
const MAX_FORM_BYTES: usize = 32 * 1024;

/// Shows what a link is about.
pub(super) async fn show(
    State(shared): State<Shared>,
    Extension(trace): Extension<TraceId>,
    token: Result<Path<String>, PathRejection>,
) -> Response {
    let (row, verdict) = match opened(&shared, token, trace).await {
        Ok(opened) => opened,
        Err(refusal) => return refusal,
    };
    match row.state {
        ApprovalState::Pending => page(StatusCode::OK, "Approval", &question(&row, verdict)),
        state => page(StatusCode::OK, "Decided", &said(&format!("This call is {state} already."))),
    }
}

/// Decides, as the link says.
pub(super) async fn decide(
    State(shared): State<Shared>,
    Extension(trace): Extension<TraceId>,
    token: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let (row, verdict) = match opened(&shared, token, trace).await {
        Ok(opened) => opened,
        Err(refusal) => return refusal,
    };
    let (parts, body) = request.into_parts();
    let read = shared.bodies.read(&parts, body, MAX_FORM_BYTES).await;
    let Ok(form) = read else {
        return page(StatusCode::BAD_REQUEST, "Not decided", &said("The form cannot be read."));
    };
    let reason = form_urlencoded::parse(&form).find(|(name, _)| name == "reason");
    let decision = Decision::once(verdict, reason.map(|(_, reason)| reason.into_owned()));
    let Some(approvals) = shared.strip.approvals() else { return gone() };
    match approvals.decide(&row.id, &Decider::Link, decision).await {
        Ok(row) => page(StatusCode::OK, "Decided", &said(&format!("The call is {}.", row.state))),
        Err(DecideError::Over(row)) => {
            let words = format!("This call is {} already; nothing was changed.", row.state);
            page(StatusCode::CONFLICT, "Decided", &said(&words))
        }
        Err(DecideError::Store(error)) => {
            tracing::error!(%error, %trace, "the decision of a link cannot be stored");
            unavailable()
        }
        Err(why) => page(StatusCode::BAD_REQUEST, "Not decided", &said(&why.to_string())),
    }
}

/// The approval that a link is for, if the gateway issued the link and it has not expired; otherwise the page to answer with.
async fn opened(
    shared: &Shared,
    token: Result<Path<String>, PathRejection>,
    trace: TraceId,
) -> Result<(ApprovalRow, Verdict), Response> {
    let (Ok(Path(token)), Some(links), Some(approvals)) =
        (token, &shared.options.approval_links, shared.strip.approvals())
    else {
        return Err(gone());
    };
    let Some((id, approves)) = links.verify(&token) else {
        tracing::warn!(%trace, "rejected an approval link: its signature is invalid or it has expired");
        return Err(gone());
    };
    match approvals.get(None, &id).await {
        Ok(Some(row)) => Ok((row, if approves { Verdict::Approve } else { Verdict::Reject })),
        Ok(None) => Err(gone()),
        Err(error) => {
            tracing::error!(%error, %trace, "the approval of a link cannot be read");
            Err(unavailable())
        }
    }
}

fn question(row: &ApprovalRow, verdict: Verdict) -> String {
    let agent = row.agent.as_deref().map_or_else(String::new, |agent| format!(", agent {agent}"));
    let files = match shown_files(row) {
        Ok(files) => {
            let file = |file: &ShownFile| {
                format!("{}, {} bytes, sha256 {}", file.name, file.size, file.sha256)
            };
            files.iter().map(file).collect::<Vec<_>>().join("; ")
        }
        Err(damage) => damage.to_string(),
    };
    let facts = [
        ("Tool", format!("{} {}", row.tool, row.version)),
        ("Caller", format!("{}/{}{agent}", row.tenant, row.owner)),
        ("Definition", row.definition.to_string()),
        ("Code, sha256", row.code.map_or_else(String::new, |code| code.to_string())),
        ("Idempotency key", row.idempotency_key.clone().unwrap_or_default()),
        ("Reason given", row.request_reason.clone().unwrap_or_default()),
        ("Arguments, sha256", row.arguments_digest.to_string()),
        ("Files", files),
        ("Trace", row.trace.clone()),
    ];
    let facts: String = facts
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", seen(value)))
        .collect();
    let (button, hint) = match verdict {
        Verdict::Approve => ("Approve this call, once", ""),
        Verdict::Reject => (
            "Reject this call",
            "<p><label>Reason for the caller: <input name=\"reason\" maxlength=\"2000\"></label></p>",
        ),
    };
    let arguments = match shown_arguments(row) {
        Ok(arguments) => format!("<pre dir=\"ltr\">{}</pre>", escaped(&arguments)),
        Err(damage) => said(&damage.to_string()),
    };
    let before = row.deadline_unix_ms / 1000;
    format!(
        "<dl>{facts}</dl><h2>Arguments</h2>{arguments}\
         <form method=\"post\">{hint}<p><button>{button}</button></p></form>\
         <p>Without a decision before <time>{before}</time> (seconds since 1970), the call is rejected.</p>"
    )
}

/// A text on a page: nothing of it is markup, and nothing of it hides.
fn seen(text: &str) -> String {
    escaped(&clean::visible(text))
}

fn said(text: &str) -> String {
    format!("<p>{}</p>", seen(text))
}

fn unavailable() -> Response {
    let text = "The approval cannot be read or stored at present. The link stays good: open it again in a moment.";
    page(StatusCode::SERVICE_UNAVAILABLE, "Not available", &said(text))
}

fn gone() -> Response {
    let words = said("This link is not good, or not any more.");
    page(StatusCode::NOT_FOUND, "No such link", &words)
}

fn page(status: StatusCode, title: &str, content: &str) -> Response {
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title></head>\
         <body><h1>{title}</h1>{content}</body></html>\n"
    );
    let mut response = Response::new(Body::from(page));
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; sandbox allow-forms allow-same-origin",
        ),
        // The address is the credential; with none at all, browsers would not say where the form comes from.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
