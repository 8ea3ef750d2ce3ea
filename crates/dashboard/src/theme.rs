//! The theme: light, dark, or the setting of the system.

mod form;

use crate::headers;

pub(crate) use form::choose;

const COOKIE: &str = "powerstrip-theme";

/// The theme that a browser has chosen.
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

    /// The value of `data-theme` and of the cookie.
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
