//! What an audit returns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a text cites.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// The style that the text uses.
    #[default]
    Auto,
    Apa,
    Mla,
    Numeric,
}

/// The result of an audit. Offsets and lengths count Unicode code points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    pub style: Style,
    pub references: Vec<AuditedReference>,
    pub citations: Vec<Citation>,
    pub findings: Vec<Finding>,
    /// Whether no finding is an error.
    pub ok: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// An entry of the list of references.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditedReference {
    /// Its number in the list, from 1.
    pub index: usize,
    pub raw: String,
    pub parsed: Parsed,
    pub status: Status,
}

/// The parts of a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Parsed {
    /// `Doe, J.` for people, plain names for organisations.
    pub authors: Vec<String>,
    /// Such as `2020`, `2020a`, `n.d.` or `in press`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The journal, book, site or publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Valid,
    Malformed,
    Duplicate,
    Unused,
    Dead,
}

/// A place in the text that cites a reference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// As written, such as `[1]` or `(Doe, 2020)`.
    pub marker: String,
    pub offset: usize,
    pub length: usize,
    /// The index of its reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support: Option<Support>,
}

/// How far a source says what the citing sentence says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Support {
    /// From 0 to 1.
    pub score: f64,
    /// The id of the source.
    pub source: String,
    /// The words of the source that come closest, verbatim.
    pub quote: String,
}

/// Something to correct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub kind: FindingKind,
    pub severity: Severity,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// The index of the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<usize>,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    MissingReference,
    MalformedReference,
    DuplicateReference,
    UnusedReference,
    DeadLink,
    MissingCitation,
    UnsupportedClaim,
}

impl FindingKind {
    pub fn severity(self) -> Severity {
        match self {
            Self::MissingReference
            | Self::MalformedReference
            | Self::DeadLink
            | Self::UnsupportedClaim => Severity::Error,
            Self::DuplicateReference | Self::UnusedReference | Self::MissingCitation => {
                Severity::Warning
            }
        }
    }
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Error,
    Warning,
}

/// The text of a source that references may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceText {
    /// The number or label of a reference, or its DOI, URL, title or key such as `doe2020`.
    pub id: String,
    pub url: Option<String>,
    pub text: String,
}
