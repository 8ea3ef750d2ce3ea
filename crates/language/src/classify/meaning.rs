//! Similarity of a text to labels in a static model.

use std::collections::HashSet;

use super::{Label, topics};
use crate::model::{StaticModel, normalized};
use crate::prose::Prose;

/// The weight of the parts of a label, each a unit vector. One name says less than one list of words.
const NAME: f32 = 1.0;
const DESCRIPTION: f32 = 2.0;
const EXAMPLE: f32 = 1.0;
const TOPIC: f32 = 4.0;

/// How fast the odds of a label rise with its similarity.
const SHARPNESS: f64 = 40.0;

/// How many different words of a text are compared with the labels one by one.
const COMPARED_WORDS: usize = 2_000;

/// A text and labels as vectors. A label without a known token has none.
pub(super) struct Meaning<'a> {
    model: &'a StaticModel,
    text: Vec<f32>,
    labels: Vec<Option<Vec<f32>>>,
}

impl<'a> Meaning<'a> {
    /// `None` if the model knows nothing of the text or of the labels.
    pub(super) fn of(model: &'a StaticModel, prose: &Prose<'_>, labels: &[Label]) -> Option<Self> {
        let mut sum = vec![0.0; model.dimensions()];
        for sentence in &prose.sentences {
            model.add(sentence.text, &mut sum);
        }
        let text = normalized(sum)?;
        let labels: Vec<_> = labels.iter().map(|label| vector(model, label)).collect();
        labels.iter().any(Option::is_some).then_some(Self { model, text, labels })
    }

    /// The odds of each label relative to the most similar one.
    pub(super) fn odds(&self) -> Vec<f64> {
        let similar = self.similarities(&self.text);
        let most = similar.iter().copied().fold(f64::MIN, f64::max);
        similar.iter().map(|similarity| (SHARPNESS * (similarity - most)).exp()).collect()
    }

    /// For each label the words that are nearer to it than to the other labels, nearest first.
    pub(super) fn evidence<'p>(&self, prose: &'p Prose<'_>, shown: usize) -> Vec<Vec<&'p str>> {
        let mut seen = HashSet::new();
        let mut near: Vec<Vec<(f64, &str)>> = vec![Vec::new(); self.labels.len()];
        let words = prose.content().filter(|term| seen.insert(term.folded.as_str()));
        for term in words.take(COMPARED_WORDS) {
            let Some(vector) = self.model.embed(term.text) else { continue };
            let similar = self.similarities(&vector);
            let mean = similar.iter().sum::<f64>() / similar.len() as f64;
            for (words, similarity) in near.iter_mut().zip(similar) {
                if similarity > mean && similarity > 0.0 {
                    words.push((similarity - mean, &term.folded));
                }
            }
        }
        near.into_iter()
            .map(|mut words| {
                words.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
                words.into_iter().take(shown).map(|(_, word)| word).collect()
            })
            .collect()
    }

    /// A label without a vector is as far away as the farthest.
    fn similarities(&self, vector: &[f32]) -> Vec<f64> {
        let similar: Vec<Option<f64>> = self
            .labels
            .iter()
            .map(|label| {
                let products = label.as_ref()?.iter().zip(vector).map(|(a, b)| f64::from(a * b));
                Some(products.sum())
            })
            .collect();
        let least = similar.iter().flatten().copied().fold(f64::MAX, f64::min);
        similar.into_iter().map(|similarity| similarity.unwrap_or(least)).collect()
    }
}

fn vector(model: &StaticModel, label: &Label) -> Option<Vec<f32>> {
    let mut sum = vec![0.0; model.dimensions()];
    let mut add = |text: &str, weight: f32| {
        for (sum, part) in sum.iter_mut().zip(model.embed(text).into_iter().flatten()) {
            *sum += weight * part;
        }
    };
    add(&label.name, NAME);
    add(&label.description, DESCRIPTION);
    for example in &label.examples {
        add(example, EXAMPLE);
    }
    let named = Prose::read(&label.name);
    let topics: Vec<&str> =
        named.content().flat_map(|term| topics::written(&term.stem).iter().copied()).collect();
    add(&topics.join(" "), TOPIC);
    normalized(sum)
}
