//! Forms: read within bounds, and taken only if they are of the session that sends them.

use std::sync::Arc;

use auth::Session;
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_TYPE, LOCATION};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use url::form_urlencoded;

use crate::paths::SIGN_IN;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::{headers, layout};

/// The largest form of somebody who has not signed in: a token is in it, and little else.
pub(super) const MAX_SIGN_IN_BYTES: usize = 64 * 1024;

/// No form of ours has more fields.
const MAX_FIELDS: usize = 10_000;

/// A form that a signed-in person sent.
pub(super) struct Posted {
    pub(super) viewer: Viewer,
    fields: Vec<(String, String)>,
}

impl Posted {
    /// The session that sent it.
    pub(super) fn session(&self) -> &Arc<Session> {
        &self.viewer.session
    }

    /// The first value of a field; empty if there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        self.fields.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// All fields, in the order of the form.
    pub(super) fn fields(&self) -> &[(String, String)] {
        &self.fields
    }
}

impl FromRequest<Dashboard> for Posted {
    type Rejection = Response;

    async fn from_request(request: Request, board: &Dashboard) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let viewer = Viewer::from_request_parts(&mut parts, board).await?;
        let fields = fields(&parts, body, board, board.parts.max_body_bytes).await?;
        let token = fields.iter().find(|(key, _)| key == "csrf").map_or("", |(_, value)| value);
        if !viewer.session.owns_form(token) {
            return Err(foreign());
        }
        Ok(Self { viewer, fields })
    }
}

/// The fields of a form. Newlines come from browsers as CR LF; nobody typed the CR.
pub(super) async fn fields(
    parts: &Parts,
    body: Body,
    board: &Dashboard,
    limit: usize,
) -> Result<Vec<(String, String)>, Response> {
    let kind =
        parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/x-www-form-urlencoded") {
        return Err(trouble(StatusCode::UNSUPPORTED_MEDIA_TYPE, "This is not a form of ours."));
    }
    let bytes = board.parts.bodies.read(parts, body, limit).await.map_err(|fault| {
        let status = StatusCode::from_u16(fault.failure().code.http_status());
        trouble(status.unwrap_or(StatusCode::BAD_REQUEST), &fault.to_string())
    })?;
    let pairs = form_urlencoded::parse(&bytes).take(MAX_FIELDS);
    Ok(pairs.map(|(key, value)| (key.into_owned(), value.replace("\r\n", "\n"))).collect())
}

/// The answer to a form that no page of ours made for this session.
pub(super) fn foreign() -> Response {
    let body = maud::html! {
        h1 { "Not done" }
        p { "This form is not of your session: it is too old, or another page sent it. Go back, reload the page and try again." }
        p { "If that does not help, " a href={ (SIGN_IN) "?again=1" } { "sign in anew" } " in this browser." }
    };
    let mut response = layout::bare("Not done", StatusCode::FORBIDDEN, body);
    headers::guard(response.headers_mut());
    response
}

/// A plain page for what went wrong before anybody was known.
pub(super) fn trouble(status: StatusCode, text: &str) -> Response {
    let mut response =
        layout::bare("Not done", status, maud::html! { h1 { "Not done" } p { (text) } });
    headers::guard(response.headers_mut());
    response
}

/// Sends the browser on after a form, so that a reload repeats nothing.
pub(super) fn see_other(to: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(place) = HeaderValue::from_str(to) {
        response.headers_mut().insert(LOCATION, place);
    }
    headers::guard(response.headers_mut());
    response
}
