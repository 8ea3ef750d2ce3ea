//! Sources and the chunks of their text. Where schemas do not describe an input, every client would pay for that.

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
    /// The site or publisher.
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

/// A source as another step names it: a source, or a chunk that a search found, whose `source` and `meta` tell the rest. What
/// only chunks have is not in the schema.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(description = "")]
pub struct FoundSource {
    pub id: Option<String>,
    pub url: Option<String>,
    #[serde(rename = "file_id")]
    pub file_id: Option<String>,
    pub title: Option<String>,
    pub author: Option<String>,
    pub site: Option<String>,
    pub published_at: Option<String>,
    /// Where the text of a chunk comes from.
    #[schemars(skip)]
    pub source: Option<String>,
    /// What a collection knows of a chunk's source.
    #[schemars(skip)]
    pub meta: Option<Meta>,
    /// Its text, or a part of it.
    #[schemars(skip)]
    pub text: Option<String>,
    /// Its place after and before re-ranking.
    #[schemars(skip)]
    pub rank: Option<u32>,
    #[serde(rename = "previous_rank")]
    #[schemars(skip)]
    pub previous_rank: Option<u32>,
    #[schemars(skip)]
    pub score: Option<f64>,
    #[schemars(skip)]
    pub parts: Option<ScoreParts>,
}

/// What a collection knows of a chunk's source; other fields are passed over.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    pub title: Option<String>,
    pub author: Option<String>,
    pub site: Option<String>,
    pub published_at: Option<String>,
}

/// The scores of `rerank.results`; a search gives others, which count for nothing here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScoreParts {
    pub relevance: Option<f64>,
    pub freshness: Option<f64>,
    pub authority: Option<f64>,
    pub content_quality: Option<f64>,
}

impl FoundSource {
    /// The source itself; its id is that by which chunks name it.
    pub fn source(&self) -> Source {
        let meta = self.meta.clone().unwrap_or_default();
        let named = self.source.as_deref().or(self.url.as_deref());
        let is_web = |name: &&str| name.starts_with("https://") || name.starts_with("http://");
        Source {
            id: self
                .source
                .clone()
                .or_else(|| self.id.clone())
                .or_else(|| self.url.clone())
                .unwrap_or_default(),
            url: self.url.clone().or_else(|| named.filter(is_web).map(str::to_owned)),
            file_id: self.file_id.clone(),
            title: self.title.clone().or(meta.title),
            author: self.author.clone().or(meta.author),
            site: self.site.clone().or(meta.site),
            published_at: self.published_at.clone().or(meta.published_at),
        }
    }

    /// How good it is, as far as an earlier step has said so.
    pub fn scores(&self) -> Scores {
        let parts = self.parts.unwrap_or_default();
        Scores {
            overall: self.score.unwrap_or_default(),
            relevance: parts.relevance.unwrap_or_default(),
            freshness: parts.freshness.unwrap_or_default(),
            authority: parts.authority.unwrap_or_default(),
            content_quality: parts.content_quality.unwrap_or_default(),
        }
    }

    /// Places won (positive) or lost by re-ranking.
    pub fn moved(&self) -> i64 {
        match (self.previous_rank, self.rank) {
            (Some(before), Some(now)) => i64::from(before) - i64::from(now),
            _ => 0,
        }
    }
}

/// A source as a report lists it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedSource {
    #[serde(flatten)]
    pub source: Source,
    pub scores: Scores,
    /// Other registrable domains that support a claim of it.
    pub corroborated: usize,
    /// Places won (positive) or lost by re-ranking.
    pub moved: i64,
    /// Whether the report cites it.
    pub used: bool,
    /// The number of its entry in the bibliography, if the report cites it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation: Option<usize>,
}
