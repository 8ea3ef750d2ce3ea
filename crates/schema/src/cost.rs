//! An upper bound for the work of validating a value, computed before validation.
//!
//! Thirty nested `anyOf` with two branches each are a billion checks of one value. When a schema is compiled, the number
//! of schemas that apply to one part of a value is computed for every depth; for a value, its parts are counted by depth.
//!
//! A schema that refers to itself twice doubles the work with every level of the value. The validator caches the outcome
//! for each object and array on a cycle of references, and the bound for validation relies on that. Listing violations
//! uses no cache, so there the full number counts.

use serde_json::Value;

use super::graph::{Edge, Parts, Spread, spreads};
use super::{SchemaFault, fault};

/// The usual limit of JSON parsers.
const MAX_VALUE_DEPTH: usize = 128;

/// Steps that one validation may take: about a second in the worst case.
const BUDGET: u64 = 20_000_000;

/// The validator caches an outcome only if it took more than this many references.
const UNCACHED: u64 = 16;

/// Steps that every part of a value may take; size limits bound the number of parts.
const STEPS_PER_PART: u64 = 200;

/// Steps of the pattern engine that one validation may take.
const TEXT_BUDGET: u64 = 40_000_000;

/// Steps of the pattern engine that every byte may take; usual patterns take no more.
const STEPS_PER_BYTE: u64 = 64;

/// Values are not counted if no part can take more steps than this.
const CHEAP: u64 = 64;

/// Up to this many steps all violations are listed, which takes memory for every branch.
const SMALL: u64 = 200_000;

/// Up to this many steps at one part, the first violation is reported.
const REPORTABLE: u64 = 5_000;

/// The work of a schema by the depth in the value; the last entry is for all deeper levels.
#[derive(Debug)]
pub(super) struct Cost {
    /// Steps to validate one part of a value.
    steps: Vec<u64>,
    /// The weight of all patterns that apply to one text.
    patterns: Vec<u64>,
    /// Steps to list the violations of one part.
    listing: Vec<u64>,
}

/// How much detail is reported about an invalid value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// All violations.
    All,
    /// The first one.
    First,
    /// Only that it is invalid.
    Nothing,
}

impl Cost {
    /// Computes the cost of a schema; fails if it is too high even for the simplest value.
    pub(super) fn of(schema: &Value) -> Result<Self, SchemaFault> {
        let spreads = spreads(schema)?;
        let cycles = Cycles::of(&spreads);
        let (listing, steps) = climb(&spreads, &cycles, |spread| spread.steps);
        let (_, patterns) = climb(&spreads, &cycles, |spread| spread.patterns);
        if steps.iter().take(2).any(|steps| *steps > BUDGET) {
            let message =
                "it has so many branches that checking the simplest value would take too long";
            return Err(fault("", message));
        }
        Ok(Self { steps, patterns, listing })
    }

    /// Refuses a value that would take too long. Does nothing for schemas that are cheap for any value.
    pub(super) fn admit(&self, value: &Value) -> Result<(), &'static str> {
        let cheap = self.steps.iter().all(|steps| *steps <= CHEAP)
            && self.steps.last() == Some(&0)
            && self.patterns.iter().all(|steps| *steps <= STEPS_PER_BYTE);
        if cheap { Ok(()) } else { self.count(value).map(|_| ()) }
    }

    /// How much detail is reported about a value that was admitted.
    pub(super) fn detail(&self, value: &Value) -> Detail {
        let Ok(count) = self.count(value) else {
            return Detail::Nothing;
        };
        match (count.listing, count.worst) {
            (..=SMALL, _) => Detail::All,
            (_, ..=REPORTABLE) => Detail::First,
            _ => Detail::Nothing,
        }
    }

    fn count(&self, value: &Value) -> Result<Count, &'static str> {
        let mut count = Count { listing: 0, worst: 0 };
        let (mut steps, mut parts) = (0_u64, 0_u64);
        let (mut text_steps, mut bytes) = (0_u64, 0_u64);
        let mut level = vec![value];
        let mut depth = 0;
        while !level.is_empty() {
            if depth > MAX_VALUE_DEPTH {
                return Err("it is nested too deeply");
            }
            let width = length(level.len());
            parts = parts.saturating_add(width);
            steps = steps.saturating_add(at(&self.steps, depth).saturating_mul(width));
            if steps > BUDGET && steps > parts.saturating_mul(STEPS_PER_PART) {
                return Err(
                    "it is too large or nested too deeply for a schema with this many branches",
                );
            }
            let listing = at(&self.listing, depth);
            count.listing = count.listing.saturating_add(listing.saturating_mul(width));
            count.worst = count.worst.max(listing);
            // Patterns for names of members are at this depth, those of `propertyNames` one level deeper.
            let here = at(&self.patterns, depth);
            let with_names = here.saturating_add(at(&self.patterns, depth + 1));
            for part in &level {
                let (size, each) = match part {
                    Value::String(text) => (length(text.len()), here),
                    Value::Object(map) => {
                        (map.keys().map(|key| length(key.len())).sum(), with_names)
                    }
                    _ => continue,
                };
                bytes = bytes.saturating_add(size);
                text_steps = text_steps.saturating_add(size.saturating_mul(each));
            }
            if text_steps > TEXT_BUDGET && text_steps > bytes.saturating_mul(STEPS_PER_BYTE) {
                return Err("its texts are too long for the patterns of the schema");
            }
            level = level.into_iter().flat_map(children).collect();
            depth += 1;
        }
        Ok(count)
    }
}

