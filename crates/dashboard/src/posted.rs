//! Posted forms: read within limits, and accepted only with the CSRF token of their session.

use std::sync::Arc;

use auth::Session;
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_TYPE, LOCATION};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use url::form_urlencoded;

use crate::headers;
use crate::layout::{bare_error, bare_page};
use crate::paths::SIGN_IN;
use crate::state::Dashboard;
use crate::viewer::Viewer;

/// The largest form without a session; it has a token and little else.
pub(super) const MAX_SIGN_IN_BYTES: usize = 64 * 1024;

/// How many fields of a form are read.
const MAX_FIELDS: usize = 10_000;

/// A form of a signed-in viewer.
pub(super) struct PostedForm {
    pub(super) viewer: Viewer,
    fields: Vec<(String, String)>,
}

impl PostedForm {
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

impl FromRequest<Dashboard> for PostedForm {
    type Rejection = Response;

    async fn from_request(request: Request, dashboard: &Dashboard) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let viewer = Viewer::from_request_parts(&mut parts, dashboard).await?;
        let fields = fields(&parts, body, dashboard, dashboard.parts.max_body_bytes).await?;
        let token = fields.iter().find(|(key, _)| key == "csrf").map_or("", |(_, value)| value);
        if !viewer.session.owns_form(token) {
            return Err(foreign());
        }
        Ok(Self { viewer, fields })
    }
}

/// The fields of a form. Browsers send newlines as CR LF, which become LF.
pub(super) async fn fields(
    parts: &Parts,
    body: Body,
    dashboard: &Dashboard,
    limit: usize,
) -> Result<Vec<(String, String)>, Response> {
    let kind =
        parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/x-www-form-urlencoded") {
        return Err(bare_error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The request is not a form."));
    }
    let bytes = dashboard.parts.bodies.read(parts, body, limit).await.map_err(|fault| {
        let status = StatusCode::from_u16(fault.failure().code.http_status());
        bare_error(status.unwrap_or(StatusCode::BAD_REQUEST), &fault.to_string())
    })?;
    let pairs = form_urlencoded::parse(&bytes).take(MAX_FIELDS);
    Ok(pairs.map(|(key, value)| (key.into_owned(), value.replace("\r\n", "\n"))).collect())
}

/// The answer to a form without the CSRF token of its session.
pub(super) fn foreign() -> Response {
    let body = maud::html! {
        h1 { "Request rejected" }
        p { "The form does not belong to your session: it is too old, or another page sent it. Go back, reload the page and try again." }
        p { "If that does not help, " a href={ (SIGN_IN) "?again=1" } { "sign in again" } "." }
    };
    let mut response = bare_page("Request rejected", StatusCode::FORBIDDEN, body);
    headers::guard(response.headers_mut());
    response
}

/// Redirects after a form, so that a reload does not repeat it.
pub(super) fn see_other(to: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(location) = HeaderValue::from_str(to) {
        response.headers_mut().insert(LOCATION, location);
    }
    headers::guard(response.headers_mut());
    response
}
