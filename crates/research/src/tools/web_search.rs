use schemars::JsonSchema;
use search::providers::Safe;
use serde::{Deserialize, Serialize};

use super::common::five;

/// Input of `web_search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSearch {
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 10))]
    pub num_results: u32,
    /// Only results of the last day, week, month or year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_range: Option<TimeRange>,
    /// How much adult content to filter out.
    #[serde(default)]
    pub safe: Safe,
    /// Such as `en`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[A-Za-z]{2}$"))]
    pub language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub site: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub exact_terms: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub exclude_terms: Option<String>,
    /// Such as `DE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[A-Za-z]{2}$"))]
    pub country: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub lens: Option<String>,
}

impl WebSearch {
    /// A search with defaults.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            num_results: five(),
            time_range: None,
            safe: Safe::default(),
            language: None,
            site: None,
            exact_terms: None,
            exclude_terms: None,
            country: None,
            lens: None,
        }
    }
}

/// How old a result may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimeRange {
    Day,
    Week,
    Month,
    Year,
}

/// Output of `web_search`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebSearchOutput {
    /// The URLs of the results, best first, each once.
    pub urls: Vec<String>,
    /// The query as given.
    pub query: String,
    pub result_count: usize,
    pub results: Vec<SearchResult>,
    /// What the caller should know about these results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A page that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    pub title: String,
    pub url: String,
    pub snippet: String,
    /// The host, as people read it.
    pub display_link: String,
}
