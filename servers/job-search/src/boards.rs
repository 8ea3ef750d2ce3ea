//! Job boards: their syntax, their limits and their addresses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Board {
    Google,
    Linkedin,
    Indeed,
    Xing,
    Stepstone,
    Generic,
}

/// How a board joins the words of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// Quotes, `OR` and brackets; a blank means "and".
    Blank,
    /// Quotes, `AND`, `OR` and brackets.
    Boolean,
    /// Words only.
    Words,
}

impl Board {
    pub(crate) const ALL: [Self; 6] =
        [Self::Google, Self::Linkedin, Self::Indeed, Self::Xing, Self::Stepstone, Self::Generic];

    pub(crate) fn syntax(self) -> Syntax {
        match self {
            Self::Google | Self::Indeed => Syntax::Blank,
            Self::Linkedin | Self::Xing | Self::Generic => Syntax::Boolean,
            Self::Stepstone => Syntax::Words,
        }
    }

    /// The longest query, in characters. The boards cut longer ones without a word.
    pub(crate) fn max_characters(self) -> usize {
        match self {
            Self::Google => 250,
            Self::Linkedin | Self::Xing => 200,
            Self::Indeed => 250,
            Self::Stepstone => 100,
            Self::Generic => 400,
        }
    }

    /// The most words of a query.
    pub(crate) fn max_words(self) -> usize {
        match self {
            Self::Google => 32,
            _ => usize::MAX,
        }
    }

    /// Whether the place is a part of the query and not of its address.
    pub(crate) fn place_in_query(self) -> bool {
        matches!(self, Self::Google | Self::Generic)
    }

    /// The address that shows the results, if the board has a stable one.
    pub(crate) fn url(self, query: &str, place: Option<&str>) -> Option<String> {
        let (base, words, location) = match self {
            Self::Google => ("https://www.google.com/search", "q", None),
            Self::Linkedin => {
                ("https://www.linkedin.com/jobs/search/", "keywords", Some("location"))
            }
            Self::Indeed => ("https://www.indeed.com/jobs", "q", Some("l")),
            Self::Xing => ("https://www.xing.com/jobs/search", "keywords", Some("location")),
            Self::Stepstone | Self::Generic => return None,
        };
        let mut pairs = vec![(words, query)];
        pairs.extend(location.zip(place));
        let pairs = serde_urlencoded::to_string(pairs).ok()?;
        Some(format!("{base}?{pairs}"))
    }
}
