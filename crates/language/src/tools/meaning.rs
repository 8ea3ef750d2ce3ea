//! Nearness in a model, by brute force over every tool.

use std::collections::HashMap;
use std::sync::Arc;

use super::query::Query;
use super::{ToolText, blend};
use crate::model::{StaticModel, length, normalized};
use crate::words::spoken;

/// Vectors of length one are kept as whole numbers of this fraction: the error stays under a thousandth, it takes half
/// the memory, and a product of two vectors cannot leave 32 bits.
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

    /// How near each tool that is seen comes to the request, from 0 (no nearer than half of them) to 1 (the nearest).
    pub(super) fn score(&self, query: &Query<'_>, seen: &[usize]) -> Vec<f32> {
        let mut known = HashMap::new();
        let mut wish = |words| Wish::new(sum(&self.model, words, &mut known));
        if query.clauses.is_empty() {
            return self
                .nearness(&[wish(&query.whole)], seen)
                .pop()
                .map_or_else(Vec::new, blend::above_median);
        }
        let wishes: Vec<Wish> = query.clauses.iter().map(|clause| wish(&clause.text)).collect();
        let near = self.nearness(&wishes, seen);
        // The whole is the sum of its clauses, and so is its nearness: no further pass over the tools is needed.
        let mut whole = vec![0.0; seen.len()];
        for (wish, near) in wishes.iter().zip(&near) {
            for (whole, near) in whole.iter_mut().zip(near) {
                *whole += wish.length * near;
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

    /// The nearness of every tool to every text; a tool's vector is fetched once for all texts.
    fn nearness(&self, wishes: &[Wish], seen: &[usize]) -> Vec<Vec<f32>> {
        let width = self.model.dimensions();
        let mut near = vec![Vec::with_capacity(seen.len()); wishes.len()];
        for &tool in seen {
            let vector = &self.vectors[tool * width..(tool + 1) * width];
            for (near, wish) in near.iter_mut().zip(wishes) {
                near.push(product(&wish.direction, vector) as f32);
            }
        }
        near
    }
}

/// The sum of words, each cut into tokens once: catalogs and requests repeat theirs, and names are read part by part.
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

/// What a text asks for: a direction of length one, and how long it was.
struct Wish {
    direction: Vec<i16>,
    length: f32,
}

impl Wish {
    fn new(sum: Vec<f32>) -> Self {
        let length = length(&sum);
        Self { direction: whole_numbers(sum), length }
    }
}

/// A text without a known word is far from everything.
fn whole_numbers(sum: Vec<f32>) -> Vec<i16> {
    let width = sum.len();
    normalized(sum).map_or_else(
        || vec![0; width],
        |vector| vector.into_iter().map(|x| (x * ONE).round() as i16).collect(),
    )
}

/// Sixteen at a time into as many sums, which the processor does in a few steps; left to be inlined, the compiler loses
/// sight of that and takes three times as long.
#[inline(never)]
fn product(a: &[i16], b: &[i16]) -> i32 {
    let (a_blocks, a_rest) = a.as_chunks::<16>();
    let (b_blocks, b_rest) = b.as_chunks::<16>();
    let mut sums = [0i32; 16];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for i in 0..16 {
            sums[i] += i32::from(a[i]) * i32::from(b[i]);
        }
    }
    let rest: i32 = a_rest.iter().zip(b_rest).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
    sums.iter().sum::<i32>() + rest
}
