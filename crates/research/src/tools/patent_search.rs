use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::five;

/// Input of `patent_search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatentSearch {
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 10))]
    pub num_results: u32,
    /// `prior_art`: the words; `specific`: the exact phrase or number; `landscape`: words or CPC code, newest first, one
    /// patent per family.
    #[serde(default)]
    pub search_type: PatentSearchType,
    /// Only patents of this office.
    #[serde(default)]
    pub patent_office: PatentOffice,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub assignee: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub inventor: Option<String>,
    /// Such as `G06F`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 30))]
    pub cpc_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1900, max = 2030))]
    pub year_from: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1900, max = 2030))]
    pub year_to: Option<u16>,
}

impl PatentSearch {
    /// A search with defaults.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            num_results: five(),
            search_type: PatentSearchType::default(),
            patent_office: PatentOffice::default(),
            assignee: None,
            inventor: None,
            cpc_code: None,
            year_from: None,
            year_to: None,
        }
    }
}

/// What a patent search is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PatentSearchType {
    #[default]
    PriorArt,
    Specific,
    Landscape,
}

/// A patent office.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum PatentOffice {
    #[default]
    #[serde(rename = "all")]
    All,
    Us,
    Ep,
    Wo,
    Jp,
    Cn,
    Kr,
}

/// Output of `patent_search`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatentSearchOutput {
    pub patents: Vec<Patent>,
    /// The query as given.
    pub query: String,
    pub search_type: PatentSearchType,
    pub result_count: usize,
    /// What the caller should know about these patents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A patent that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Patent {
    pub title: String,
    /// The publication number, such as `US10000000B2`.
    pub number: String,
    pub url: String,
    #[serde(default, rename = "abstract", skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inventor: Option<String>,
    /// The date of filing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filed: Option<String>,
    /// The date of grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted: Option<String>,
}
