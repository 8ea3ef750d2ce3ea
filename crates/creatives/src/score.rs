//! Scores by published weights.

use crate::features::{Feature, Features};
use crate::rounding::rounded;

/// Changes with each change of a weight or of what a feature counts.
pub const WEIGHTS_VERSION: &str = "2026-11";

/// The aspects of a creative that are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// How well a creative is made.
    Craft,
    /// What makes people share.
    Share,
    /// What makes people click.
    Click,
}

/// A score, and what it is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// From 0 to 100: the total of all contributions.
    pub score: f64,
    pub parts: Vec<Part>,
}

/// What a feature adds to a score.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub feature: Feature,
    /// Its share of the score among the features that are known.
    pub weight: f64,
    /// From 0 to 1.
    pub value: f64,
    /// 100 · weight · value.
    pub contribution: f64,
    pub evidence: String,
}

impl Scale {
    pub const ALL: [Self; 3] = [Self::Craft, Self::Share, Self::Click];

    /// The published weight of a feature; 0 if it is not part of the score.
    pub fn weight(self, feature: Feature) -> f64 {
        let [craft, share, click] = weights(feature);
        match self {
            Self::Craft => craft,
            Self::Share => share,
            Self::Click => click,
        }
    }
}

/// For [`Scale::Craft`], [`Scale::Share`] and [`Scale::Click`]; each column adds up to 1.
fn weights(feature: Feature) -> [f64; 3] {
    match feature {
        Feature::Hook => [0.16, 0.10, 0.13],
        Feature::Visible => [0.06, 0.0, 0.08],
        Feature::CallToAction => [0.14, 0.0, 0.18],
        Feature::ReadingEase => [0.10, 0.09, 0.06],
        Feature::Length => [0.09, 0.07, 0.05],
        Feature::Hashtags => [0.07, 0.04, 0.0],
        Feature::Emotion => [0.05, 0.14, 0.0],
        Feature::Arousal => [0.0, 0.11, 0.0],
        Feature::Positivity => [0.0, 0.04, 0.0],
        Feature::Practical => [0.0, 0.09, 0.0],
        Feature::Question => [0.0, 0.05, 0.04],
        Feature::Number => [0.0, 0.05, 0.05],
        Feature::Offer => [0.0, 0.0, 0.07],
        Feature::Urgency => [0.0, 0.0, 0.05],
        Feature::Link => [0.0, 0.0, 0.09],
        Feature::Style => [0.08, 0.06, 0.05],
        Feature::ImageFit => [0.08, 0.06, 0.06],
        Feature::ImageSize => [0.04, 0.0, 0.0],
        Feature::ImageContrast => [0.05, 0.06, 0.05],
        Feature::ImageSharpness => [0.05, 0.04, 0.04],
        Feature::ImageText => [0.03, 0.0, 0.0],
    }
}

impl Score {
    /// Features that are not known are left out, and the weights of the others are scaled up.
    pub fn of(scale: Scale, features: &Features) -> Self {
        let known: Vec<_> = Feature::ALL
            .into_iter()
            .filter(|feature| scale.weight(*feature) > 0.0)
            .filter_map(|feature| Some((feature, features.get(feature)?)))
            .collect();
        let total: f64 = known.iter().map(|(feature, _)| scale.weight(*feature)).sum();
        let parts: Vec<Part> = known
            .into_iter()
            .map(|(feature, measured)| {
                let weight = scale.weight(feature) / total;
                Part {
                    feature,
                    weight: rounded(weight, 4),
                    value: measured.value,
                    contribution: rounded(100.0 * weight * measured.value, 2),
                    evidence: measured.evidence.clone(),
                }
            })
            .collect();
        let score = rounded(parts.iter().map(|part| part.contribution).sum(), 2).clamp(0.0, 100.0);
        Self { score, parts }
    }
}

/// The published table of features, as Markdown.
pub fn table() -> String {
    let mut rows =
        String::from("| feature | creative | share | click | value |\n|---|---|---|---|---|\n");
    let shown = |weight: f64| match weight {
        0.0 => "–".to_owned(),
        weight => format!("{weight:.2}").trim_start_matches('0').to_owned(),
    };
    for feature in Feature::ALL {
        let [craft, share, click] = weights(feature).map(shown);
        rows += &format!(
            "| `{}` | {craft} | {share} | {click} | {} |\n",
            feature.name(),
            feature.meaning()
        );
    }
    rows
}

#[cfg(test)]
mod tests;
