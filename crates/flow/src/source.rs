//! Sources and the chunks of their text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page or file that was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, rename = "file_id", skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Who published it: a site or publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// A date such as `2024-05-03`, `2024-05` or `2024`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
}

/// How good a source is, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Scores {
    pub overall: f64,
    pub relevance: f64,
    pub freshness: f64,
    pub authority: f64,
    pub content_quality: f64,
}

/// A part of a source's text, as a collection returns it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chunk {
    pub id: String,
    pub text: String,
    /// The id, URL or file of its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How well it fits the query, where it was found by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}
