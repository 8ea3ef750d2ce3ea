//! Edges that finished workflows of a tenant have shown.

use std::collections::HashMap;

/// An output that was used as an argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeKey {
    pub from_tool: String,
    pub from_field: String,
    pub to_tool: String,
    pub to_argument: String,
}

/// How often each edge was seen, with older observations counting less.
#[derive(Clone, Debug, Default)]
pub struct LearnedEdges {
    weights: HashMap<EdgeKey, f64>,
}

/// From how many observations on an edge is used.
const MIN_OBSERVATIONS: f64 = 3.0;

/// After this time an observation counts half.
const HALF_LIFE_MS: f64 = 30.0 * 86_400_000.0;

/// The weight of a count after some time without a new observation.
pub(crate) fn decayed(count: f64, last_ms: u64, now_ms: u64) -> f64 {
    let age = now_ms.saturating_sub(last_ms) as f64;
    count * (-age / HALF_LIFE_MS).exp2()
}

impl LearnedEdges {
    /// Adds an edge with its weight.
    pub fn insert(&mut self, edge: EdgeKey, weight: f64) {
        *self.weights.entry(edge).or_default() += weight;
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// What an edge adds to its score: nothing below three observations.
    pub(crate) fn bonus(&self, edge: &EdgeKey) -> f32 {
        match self.weights.get(edge) {
            // Rounding of the decay may not undo the third of three observations in a row.
            Some(&weight) if weight >= MIN_OBSERVATIONS - 0.05 => {
                2.0 + (weight.log2() as f32).min(2.0)
            }
            _ => 0.0,
        }
    }
}
