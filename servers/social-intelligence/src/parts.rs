//! Scores in answers.

use creatives::score::Score;
use schemars::JsonSchema;
use serde::Serialize;

/// A part of a score.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Part {
    /// The feature.
    name: &'static str,
    /// Its share of the score among the features that are known.
    weight: f64,
    /// From 0 to 1.
    value: f64,
    /// 100 · weight · value.
    contribution: f64,
    evidence: Vec<String>,
}

/// A score and what it is made of.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScoreParts {
    /// From 0 to 100: the total of the contributions of all parts.
    pub(crate) score: f64,
    pub(crate) parts: Vec<Part>,
}

impl From<Score> for ScoreParts {
    fn from(score: Score) -> Self {
        let parts = score.parts.into_iter().map(|part| Part {
            name: part.feature.name(),
            weight: part.weight,
            value: part.value,
            contribution: part.contribution,
            evidence: vec![part.evidence],
        });
        Self { score: score.score, parts: parts.collect() }
    }
}
