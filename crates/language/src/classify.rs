//! Classifies a text by a caller's labels: by the words of the labels, their descriptions and examples, and a table of
//! common topics; with a static model also by meaning. Every part of the verdict can be traced to words of the text.

mod meaning;
mod topics;

use std::collections::{HashMap, HashSet};

use crate::model::StaticModel;
use crate::prose::Prose;
use crate::words::{self, related_stems};
use meaning::Meaning;

/// The weight of a word for a label, by its origin: name, description, example, or a related word.
const NAME: f64 = 3.0;
const DESCRIPTION: f64 = 1.5;
const EXAMPLE: f64 = 1.0;
const TOPIC: f64 = 0.8;
const RELATED: f64 = 0.4;

/// Probability mass spread over all labels, so that little evidence gives no certainty.
const DOUBT: f64 = 0.6;

/// The most words of evidence that are returned.
const SHOWN: usize = 8;

/// A label for texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    pub name: String,
    pub description: String,
    /// Texts that have it.
    pub examples: Vec<String>,
}

/// How likely a label is, and by which words.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Which of the labels.
    pub label: usize,
    /// The probabilities of all labels add up to 1.
    pub probability: f64,
    /// Words of the text that support it, strongest first.
    pub evidence: Vec<String>,
}

/// The labels, most probable first. Without evidence all are equally probable.
pub fn classify(prose: &Prose<'_>, labels: &[Label], model: Option<&StaticModel>) -> Vec<Verdict> {
    let mut verdicts = by_words(prose, labels);
    if let Some(meaning) = model.and_then(|model| Meaning::of(model, prose, labels)) {
        add_meaning(&mut verdicts, prose, &meaning);
    }
    verdicts.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.label.cmp(&b.label)));
    verdicts
}

/// Multiplies the odds by words with the odds by meaning.
fn add_meaning(verdicts: &mut [Verdict], prose: &Prose<'_>, meaning: &Meaning<'_>) {
    let odds = meaning.odds();
    let evidence = meaning.evidence(prose, SHOWN);
    for verdict in verdicts.iter_mut() {
        verdict.probability *= odds[verdict.label];
        for word in &evidence[verdict.label] {
            if verdict.evidence.len() < SHOWN && !verdict.evidence.iter().any(|known| known == word)
            {
                verdict.evidence.push((*word).to_owned());
            }
        }
    }
    let total: f64 = verdicts.iter().map(|verdict| verdict.probability).sum();
    for verdict in verdicts {
        verdict.probability /= total;
    }
}

/// The labels in their order, by words alone.
fn by_words(prose: &Prose<'_>, labels: &[Label]) -> Vec<Verdict> {
    let profiles: Vec<_> = labels.iter().map(Profile::of).collect();
    let mut counts: HashMap<&str, (f64, &str)> = HashMap::new();
    for term in prose.content() {
        counts.entry(&term.stem).or_insert((0.0, term.folded.as_str())).0 += 1.0;
    }
    let all = labels.len() as f64;
    let mut support: Vec<Vec<(f64, &str)>> = vec![Vec::new(); labels.len()];
    for (stem, (count, word)) in counts {
        let matching: Vec<(usize, f64)> = profiles
            .iter()
            .enumerate()
            .filter_map(|(label, profile)| Some((label, profile.weight(stem, word)?)))
            .collect();
        // A word of all labels distinguishes none of them.
        let rare = (all / matching.len().max(1) as f64).ln_1p()
            - if matching.len() == labels.len() { 0.5 } else { 0.0 };
        let most = matching.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
        for (label, weight) in matching {
            let strength = (1.0 + count.ln()) * weight / (weight + 1.0) * (weight / most);
            support[label].push((strength * rare.max(0.1), word));
        }
    }
    let scores: Vec<f64> =
        support.iter().map(|words| words.iter().map(|(strength, _)| strength).sum()).collect();
    let total: f64 = scores.iter().sum::<f64>() + DOUBT;
    support
        .into_iter()
        .enumerate()
        .map(|(label, mut words)| {
            words.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
            let evidence = words.iter().take(SHOWN).map(|(_, word)| (*word).to_owned()).collect();
            Verdict { label, probability: (scores[label] + DOUBT / all) / total, evidence }
        })
        .collect()
}

/// The weight of each word for a label.
#[derive(Default)]
struct Profile {
    stems: HashMap<String, f64>,
    /// Words related to those of the label, by the shorter stems that searches use.
    related: HashSet<&'static str>,
}

impl Profile {
    fn of(label: &Label) -> Self {
        let mut profile = Self::default();
        let (named, described) = (Prose::read(&label.name), Prose::read(&label.description));
        for term in named.content() {
            profile.add(&term.stem, NAME);
            for stem in topics::words(&term.stem) {
                profile.add(stem, TOPIC);
            }
        }
        profile.add_once(&described, DESCRIPTION);
        for example in &label.examples {
            // Once for each example: a repeated word in one text is not typical of the label.
            profile.add_once(&Prose::read(example), EXAMPLE);
        }
        for term in named.content() {
            let near = related_stems(&words::stem(&term.folded));
            profile.related.extend(near.iter().map(String::as_str));
        }
        profile
    }

    fn add(&mut self, stem: &str, weight: f64) {
        *self.stems.entry(stem.to_owned()).or_insert(0.0) += weight;
    }

    fn add_once(&mut self, prose: &Prose<'_>, weight: f64) {
        for stem in prose.content().map(|term| term.stem.as_str()).collect::<HashSet<_>>() {
            self.add(stem, weight);
        }
    }

    fn weight(&self, stem: &str, word: &str) -> Option<f64> {
        let near = || self.related.contains(words::stem(word).as_str()).then_some(RELATED);
        self.stems.get(stem).copied().or_else(near)
    }
}

#[cfg(test)]
mod tests;
