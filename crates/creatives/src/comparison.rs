//! Variants of a creative, ranked by their signals.

use crate::features::{Feature, Features};
use crate::rounding::rounded;
use crate::score::{Scale, Score};

/// At most this many reasons are given for a variant.
const MOST_REASONS: usize = 4;

/// Differences below this many points are no reason.
const LEAST_POINTS: f64 = 0.5;

/// A variant in a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Counted from 0, as the variants were given.
    pub index: usize,
    pub share: f64,
    pub click: f64,
    /// Where it differs most from the mean of all variants.
    pub why: Vec<String>,
}

/// Ranks variants by the mean of both signals; of equal ones the first given is first.
pub fn rank(variants: &[Features]) -> Vec<Ranked> {
    let scores: Vec<[Score; 2]> = variants
        .iter()
        .map(|features| [Scale::Share, Scale::Click].map(|scale| Score::of(scale, features)))
        .collect();
    let mut ranking: Vec<Ranked> = scores
        .iter()
        .enumerate()
        .map(|(index, [share, click])| Ranked {
            index,
            share: share.score,
            click: click.score,
            why: reasons(&scores, index),
        })
        .collect();
    let total = |ranked: &Ranked| ranked.share + ranked.click;
    ranking.sort_by(|one, other| total(other).total_cmp(&total(one)));
    ranking
}

/// What a feature adds to one of the signals.
fn points(score: &Score, feature: Feature) -> f64 {
    let part = score.parts.iter().find(|part| part.feature == feature);
    part.map_or(0.0, |part| part.contribution)
}

fn reasons(scores: &[[Score; 2]], index: usize) -> Vec<String> {
    let mut differences: Vec<(f64, Feature, [f64; 2])> = Feature::ALL
        .into_iter()
        .map(|feature| {
            let differ = [0, 1].map(|signal| {
                let all = scores.iter().map(|score| points(&score[signal], feature));
                points(&scores[index][signal], feature) - all.sum::<f64>() / scores.len() as f64
            });
            (differ.iter().sum(), feature, differ)
        })
        .filter(|(total, ..): &(f64, _, _)| total.abs() >= LEAST_POINTS)
        .collect();
    differences.sort_by(|one, other| other.0.abs().total_cmp(&one.0.abs()));
    differences.truncate(MOST_REASONS);
    let evidence = |feature: Feature| {
        let parts = scores[index].iter().flat_map(|score| &score.parts);
        parts.into_iter().find(|part| part.feature == feature).map(|part| part.evidence.as_str())
    };
    differences
        .into_iter()
        .map(|(_, feature, [share, click])| {
            let said = evidence(feature).unwrap_or("not known");
            format!(
                "{}: {said} (share {:+}, click {:+} against the mean)",
                feature.name(),
                rounded(share, 1),
                rounded(click, 1)
            )
        })
        .collect()
}
