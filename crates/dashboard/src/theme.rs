//! Light, dark, or as the system has it.

use axum::response::Response;
use http::header::SET_COOKIE;

use crate::headers;
use crate::paths::HOME;
use crate::posted::{Posted, see_other};
use crate::state::Dashboard;

const COOKIE: &str = "powerstrip-theme";
const YEAR: u32 = 365 * 24 * 60 * 60;

/// What somebody chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub(super) fn of(headers: &http::HeaderMap) -> Self {
        headers::cookie(headers, COOKIE).map(Self::named).unwrap_or_default()
    }

    fn named(word: &str) -> Self {
        match word {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }

    /// The word that the page's root carries.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// All choices, in the order of the switch.
    pub(super) const ALL: [(Theme, &'static str); 3] =
        [(Theme::System, "System"), (Theme::Light, "Light"), (Theme::Dark, "Dark")];
}

pub(super) async fn choose(
    axum::extract::State(board): axum::extract::State<Dashboard>,
    posted: Posted,
) -> Response {
    let theme = Theme::named(posted.text("theme")).word();
    let next = headers::safe_next(posted.text("next")).unwrap_or(HOME);
    let mut response = see_other(next);
    if let Some(cookie) = headers::set_cookie(COOKIE, theme, Some(YEAR), board.is_secure()) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}
