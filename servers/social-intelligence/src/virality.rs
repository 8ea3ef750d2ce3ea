//! `score_virality`: what makes people share and click.

use std::collections::BTreeMap;

use creatives::features::{Feature, Features};
use creatives::score::{Scale, Score, WEIGHTS_VERSION};
use creatives::suggestions::{self, suggest};
use kit::{Ctx, Fault};
use schemars::JsonSchema;
use serde::Serialize;

use crate::creative::{Creative, Input};
use crate::parts::ScoreParts;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// How likely people are to share it.
    share_signal: ScoreParts,
    /// How likely people are to click it.
    click_signal: ScoreParts,
    /// Always false: the weights are chosen, not learned from results.
    calibrated: bool,
    /// The values of all features from 0 to 1; null where unknown, such as those of a picture without one.
    features: BTreeMap<&'static str, Option<f64>>,
    weights_version: &'static str,
    /// The changes that would raise the signals most.
    suggestions: Vec<Suggestion>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Suggestion {
    feature: &'static str,
    message: String,
    /// The points that the full value of the feature would add to `share_signal`.
    share_gain: f64,
    /// The points that the full value of the feature would add to `click_signal`.
    click_gain: f64,
}

impl From<suggestions::Suggestion> for Suggestion {
    fn from(suggestion: suggestions::Suggestion) -> Self {
        let suggestions::Suggestion { feature, message, share_gain, click_gain } = suggestion;
        Self { feature: feature.name(), message, share_gain, click_gain }
    }
}

pub(crate) async fn score(input: Input, ctx: Ctx) -> Result<Output, Fault> {
    let creative = Creative::read(input, &ctx).await?;
    let picture = creative.picture.as_ref().map(|measured| &measured.report);
    // The share of text counts for no signal, so the answer does not depend on tesseract.
    let features = Features::of(creative.text_report(), picture, None, creative.platform);
    let signals = Feature::ALL.into_iter().filter(|feature| {
        Scale::Share.weight(*feature) > 0.0 || Scale::Click.weight(*feature) > 0.0
    });
    let value = |feature: Feature| features.get(feature).map(|measured| measured.value);
    Ok(Output {
        share_signal: Score::of(Scale::Share, &features).into(),
        click_signal: Score::of(Scale::Click, &features).into(),
        calibrated: false,
        features: signals.map(|feature| (feature.name(), value(feature))).collect(),
        weights_version: WEIGHTS_VERSION,
        suggestions: suggest(&features, creative.platform)
            .into_iter()
            .map(Suggestion::from)
            .collect(),
        warnings: creative.warnings,
    })
}
