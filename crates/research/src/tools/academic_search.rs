use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{SortBy, five};

/// Input of `academic_search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcademicSearch {
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 10))]
    pub num_results: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1900, max = 2030))]
    pub year_from: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1900, max = 2030))]
    pub year_to: Option<u16>,
    /// Where to search.
    #[serde(default)]
    pub source: AcademicSource,
    #[serde(default)]
    pub pdf_only: bool,
    /// Best first, or newest first.
    #[serde(default)]
    pub sort_by: SortBy,
}

impl AcademicSearch {
    /// A search with defaults.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            num_results: five(),
            year_from: None,
            year_to: None,
            source: AcademicSource::default(),
            pdf_only: false,
            sort_by: SortBy::default(),
        }
    }
}

/// Where to search for publications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AcademicSource {
    #[default]
    All,
    Arxiv,
    Pubmed,
    Ieee,
    Nature,
    Springer,
}

/// Output of `academic_search`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcademicSearchOutput {
    #[serde(rename = "papers")]
    pub publications: Vec<Publication>,
    /// The query as given.
    pub query: String,
    /// How many publications match, by the source that counts the most.
    pub total_results: u64,
    pub result_count: usize,
    /// The source as asked for.
    pub source: AcademicSource,
    /// What the caller should know about these publications.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A publication that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Publication {
    pub title: String,
    pub url: String,
    /// Where it was found, such as `arxiv` or `nature.com`.
    pub source: String,
    /// Empty where the source has none.
    #[serde(rename = "abstract")]
    pub summary: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pdf_url: Option<String>,
}
