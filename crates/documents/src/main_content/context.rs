//! What the first ratings of the blocks around say about a block.

use super::features::{Features, LEVELS, OF_PAGE};

/// The numbers of blocks to both sides over which ratings are averaged.
const REACHES: [usize; 5] = [1, 2, 4, 8, 16];

/// The number of values per block: of its page, its own rating, averages over adjacent blocks and over the page, ratings of
/// adjacent blocks, averages over the elements around it and over blocks like it, and their number.
pub(super) const FEATURES: usize = OF_PAGE + 1 + REACHES.len() + 1 + 4 + LEVELS + 2;

/// Averages of ratings, weighted by words.
struct Averages {
    /// Totals of the words and of the rated words before each block.
    words: Vec<f64>,
    rated: Vec<f64>,
}

impl Averages {
    fn over(&self, first: usize, end: usize) -> f32 {
        let words = self.words[end] - self.words[first];
        ((self.rated[end] - self.rated[first]) / words.max(1.0)) as f32
    }
}

/// The values of each block.
pub(super) fn context(features: &Features, ratings: &[f32]) -> Vec<[f32; FEATURES]> {
    let count = ratings.len();
    let weight = |at: usize| f64::from(features.words[at].max(1.0));
    let mut averages = Averages { words: vec![0.0], rated: vec![0.0] };
    let (mut words, mut rated) = (0.0, 0.0);
    let groups = features.alike.iter().max().map_or(0, |most| most + 1);
    let mut alike = vec![(0.0, 0.0, 0.0_f32); groups];
    for (at, rating) in ratings.iter().enumerate() {
        let own = weight(at) * f64::from(*rating);
        words += weight(at);
        rated += own;
        averages.words.push(words);
        averages.rated.push(rated);
        let group = &mut alike[features.alike[at]];
        *group = (group.0 + weight(at), group.1 + own, group.2 + 1.0);
    }
    let mut contexts = Vec::with_capacity(count);
    let mut row = Vec::with_capacity(FEATURES);
    for (at, own) in features.rows.iter().enumerate() {
        row.clear();
        row.extend_from_slice(&own[own.len() - OF_PAGE..]);
        row.push(ratings[at]);
        for reach in REACHES {
            row.push(averages.over(at.saturating_sub(reach), (at + reach + 1).min(count)));
        }
        row.push(averages.over(0, count));
        for offset in [-2_isize, -1, 1, 2] {
            let other = at.checked_add_signed(offset).and_then(|other| ratings.get(other));
            row.push(other.copied().unwrap_or(-1.0));
        }
        for (first, end) in features.around[at] {
            row.push(averages.over(first, end));
        }
        let (words, rated, blocks) = alike[features.alike[at]];
        row.extend([(rated / words) as f32, blocks]);
        let mut context = [0.0; FEATURES];
        context.copy_from_slice(&row);
        contexts.push(context);
    }
    contexts
}
