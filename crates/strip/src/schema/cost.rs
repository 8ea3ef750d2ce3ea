//! An upper bound for the work of checking a value, known before the work is done.
//!
//! `anyOf` of two, in each of which there is an `anyOf` of two, and so on: thirty levels of that are a billion checks of
//! one value, and a schema that refers to itself twice doubles with every level of the value instead. So the number of
//! schemas that can meet one part of a value is worked out for every depth when the schema is compiled; when a value
//! comes, its parts are counted by depth.

use serde_json::Value;

use super::graph::{Parts, Way, spreads};
use super::{SchemaFault, fault};

/// JSON parsers stop here too.
const MAX_VALUE_DEPTH: usize = 128;

/// Steps that one check may take: well under a second.
const BUDGET: u64 = 5_000_000;

/// Steps that every part of a value may take however many parts there are: the size limits bound their number.
const STEPS_PER_PART: u64 = 200;

/// Below this many steps at any part, values need not be counted.
const CHEAP: u64 = 64;

/// Up to here, all violations are worked out, which takes more memory the more branches there are.
const SMALL: u64 = 200_000;

/// Up to this many steps at one part, the first violation can still be told.
const TELLABLE: u64 = 5_000;

/// How much work the schema can make of a value.
#[derive(Debug)]
pub(super) struct Cost {
    /// Steps at one part of a value, by its depth; the last one holds for all that is deeper.
    by_depth: Vec<u64>,
}

/// What a check of one value may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// List all violations.
    Small,
    /// Tell the first one.
    Large,
    /// Tell only whether it fits.
    Huge,
    /// Do nothing.
    Refused(&'static str),
}

impl Cost {
    /// Works out the cost of a schema, and refuses one that is too costly for the simplest value.
    pub(super) fn of(schema: &Value) -> Result<Self, SchemaFault> {
        let spreads = spreads(schema)?;
        let mut row: Vec<u64> = spreads.iter().map(|spread| spread.steps).collect();
        let steps = row.clone();
        let mut by_depth = vec![root(&row)];
        for depth in 1..=MAX_VALUE_DEPTH {
            let next: Vec<u64> = spreads
                .iter()
                .map(|spread| {
                    let names = if depth == 1 { sum(&spread.names, &steps) } else { 0 };
                    members(&spread.members, &row)
                        .saturating_add(names)
                        .max(members(&spread.items, &row))
                })
                .collect();
            by_depth.push(root(&next));
            // Names are met at the first depth only, so equal rows before the second say nothing.
            if (next == row && depth > 1) || root(&next) > BUDGET {
                break;
            }
            row = next;
        }
        if by_depth.iter().take(2).any(|steps| *steps > BUDGET) {
            let message =
                "it has so many branches that checking the simplest value would take too long";
            return Err(fault("", message));
        }
        Ok(Self { by_depth })
    }

    /// What may be done for a value. Free for schemas that are cheap whatever the value.
    pub(super) fn effort(&self, value: &Value) -> Effort {
        let most = self.by_depth.iter().copied().max().unwrap_or_default();
        let ends = self.by_depth.last() == Some(&0);
        if most <= CHEAP && ends {
            return Effort::Small;
        }
        let mut steps: u64 = 0;
        let mut parts: u64 = 0;
        let mut worst: u64 = 0;
        let mut level = vec![value];
        for depth in 0.. {
            if level.is_empty() {
                break;
            }
            if depth > MAX_VALUE_DEPTH {
                return Effort::Refused("it is nested too deeply");
            }
            let each = self.at(depth);
            let count = u64::try_from(level.len()).unwrap_or(u64::MAX);
            parts = parts.saturating_add(count);
            steps = steps.saturating_add(each.saturating_mul(count));
            worst = worst.max(each);
            if steps > BUDGET && steps > parts.saturating_mul(STEPS_PER_PART) {
                return Effort::Refused(
                    "it is too large or nested too deeply for a schema with this many branches",
                );
            }
            level = level.into_iter().flat_map(children).collect();
        }
        match (steps, worst) {
            (..=SMALL, _) => Effort::Small,
            (_, ..=TELLABLE) => Effort::Large,
            _ => Effort::Huge,
        }
    }

    fn at(&self, depth: usize) -> u64 {
        self.by_depth.get(depth).or(self.by_depth.last()).copied().unwrap_or_default()
    }
}

fn root(row: &[u64]) -> u64 {
    row.first().copied().unwrap_or_default()
}

fn sum(ways: &[Way], row: &[u64]) -> u64 {
    ways.iter().fold(0, |sum: u64, (target, times)| {
        sum.saturating_add(row[*target].saturating_mul(*times))
    })
}

fn members(parts: &Parts, row: &[u64]) -> u64 {
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
