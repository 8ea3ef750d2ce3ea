//! Normalised discounted cumulative gain.

/// The cut-off rank.
pub(super) const DEPTH: usize = 10;

/// The gain of the grades of a ranking, discounted by rank, as a share of the best ranking of all judged grades. A query
/// for which nothing is relevant has nothing to miss.
pub(super) fn ndcg(
    ranked: impl IntoIterator<Item = u8>,
    judged: impl IntoIterator<Item = u8>,
) -> f64 {
    let mut ideal: Vec<u8> = judged.into_iter().collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let best = gain(ideal);
    if best > 0.0 { gain(ranked) / best } else { 1.0 }
}

/// A grade of 1 gains 1, of 2 gains 3, of 3 gains 7.
fn gain(grades: impl IntoIterator<Item = u8>) -> f64 {
    let gain =
        |(rank, grade): (usize, u8)| (f64::from(grade).exp2() - 1.0) / (rank as f64 + 2.0).log2();
    grades.into_iter().take(DEPTH).enumerate().map(gain).sum()
}

/// Two digits.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::ndcg;

    #[test]
    fn the_best_ranking_has_1() {
        assert_eq!(ndcg([3, 1, 0], [0, 1, 3]), 1.0);
        assert_eq!(ndcg([0, 0], []), 1.0);
        assert_eq!(ndcg([0, 0], [2]), 0.0);
    }

    #[test]
    fn grades_gain_more_than_in_proportion_and_less_below() {
        let expected = (1.0 + 7.0 / 3f64.log2()) / (7.0 + 1.0 / 3f64.log2());
        assert!((ndcg([1, 3], [3, 1]) - expected).abs() < 1e-12);
    }

    #[test]
    fn ranks_beyond_the_tenth_do_not_count() {
        let late = [0; 10].into_iter().chain([3]);
        assert_eq!(ndcg(late, [3]), 0.0);
    }
}