/// The schemas on cycles of references, or between two cycles.
struct Cycles {
    on: Vec<bool>,
    size: usize,
}

impl Cycles {
    fn of(spreads: &[Spread]) -> Self {
        let ahead: Vec<Vec<usize>> =
            spreads.iter().map(|spread| spread.targets().collect()).collect();
        let mut behind = vec![Vec::new(); spreads.len()];
        for (node, targets) in ahead.iter().enumerate() {
            targets.iter().for_each(|target| behind[*target].push(node));
        }
        // Nodes without successors or without predecessors are on no cycle.
        let mut on = vec![true; spreads.len()];
        for (edges, back) in [(&ahead, &behind), (&behind, &ahead)] {
            let mut left: Vec<usize> = edges
                .iter()
                .map(|targets| targets.iter().filter(|target| on[**target]).count())
                .collect();
            let mut loose: Vec<usize> =
                (0..spreads.len()).filter(|n| on[*n] && left[*n] == 0).collect();
            while let Some(node) = loose.pop() {
                on[node] = false;
                for before in back[node].iter().filter(|before| on[**before]) {
                    left[*before] -= 1;
                    if left[*before] == 0 {
                        loose.push(*before);
                    }
                }
            }
        }
        let size = on.iter().filter(|on| **on).count();
        Self { on, size }
    }
}

/// The schemas that apply to one part of a value by depth: in full, and with the validator's cache.
fn climb(
    spreads: &[Spread],
    cycles: &Cycles,
    here: impl Fn(&Spread) -> u64,
) -> (Vec<u64>, Vec<u64>) {
    let base: Vec<u64> = spreads.iter().map(here).collect();
    let mut row = base.clone();
    let mut peaks = row.clone();
    let mut full = vec![root(&row)];
    for depth in 1..=MAX_VALUE_DEPTH {
        let next: Vec<u64> = spreads
            .iter()
            .map(|spread| {
                // A name is a text and has no parts of its own.
                let names = if depth == 1 { sum(&spread.names, &base) } else { 0 };
                met(&spread.members, &row).saturating_add(names).max(met(&spread.items, &row))
            })
            .collect();
        full.push(root(&next));
        // Without closing a circle, no way is longer than the cycles are large.
        if depth <= cycles.size {
            peaks.iter_mut().zip(&next).for_each(|(peak, steps)| *peak = (*peak).max(*steps));
        }
        // Names count at the first depth only, so that equal rows before the second say nothing.
        if next == row && depth > 1 {
            break;
        }
        row = next;
    }
    if cycles.size == 0 {
        return (full.clone(), full);
    }
    let round = peaks.iter().zip(&cycles.on).filter(|(_, on)| **on);
    let round = round.fold(0, |sum: u64, (peak, _)| sum.saturating_add(*peak));
    let most = round.saturating_mul(UNCACHED);
    let remembered = full.iter().map(|steps| *steps.min(&most)).collect();
    (full, remembered)
}

fn at(by_depth: &[u64], depth: usize) -> u64 {
    by_depth.get(depth).or(by_depth.last()).copied().unwrap_or_default()
}

fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// The cost of listing all violations of a value.
struct Count {
    listing: u64,
    /// The most at one part.
    worst: u64,
}

fn root(row: &[u64]) -> u64 {
    row.first().copied().unwrap_or_default()
}

fn sum(edges: &[Edge], row: &[u64]) -> u64 {
    edges.iter().fold(0, |sum: u64, (target, times)| {
        sum.saturating_add(row[*target].saturating_mul(*times))
    })
}

fn met(parts: &Parts, row: &[u64]) -> u64 {
    let most = parts.groups.iter().map(|group| sum(group, row)).max().unwrap_or_default();
    most.saturating_add(sum(&parts.every, row))
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(map) => Box::new(map.values()),
        _ => Box::new(std::iter::empty()),
    }
}
