//! Compares a plan with the gold plan of its request.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Averages;
use super::gold::{Call, Given};

/// The scores of one plan.
#[derive(Debug)]
pub(super) struct Score {
    nodes: f64,
    edges: f64,
    arguments: f64,
}

impl Score {
    pub(super) fn is_perfect(&self) -> bool {
        self.nodes.min(self.edges).min(self.arguments) >= 1.0
    }
}

#[derive(Default)]
pub(super) struct Totals {
    pub(super) count: usize,
    totals: [f64; 3],
}

impl Totals {
    pub(super) fn add(&mut self, score: &Score) {
        self.count += 1;
        for (total, part) in self.totals.iter_mut().zip([score.nodes, score.edges, score.arguments])
        {
            *total += part;
        }
    }

    pub(super) fn averages(&self) -> Averages {
        let [node_f1, edge_f1, arg_acc] =
            self.totals.map(|total| (1000.0 * total / self.count.max(1) as f64).round() / 1000.0);
        Averages { node_f1, edge_f1, arg_acc }
    }
}

/// Tools as a multiset, edges between tools as a set, and the share of gold arguments that are the same.
pub(super) fn compare(gold: &[Call], ours: &[Call]) -> Score {
    let nodes = f1(
        &count(gold.iter().map(|call| call.tool.clone())),
        &count(ours.iter().map(|call| call.tool.clone())),
    );
    let edges = f1(&edges(gold), &edges(ours));
    let mut taken = vec![false; ours.len()];
    let (mut all, mut same) = (0, 0);
    for call in gold {
        all += call.arguments.len();
        let Some(place) =
            (0..ours.len()).find(|&place| !taken[place] && ours[place].tool == call.tool)
        else {
            continue;
        };
        taken[place] = true;
        let given = |name: &str| ours[place].arguments.iter().find(|(other, _)| other == name);
        same += call
            .arguments
            .iter()
            .filter(|(name, expected)| {
                given(name).is_some_and(|(_, given)| is_same(expected, given))
            })
            .count();
    }
    let arguments = if all == 0 { 1.0 } else { f64::from(same as u32) / f64::from(all as u32) };
    Score { nodes, edges, arguments }
}

fn count<T: Ord>(items: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}

fn edges(calls: &[Call]) -> BTreeMap<(String, String), usize> {
    let mut edges = BTreeMap::new();
    for call in calls {
        for (_, given) in &call.arguments {
            if let Given::Output { tool, .. } = given {
                edges.insert((tool.clone(), call.tool.clone()), 1);
            }
        }
    }
    edges
}

fn f1<T: Ord>(gold: &BTreeMap<T, usize>, ours: &BTreeMap<T, usize>) -> f64 {
    let (expected, given): (usize, usize) = (gold.values().sum(), ours.values().sum());
    if expected + given == 0 {
        return 1.0;
    }
    let common: usize =
        gold.iter().map(|(item, count)| *count.min(ours.get(item).unwrap_or(&0))).sum();
    2.0 * common as f64 / (expected + given) as f64
}

fn is_same(expected: &Given, given: &Given) -> bool {
    match (expected, given) {
        (Given::Literal(expected), Given::Literal(given)) => same_value(expected, given),
        (expected, given) => expected == given,
    }
}

/// `5` and `5.0` are one number.
fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (a, b) => a == b,
    }
}
