//! The input of a report, and the finished report.

use markup::Document;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outline::Outline;
use crate::source::Source;
use notes::Note;

/// How sources are cited.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    #[default]
    Numeric,
    Apa,
    Mla,
}

/// Whether the sentences are extracted from sources or written by a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    #[default]
    Extractive,
    Model,
}

/// The input of a report: outline, notes and options.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub outline: &'a Outline,
    pub notes: &'a [Note],
    pub sources: &'a [Source],
    pub style: Style,
    /// When the sources were read, such as `2026-11-16`.
    pub accessed: Option<&'a str>,
}

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    pub document: Document,
    pub bibliography: Vec<BibliographyEntry>,
    pub claims: ClaimCounts,
    /// How each source was used, in the order of the input.
    pub sources: Vec<SourceUse>,
    /// The sources of the bibliography, in its order, as places in the input.
    #[serde(skip)]
    pub cited: Vec<usize>,
    pub method: Method,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A line of the bibliography.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BibliographyEntry {
    /// Counted from 1.
    pub index: usize,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    /// When the source was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accessed: Option<String>,
}

/// How many claims there were, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimCounts {
    pub total: usize,
    /// Written in the report.
    pub supported: usize,
    /// Left out because their quotes do not support them.
    pub dropped: usize,
}

/// What a source contributed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceUse {
    pub id: String,
    /// Whether the report cites it.
    pub used: bool,
    /// Other registrable domains that support a claim of it.
    pub corroborated: usize,
}
