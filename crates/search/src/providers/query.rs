//! What a provider is asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::images::ImageFilters;
use crate::settings::ProviderName;

/// How old a result may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Age {
    /// In milliseconds.
    pub(crate) fn ms(self) -> u64 {
        let hours = match self {
            Self::Hour => 1,
            Self::Day => 24,
            Self::Week => 7 * 24,
            Self::Month => 31 * 24,
            Self::Year => 366 * 24,
        };
        hours * 3_600_000
    }

    /// Its name, of which an hour is a part of a day.
    pub(crate) fn day_or_longer(self) -> &'static str {
        match self {
            Self::Hour | Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

/// How much adult content is filtered out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Safe {
    Off,
    #[default]
    Medium,
    High,
}

/// A search as one provider gets it.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub text: String,
    pub count: usize,
    pub age: Option<Age>,
    pub safe: Safe,
    /// In lower case.
    pub language: Option<String>,
    /// In lower case.
    pub country: Option<String>,
    /// Only results of any of these domains.
    pub sites: Vec<String>,
    pub exact: Option<String>,
    pub exclude: Option<String>,
    pub image: ImageFilters,
    /// The time of the search.
    pub now: u64,
}

/// The longest query that an API takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryLimit {
    pub(super) chars: usize,
    pub(super) words: usize,
}

impl QueryLimit {
    /// The start of a query that fits. It ends between words, unless most of it is one word, as in languages without
    /// spaces.
    pub(super) fn cut(self, query: &str) -> &str {
        // Starts of words but the first one, which has no white space before it.
        let is_start = |(at, c): &(usize, char)| {
            !c.is_whitespace() && query[..*at].ends_with(char::is_whitespace)
        };
        let too_many_words = query.char_indices().filter(is_start).nth(self.words - 1);
        let too_many_chars = query.char_indices().nth(self.chars);
        let Some(end) =
            [too_many_words, too_many_chars].into_iter().flatten().map(|(at, _)| at).min()
        else {
            return query;
        };
        let (cut, rest) = query.split_at(end);
        match cut.rfind(char::is_whitespace) {
            _ if rest.starts_with(char::is_whitespace) => cut,
            Some(space) if space * 2 >= end => cut[..space].trim_end(),
            _ => cut,
        }
    }

    /// Says that a query does not fit.
    pub(super) fn warn(self, query: &str, name: ProviderName) -> Option<String> {
        let is_cut = self.cut(query).len() < query.len();
        is_cut.then(|| format!("The query is too long for {name}: its end was left out."))
    }
}

impl Query {
    /// The words with exact phrase, excluded words and sites as operators, which most engines know. Sites come first,
    /// where they are not cut off.
    pub(crate) fn with_operators(&self) -> String {
        let terms = self.with_terms();
        let sites: Vec<_> = self.sites.iter().map(|site| format!("site:{site}")).collect();
        match &sites[..] {
            [] => terms,
            [site] => format!("{site} {terms}"),
            sites => format!("({}) {terms}", sites.join(" OR ")),
        }
    }

    /// The words with exact phrase and excluded words as operators.
    pub(crate) fn with_terms(&self) -> String {
        let mut text = self.with_exact();
        for term in self.excluded() {
            text.push_str(&format!(" -{term}"));
        }
        text
    }

    /// The words with the exact phrase as an operator.
    pub(crate) fn with_exact(&self) -> String {
        match self.phrase() {
            Some(phrase) => format!("{} \"{phrase}\"", self.text),
            None => self.text.clone(),
        }
    }

    /// The exact phrase, without quotation marks.
    pub(crate) fn phrase(&self) -> Option<String> {
        self.exact.as_deref().map(|exact| exact.replace('"', " ").trim().to_owned())
    }

    /// The words to exclude, without operators.
    pub(crate) fn excluded(&self) -> impl Iterator<Item = &str> {
        let terms = self.exclude.as_deref().unwrap_or_default().split([' ', ',', '"']);
        terms.map(|term| term.trim_start_matches('-')).filter(|term| !term.is_empty())
    }
}

#[cfg(test)]
mod tests;
