//! The form of the theme switch.

use axum::extract::State;
use axum::response::Response;
use http::header::SET_COOKIE;

use super::{COOKIE, Theme};
use crate::headers;
use crate::paths::HOME;
use crate::posted::{PostedForm, see_other};
use crate::state::Dashboard;

/// How long the browser keeps the choice, in seconds.
const YEAR: u32 = 365 * 24 * 60 * 60;

pub(crate) async fn choose(State(dashboard): State<Dashboard>, posted: PostedForm) -> Response {
    let theme = Theme::named(posted.text("theme")).word();
    let next = headers::safe_next(posted.text("next")).unwrap_or(HOME);
    let mut response = see_other(next);
    if let Some(cookie) = headers::set_cookie(COOKIE, theme, Some(YEAR), dashboard.is_secure()) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}
