//! Extractive summaries: the sentences most similar to the whole text, early ones preferred, without repetition.

use std::collections::HashMap;

use crate::prose::Prose;

/// The weight of similarity to the whole text, against an early position.
const CENTRALITY: f64 = 0.75;

/// The weight of novelty when the next sentence is chosen.
const NOVELTY: f64 = 0.5;

/// Sentences with fewer content words are left out.
const SHORT: usize = 4;

/// Sentences with more content words are ranked lower.
const LONG: usize = 40;

/// How much a summary may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    pub sentences: usize,
    /// Words, if they are counted: the first sentence is given even if it is longer.
    pub words: Option<usize>,
}

/// A sentence of the summary and why it is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The sentence, white space made plain.
    pub text: String,
    /// Its place in the text, counted from 0.
    pub index: usize,
    pub score: f64,
    /// How near it is to the whole, from 0 to 1.
    pub centrality: f64,
    /// How early it is in the text, from 0 to 1.
    pub position: f64,
}

type Vector<'a> = HashMap<&'a str, f64>;

/// The sentences of a summary, in the order of the text.
pub fn summary(prose: &Prose<'_>, length: Length) -> Vec<Point> {
    let vectors = vectors(prose);
    let mut centre = Vector::new();
    for (stem, weight) in vectors.iter().flatten() {
        *centre.entry(stem).or_default() += weight;
    }
    let mut points: Vec<Point> =
        (0..vectors.len()).map(|index| point(prose, index, &vectors[index], &centre)).collect();
    let mut chosen: Vec<Point> = Vec::new();
    let mut repeats = vec![0.0_f64; points.len()];
    let mut words = 0;
    while chosen.len() < length.sentences.max(1) {
        let value = |point: &Point| point.score - NOVELTY * repeats[point.index] * point.score;
        let fits = |point: &Point| {
            length
                .words
                .is_none_or(|limit| chosen.is_empty() || words + count(&point.text) <= limit)
        };
        let best = points
            .iter()
            .enumerate()
            .filter(|(_, point)| point.score > 0.0 && repeats[point.index] < 0.9 && fits(point))
            .max_by(|a, b| value(a.1).total_cmp(&value(b.1)).then(b.1.index.cmp(&a.1.index)))
            .map(|(at, _)| at);
        let Some(best) = best else { break };
        let best = points.swap_remove(best);
        words += count(&best.text);
        for point in &points {
            let alike = cosine(&vectors[point.index], &vectors[best.index]);
            repeats[point.index] = repeats[point.index].max(alike);
        }
        chosen.push(best);
    }
    chosen.sort_by_key(|point| point.index);
    chosen
}

/// How many words a person would count.
fn count(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The term weights of each sentence: terms that are rare in the text count more.
fn vectors<'a>(prose: &'a Prose<'_>) -> Vec<Vector<'a>> {
    let mut vectors: Vec<Vector<'a>> = vec![Vector::new(); prose.sentences.len()];
    let mut spread: HashMap<&str, f64> = HashMap::new();
    for term in prose.content() {
        let weight = vectors[term.sentence].entry(term.stem.as_str()).or_insert(0.0);
        if *weight == 0.0 {
            *spread.entry(term.stem.as_str()).or_default() += 1.0;
        }
        *weight += 1.0;
    }
    let all = prose.sentences.len() as f64;
    for (stem, weight) in vectors.iter_mut().flatten() {
        *weight = (1.0 + weight.ln()) * (1.0 + all / spread[*stem]).ln();
    }
    vectors
}

fn point(prose: &Prose<'_>, index: usize, vector: &Vector<'_>, centre: &Vector<'_>) -> Point {
    let sentence = &prose.sentences[index];
    let centrality = cosine(vector, centre);
    let position = 1.0 / (1.0 + 4.0 * index as f64 / prose.sentences.len() as f64);
    let fit = match vector.len() {
        0 => 0.0,
        terms if terms < SHORT => 0.4,
        terms if terms > LONG => 0.7,
        _ => 1.0,
    };
    // Headings and list items are used only if there is nothing else.
    let whole = if sentence.whole { 1.0 } else { 0.5 };
    Point {
        text: sentence.text.split_whitespace().collect::<Vec<_>>().join(" "),
        index,
        score: fit * whole * (CENTRALITY * centrality + (1.0 - CENTRALITY) * position),
        centrality,
        position,
    }
}

fn cosine(a: &Vector<'_>, b: &Vector<'_>) -> f64 {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let shared: f64 =
        small.iter().filter_map(|(stem, weight)| Some(weight * large.get(stem)?)).sum();
    let length =
        |vector: &Vector<'_>| vector.values().map(|weight| weight * weight).sum::<f64>().sqrt();
    let lengths = length(a) * length(b);
    if lengths > 0.0 { shared / lengths } else { 0.0 }
}

#[cfg(test)]
mod tests;
