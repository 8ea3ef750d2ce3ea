//! The quality of a text: checks, what they found, and a score whose parts add up.

mod consistency;
mod layout;
mod links;
mod placeholders;
mod readability;
mod spelled;
mod text;

pub use readability::Readability;

use serde::{Deserialize, Serialize};

use crate::spelling::Dictionary;
use text::Text;

/// What is checked.
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
    fn weight(self) -> f64 {
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

/// The quality of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// From 0 to 100: the total of all contributions.
    pub score: f64,
    pub parts: Vec<Part>,
    pub issues: Vec<Issue>,
    pub readability: Readability,
}

/// The value of one check, what explains it, and what it found.
struct Outcome {
    value: f64,
    evidence: Vec<String>,
    issues: Vec<Issue>,
}

/// Checks a text. Spelling is checked if there is a dictionary for its language.
pub fn check(
    source: &str,
    language: Option<&str>,
    checks: &[Check],
    dictionary: Option<&Dictionary>,
) -> Quality {
    let text = Text::read(source);
    let readability = Readability::of(&text, language);
    let mut outcomes: Vec<(Check, Outcome)> = Vec::new();
    for check in checks {
        let outcome = match check {
            Check::Spelling => dictionary.map(|dictionary| spelled::check(&text, dictionary)),
            Check::Readability => Some(readability.check(&text)),
            Check::Structure => Some(layout::check(&text)),
            Check::Links => Some(links::check(&text)),
            Check::Placeholders => Some(placeholders::check(&text)),
            Check::Consistency => Some(consistency::check(&text)),
        };
        outcomes.extend(outcome.map(|outcome| (*check, outcome)));
    }
    combine(outcomes, readability)
}

fn combine(outcomes: Vec<(Check, Outcome)>, readability: Readability) -> Quality {
    let total: f64 = outcomes.iter().map(|(check, _)| check.weight()).sum();
    let mut quality = Quality { score: 0.0, parts: Vec::new(), issues: Vec::new(), readability };
    for (check, outcome) in outcomes {
        let weight = rounded(check.weight() / total, 4);
        let value = rounded(outcome.value.clamp(0.0, 1.0), 4);
        let contribution = rounded(100.0 * weight * value, 2);
        quality.score += contribution;
        quality.parts.push(Part { check, weight, value, contribution, evidence: outcome.evidence });
        quality.issues.extend(outcome.issues);
    }
    quality.score = rounded(quality.score, 2).clamp(0.0, 100.0);
    quality.issues.sort_by_key(|issue| (issue.start, issue.end, issue.check));
    quality
}

fn rounded(value: f64, digits: i32) -> f64 {
    let factor = 10f64.powi(digits);
    (value * factor).round() / factor
}

/// A value that falls by each finding, and faster in short texts.
fn penalised(issues: &[Issue], words: usize) -> f64 {
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

#[cfg(test)]
mod tests;
