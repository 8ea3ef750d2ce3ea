//! The conditional random field: weights by feature, and the best labels of a sentence.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::hasher::Shipped;

const WEIGHTS: &[u8] = include_bytes!("../../data/skills/weights.bin");

/// The number of labels.
pub const LABELS: usize = 5;

/// A weight of 1 is stored as this number.
pub const SCALE: f32 = 24.0;

/// Added to the score of the label "no skill". Negative, because the weights are learned for likelihood, which prefers to
/// miss a skill.
const OUTSIDE_BIAS: f32 = -0.7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    Outside,
    BeginSkill,
    InSkill,
    BeginKnowledge,
    InKnowledge,
}

impl Label {
    pub const ALL: [Self; LABELS] =
        [Self::Outside, Self::BeginSkill, Self::InSkill, Self::BeginKnowledge, Self::InKnowledge];
}

/// Weights of labels, by feature and by the label before.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub features: HashMap<u32, [f32; LABELS], Shipped>,
    pub transitions: [[f32; LABELS]; LABELS],
}

static SHIPPED: LazyLock<Model> = LazyLock::new(|| Model::read(WEIGHTS));

impl Model {
    /// The weights that are shipped.
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// Reads weights: the transitions, then a hash and its weights for each feature, in single bytes.
    pub fn read(bytes: &[u8]) -> Self {
        let mut model = Self::default();
        let weight = |byte: &u8| f32::from(*byte as i8) / SCALE;
        let (transitions, features) = bytes.split_at_checked(LABELS * LABELS).unwrap_or((&[], &[]));
        for (row, bytes) in model.transitions.iter_mut().zip(transitions.chunks_exact(LABELS)) {
            *row = std::array::from_fn(|index| weight(&bytes[index]));
        }
        for entry in features.chunks_exact(4 + LABELS) {
            let (hash, weights) = entry.split_at(4);
            let hash = hash.iter().fold(0, |hash, byte| (hash << 8) | u32::from(*byte));
            model.features.insert(hash, std::array::from_fn(|index| weight(&weights[index])));
        }
        model
    }

    /// Writes weights as [`Model::read`] reads them.
    pub fn write(&self) -> Vec<u8> {
        let byte = |weight: &f32| (weight * SCALE).round().clamp(-127.0, 127.0) as i8 as u8;
        let mut bytes: Vec<u8> = self.transitions.as_flattened().iter().map(byte).collect();
        let mut features: Vec<_> = self.features.iter().collect();
        features.sort_by_key(|(hash, _)| **hash);
        for (hash, weights) in features {
            let stored = weights.map(|weight| byte(&weight));
            if stored.iter().any(|weight| *weight != 0) {
                bytes.extend(hash.to_be_bytes());
                bytes.extend(stored);
            }
        }
        bytes
    }

    /// What the features of a word say for each label.
    pub fn emission(&self, features: &[u32]) -> [f32; LABELS] {
        let mut sum = [0.0; LABELS];
        for weights in features.iter().filter_map(|feature| self.features.get(feature)) {
            for (sum, weight) in sum.iter_mut().zip(weights) {
                *sum += weight;
            }
        }
        sum
    }

    /// The best labels of a sentence. `breaks` says where a comma is before a word: what one knows ends there.
    pub fn label(&self, features: &[Vec<u32>], breaks: &[bool]) -> Vec<Label> {
        let mut scores = [f32::NEG_INFINITY; LABELS];
        let mut steps: Vec<[usize; LABELS]> = Vec::with_capacity(features.len());
        for (at, features) in features.iter().enumerate() {
            let mut emission = self.emission(features);
            emission[Label::Outside as usize] += OUTSIDE_BIAS;
            let broken = breaks.get(at).copied().unwrap_or(false);
            let (next, step) = self.step(&scores, at == 0, broken);
            scores = std::array::from_fn(|label| next[label] + emission[label]);
            steps.push(step);
        }
        follow(&scores, &steps)
    }

    /// The best score of each label before its own word counts, and the label that it comes from.
    fn step(
        &self,
        scores: &[f32; LABELS],
        first: bool,
        broken: bool,
    ) -> ([f32; LABELS], [usize; LABELS]) {
        let mut next = [f32::NEG_INFINITY; LABELS];
        let mut step = [0; LABELS];
        for (label, best) in next.iter_mut().enumerate() {
            let inside = matches!(Label::ALL[label], Label::InSkill | Label::InKnowledge);
            if first {
                *best = if inside { f32::NEG_INFINITY } else { 0.0 };
                continue;
            }
            if broken && Label::ALL[label] == Label::InKnowledge {
                continue;
            }
            for (before, score) in scores.iter().enumerate() {
                let own = inside && (before == label || before + 1 == label);
                let score = score + self.transitions[before][label];
                if (own || !inside) && score > *best {
                    *best = score;
                    step[label] = before;
                }
            }
        }
        (next, step)
    }
}

/// Follows the best path back from the last word.
fn follow(scores: &[f32; LABELS], steps: &[[usize; LABELS]]) -> Vec<Label> {
    let best = (0..LABELS).max_by(|left, right| scores[*left].total_cmp(&scores[*right]));
    let mut label = best.unwrap_or(0);
    let mut labels = Vec::with_capacity(steps.len());
    for step in steps.iter().rev() {
        labels.push(Label::ALL[label]);
        label = step[label];
    }
    labels.reverse();
    labels
}
