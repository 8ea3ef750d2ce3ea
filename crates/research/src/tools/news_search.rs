use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{SortBy, five};

/// Input of `news_search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewsSearch {
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 10))]
    pub num_results: u32,
    /// How old an article may be.
    #[serde(default)]
    pub freshness: Freshness,
    /// Best first, or newest first.
    #[serde(default)]
    pub sort_by: SortBy,
    /// Only this domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub news_source: Option<String>,
}

impl NewsSearch {
    /// A search with defaults.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            num_results: five(),
            freshness: Freshness::default(),
            sort_by: SortBy::default(),
            news_source: None,
        }
    }
}

/// How old an article may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Freshness {
    Hour,
    Day,
    #[default]
    Week,
    Month,
    Year,
}

/// Output of `news_search`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewsSearchOutput {
    pub articles: Vec<Article>,
    /// The query as given.
    pub query: String,
    pub result_count: usize,
    /// What the caller should know about these articles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A news article that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Article {
    pub title: String,
    pub url: String,
    /// The publisher's name, or the host.
    pub source: String,
    /// RFC 3339, where the provider gives a time; otherwise as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
    pub snippet: String,
}
