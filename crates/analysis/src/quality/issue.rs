//! Checks, what they find, and what a check is worth.

use serde::{Deserialize, Serialize};

/// A check of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    Spelling,
    Readability,
    Structure,
    Links,
    Placeholders,
    Consistency,
}

impl Check {
    /// All checks.
    pub const ALL: [Self; 6] = [
        Self::Spelling,
        Self::Readability,
        Self::Structure,
        Self::Links,
        Self::Placeholders,
        Self::Consistency,
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spelling => "spelling",
            Self::Readability => "readability",
            Self::Structure => "structure",
            Self::Links => "links",
            Self::Placeholders => "placeholders",
            Self::Consistency => "consistency",
        }
    }

    /// Its share of the score if all checks are made.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::Spelling => 0.3,
            Self::Readability => 0.25,
            Self::Structure => 0.15,
            Self::Placeholders => 0.15,
            Self::Consistency => 0.1,
            Self::Links => 0.05,
        }
    }
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Info,
    Warning,
    Error,
}

/// Something to improve at a place of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Issue {
    pub check: Check,
    pub severity: Severity,
    pub message: String,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    pub suggestions: Vec<String>,
}

/// A part of the score.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub check: Check,
    /// The share of the score that the part can reach; all weights add up to 1.
    pub weight: f64,
    /// From 0 to 1.
    pub value: f64,
    /// What the part adds to the score: 100 · weight · value.
    pub contribution: f64,
    pub evidence: Vec<String>,
}

/// The value of one check, what explains it, and what it found.
pub(super) struct Outcome {
    pub(super) value: f64,
    pub(super) evidence: Vec<String>,
    pub(super) issues: Vec<Issue>,
}

pub(super) fn rounded(value: f64, digits: i32) -> f64 {
    let factor = 10f64.powi(digits);
    (value * factor).round() / factor
}

/// A value that falls by each finding, and faster in short texts.
pub(super) fn penalised(issues: &[Issue], words: usize) -> f64 {
    let points: f64 = issues
        .iter()
        .map(|issue| match issue.severity {
            Severity::Error => 3.0,
            Severity::Warning => 1.0,
            Severity::Info => 0.2,
        })
        .sum();
    let pages = (words as f64 / 300.0).max(1.0);
    1.0 / (1.0 + points / (4.0 * pages))
}
