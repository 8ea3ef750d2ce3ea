//! Brings the scores of different measures to one scale.

/// Scores of every tool for a whole request and for its clauses.
pub(super) struct Scores {
    pub(super) whole: Vec<f32>,
    pub(super) clauses: Vec<Vec<f32>>,
}

impl Scores {
    pub(super) fn zero(tools: usize, clauses: usize) -> Self {
        Self { whole: vec![0.0; tools], clauses: vec![vec![0.0; tools]; clauses] }
    }
}

/// The scores of the visible tools, as a share of the best of them.
pub(super) fn share_of_best(scores: Vec<f32>, seen: &[usize]) -> Vec<f32> {
    let best = best(&scores, seen);
    seen.iter().map(|&tool| if best > 0.0 { scores[tool] / best } else { 0.0 }).collect()
}

/// Whole request and best clause in equal parts, as a share of the best tool seen.
///
/// A clause is scaled by its own best tool, so that a short clause counts as much as a long one; the root keeps a clause
/// that fits no tool well ("thank you for the help") from raising a tool by chance.
pub(super) fn clauses(scores: Scores, seen: &[usize]) -> Vec<f32> {
    let whole = share_of_best(scores.whole, seen);
    let strongest = scores.clauses.iter().map(|clause| best(clause, seen)).fold(0.0, f32::max);
    if strongest <= 0.0 {
        return whole;
    }
    let mut top = vec![0.0f32; seen.len()];
    for clause in scores.clauses {
        let standing = (best(&clause, seen) / strongest).sqrt();
        for (top, share) in top.iter_mut().zip(share_of_best(clause, seen)) {
            *top = top.max(standing * share);
        }
    }
    let sum: Vec<f32> = whole.iter().zip(&top).map(|(whole, top)| whole + top).collect();
    let best = sum.iter().copied().fold(0.0, f32::max);
    sum.into_iter().map(|sum| if best > 0.0 { sum / best } else { 0.0 }).collect()
}

/// How far each score is above the median, as a share of the farthest.
pub(super) fn above_median(scores: Vec<f32>) -> Vec<f32> {
    let mut sorted = scores.clone();
    let middle = sorted.len() / 2;
    if sorted.is_empty() {
        return scores;
    }
    let median = *sorted.select_nth_unstable_by(middle, f32::total_cmp).1;
    let reach = scores.iter().copied().fold(f32::MIN, f32::max) - median;
    scores
        .into_iter()
        .map(|score| if reach > 0.0 { ((score - median) / reach).max(0.0) } else { 0.0 })
        .collect()
}

fn best(scores: &[f32], seen: &[usize]) -> f32 {
    seen.iter().map(|&tool| scores[tool]).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests;
