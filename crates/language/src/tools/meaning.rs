//! Similarity in a model, by brute force over all tools.

use std::collections::HashMap;
use std::sync::Arc;

use super::blend;
use super::query::Query;
use super::text::ToolText;
use crate::model::{StaticModel, length, normalized};
use crate::words::spoken;

/// The scale of unit vectors stored as integers: the error is below a thousandth, memory is halved, and a product of two
/// vectors fits in 32 bits.
const ONE: f32 = 16384.0;

/// The vectors of all tools, one after the other.
#[derive(Debug)]
pub(super) struct Meaning {
    model: Arc<StaticModel>,
    vectors: Vec<i16>,
}

impl Meaning {
    pub(super) fn build(tools: &[ToolText<'_>], model: Arc<StaticModel>) -> Self {
        let mut known = HashMap::new();
        let mut vectors = Vec::with_capacity(tools.len() * model.dimensions());
        for tool in tools {
            let names = tool.parameters.iter().map(|&(name, _)| name);
            let texts = [tool.name, tool.title, tool.description].into_iter().chain(names);
            let words: Vec<&str> = texts.flat_map(spoken).collect();
            vectors.extend(whole_numbers(sum(&model, &words, &mut known)));
        }
        Self { model, vectors }
    }

    /// The similarity of each visible tool to the request, from 0 (at or below the median) to 1 (the most similar).
    pub(super) fn score(&self, query: &Query<'_>, seen: &[usize]) -> Vec<f32> {
        let mut known = HashMap::new();
        let mut vector = |words| TextVector::new(sum(&self.model, words, &mut known));
        if query.clauses.is_empty() {
            return self
                .similarities(&[vector(&query.whole)], seen)
                .pop()
                .map_or_else(Vec::new, blend::above_median);
        }
        let texts: Vec<TextVector> =
            query.clauses.iter().map(|clause| vector(&clause.text)).collect();
        let near = self.similarities(&texts, seen);
        // The vector of the whole is the sum of its clauses, so its similarity needs no further pass over the tools.
        let mut whole = vec![0.0; seen.len()];
        for (text, near) in texts.iter().zip(&near) {
            for (whole, near) in whole.iter_mut().zip(near) {
                *whole += text.length * near;
            }
        }
        let mut best = vec![0.0f32; seen.len()];
        for near in near {
            for (best, near) in best.iter_mut().zip(blend::above_median(near)) {
                *best = best.max(near);
            }
        }
        blend::above_median(whole)
            .iter()
            .zip(best)
            .map(|(whole, best)| (whole + best) / 2.0)
            .collect()
    }

    /// The similarity of every tool to every text; each tool's vector is loaded once for all texts.
    fn similarities(&self, texts: &[TextVector], seen: &[usize]) -> Vec<Vec<f32>> {
        let width = self.model.dimensions();
        let mut near = vec![Vec::with_capacity(seen.len()); texts.len()];
        for &tool in seen {
            let vector = &self.vectors[tool * width..(tool + 1) * width];
            for (near, text) in near.iter_mut().zip(texts) {
                near.push(product(&text.direction, vector) as f32);
            }
        }
        near
    }
}

/// The sum of the words' vectors. Cached per word, because catalogs and requests repeat their words.
fn sum<'a>(
    model: &StaticModel,
    words: &[&'a str],
    known: &mut HashMap<&'a str, Vec<f32>>,
) -> Vec<f32> {
    let mut sum = vec![0.0; model.dimensions()];
    for &word in words {
        let vector = known.entry(word).or_insert_with(|| {
            let mut vector = vec![0.0; model.dimensions()];
            model.add(word, &mut vector);
            vector
        });
        for (sum, x) in sum.iter_mut().zip(vector) {
            *sum += *x;
        }
    }
    sum
}

/// The vector of a text: its direction as a unit vector, and its length.
struct TextVector {
    direction: Vec<i16>,
    length: f32,
}

impl TextVector {
    fn new(sum: Vec<f32>) -> Self {
        let length = length(&sum);
        Self { direction: whole_numbers(sum), length }
    }
}

/// A text without a known word has the zero vector.
fn whole_numbers(sum: Vec<f32>) -> Vec<i16> {
    let width = sum.len();
    normalized(sum).map_or_else(
        || vec![0; width],
        |vector| vector.into_iter().map(|x| (x * ONE).round() as i16).collect(),
    )
}

/// Sixteen lanes, which the compiler vectorizes. Not inlined: inlined it is not vectorized and takes three times as long.
#[inline(never)]
fn product(a: &[i16], b: &[i16]) -> i32 {
    let (a_blocks, a_rest) = a.as_chunks::<16>();
    let (b_blocks, b_rest) = b.as_chunks::<16>();
    let mut lanes = [0i32; 16];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for i in 0..16 {
            lanes[i] += i32::from(a[i]) * i32::from(b[i]);
        }
    }
    let rest: i32 = a_rest.iter().zip(b_rest).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
    lanes.iter().sum::<i32>() + rest
}
