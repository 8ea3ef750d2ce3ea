use proto::Code;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{three, yes};
use super::scrape_page::{ContentType, SizeCategory, page_bytes};

/// Input of `search_and_scrape`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchAndScrape {
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 10))]
    pub num_results: u32,
    #[serde(default = "yes")]
    pub include_sources: bool,
    #[serde(default = "yes")]
    pub deduplicate: bool,
    #[serde(default = "page_bytes")]
    #[schemars(range(min = 1))]
    pub max_length_per_source: u64,
    #[serde(default = "combined_bytes")]
    #[schemars(range(min = 1))]
    pub total_max_length: u64,
    #[serde(default)]
    pub filter_by_query: bool,
    /// Where texts are.
    #[serde(default)]
    pub content: SourceContent,
}

/// Where the texts of sources are returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceContent {
    #[default]
    Both,
    Combined,
    Sources,
}

impl SearchAndScrape {
    /// A search with defaults.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            num_results: three(),
            include_sources: true,
            deduplicate: true,
            max_length_per_source: page_bytes(),
            total_max_length: combined_bytes(),
            filter_by_query: false,
            content: SourceContent::default(),
        }
    }
}

fn combined_bytes() -> u64 {
    300_000
}

/// Output of `search_and_scrape`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchAndScrapeOutput {
    /// The query as given.
    pub query: String,
    /// Best first.
    pub sources: Vec<ScrapedSource>,
    /// Id, title, URL and text of the sources, best first; empty with `content: sources`.
    pub combined_content: String,
    pub summary: Summary,
    pub size_metadata: SizeMetadata,
    /// What the caller should know about these sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A page that was found and read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScrapedSource {
    /// How `combinedContent` names it, such as `[1]`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Empty with `include_sources: false` or `content: combined`.
    pub content: String,
    pub content_type: ContentType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When it was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// In APA style.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<QualityScores>,
}

/// How good a source is, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QualityScores {
    pub overall: f64,
    pub relevance: f64,
    pub freshness: f64,
    pub authority: f64,
    pub content_quality: f64,
}

/// What happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub urls_searched: usize,
    pub urls_scraped: usize,
    pub processing_time_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<ScrapeFailure>,
    /// Sources that `filter_by_query` left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filtered: Vec<String>,
}

/// A page that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScrapeFailure {
    pub url: String,
    #[schemars(with = "String")]
    pub code: Code,
    pub message: String,
    /// When the site says to try again.
    #[serde(default, rename = "retryAfterMs", skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// How large the combined content is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SizeMetadata {
    /// Bytes of `combinedContent`.
    pub total_length: usize,
    pub estimated_tokens: usize,
    pub size_category: SizeCategory,
    pub truncated: bool,
}
