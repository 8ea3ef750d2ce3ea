//! An upper bound for the work of checking a value, known before the work is done.
//!
//! `anyOf` of two, in each of which there is an `anyOf` of two, and so on: thirty levels of that are a billion checks of
//! one value, and a schema that refers to itself twice doubles with every level of the value instead. So the number of
//! schemas that can meet one part of a value is worked out for every depth when the schema is compiled; when a value
//! comes, its parts are counted by depth.

use serde_json::Value;

use super::graph::{Parts, Spread, Way, spreads};
use super::{SchemaFault, fault};

/// JSON parsers stop here too.
const MAX_VALUE_DEPTH: usize = 128;

/// Steps that one check may take: well under a second.
const BUDGET: u64 = 5_000_000;

/// Steps that every part of a value may take however many parts there are: the size limits bound their number.
const STEPS_PER_PART: u64 = 200;

/// Steps of the pattern engine that one check may take.
const TEXT_BUDGET: u64 = 40_000_000;

/// Steps of the pattern engine that every byte may take: patterns as people write them take no more.
const STEPS_PER_BYTE: u64 = 64;

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
    /// The weight of all patterns that can meet one text, by its depth.
    patterns: Vec<u64>,
}

/// How much can be said about a value that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// All violations.
    All,
    /// The first one.
    First,
    /// Only that it does not fit.
    Nothing,
}

impl Cost {
    /// Works out the cost of a schema, and refuses one that is too costly for the simplest value.
    pub(super) fn of(schema: &Value) -> Result<Self, SchemaFault> {
        let spreads = spreads(schema)?;
        let by_depth = climb(&spreads, BUDGET, |spread| spread.steps);
        let patterns = climb(&spreads, TEXT_BUDGET, |spread| spread.patterns);
        if by_depth.iter().take(2).any(|steps| *steps > BUDGET) {
            let message =
                "it has so many branches that checking the simplest value would take too long";
            return Err(fault("", message));
        }
        Ok(Self { by_depth, patterns })
    }

    /// Refuses a value that would take too long. Free for schemas that are cheap whatever the value.
    pub(super) fn admit(&self, value: &Value) -> Result<(), &'static str> {
        let cheap = self.by_depth.iter().all(|steps| *steps <= CHEAP)
            && self.by_depth.last() == Some(&0)
            && self.patterns.iter().all(|steps| *steps <= STEPS_PER_BYTE);
        if cheap { Ok(()) } else { self.count(value).map(|_| ()) }
    }

    /// How much can be said about an admitted value.
    pub(super) fn telling(&self, value: &Value) -> Telling {
        match self.count(value) {
            Ok(Count { steps: ..=SMALL, .. }) => Telling::All,
            Ok(Count { worst: ..=TELLABLE, .. }) => Telling::First,
            _ => Telling::Nothing,
        }
    }

    fn count(&self, value: &Value) -> Result<Count, &'static str> {
        let mut count = Count { steps: 0, worst: 0 };
        let mut parts: u64 = 0;
        let (mut text_steps, mut bytes) = (0_u64, 0_u64);
        let mut level = vec![value];
        let mut depth = 0;
        while !level.is_empty() {
            if depth > MAX_VALUE_DEPTH {
                return Err("it is nested too deeply");
            }
            let each = at(&self.by_depth, depth);
            let width = length(level.len());
            parts = parts.saturating_add(width);
            count.steps = count.steps.saturating_add(each.saturating_mul(width));
            count.worst = count.worst.max(each);
            if count.steps > BUDGET && count.steps > parts.saturating_mul(STEPS_PER_PART) {
                return Err("it is too large or nested too deeply for a schema with this many branches");
            }
            // Patterns for the names of members stand here, those of `propertyNames` one level deeper.
            let here = at(&self.patterns, depth);
            let with_names = here.saturating_add(at(&self.patterns, depth + 1));
            for part in &level {
                let (size, each) = match part {
                    Value::String(text) => (length(text.len()), here),
                    Value::Object(map) => (map.keys().map(|key| length(key.len())).sum(), with_names),
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

/// What can meet one part of a value, depth by depth, until it no longer changes or is far too much.
fn climb(spreads: &[Spread], limit: u64, here: impl Fn(&Spread) -> u64) -> Vec<u64> {
    let base: Vec<u64> = spreads.iter().map(here).collect();
    let mut row = base.clone();
    let mut by_depth = vec![root(&row)];
    for depth in 1..=MAX_VALUE_DEPTH {
        let next: Vec<u64> = spreads
            .iter()
            .map(|spread| {
                // A name is a text and has no parts of its own.
                let names = if depth == 1 { sum(&spread.names, &base) } else { 0 };
                met(&spread.members, &row).saturating_add(names).max(met(&spread.items, &row))
            })
            .collect();
        by_depth.push(root(&next));
        // Names count at the first depth only, so that equal rows before the second say nothing.
        if (next == row && depth > 1) || root(&next) > limit {
            break;
        }
        row = next;
    }
    by_depth
}

fn at(by_depth: &[u64], depth: usize) -> u64 {
    by_depth.get(depth).or(by_depth.last()).copied().unwrap_or_default()
}

fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

struct Count {
    steps: u64,
    /// The most steps at one part.
    worst: u64,
}

fn root(row: &[u64]) -> u64 {
    row.first().copied().unwrap_or_default()
}

fn sum(ways: &[Way], row: &[u64]) -> u64 {
    ways.iter().fold(0, |sum: u64, (target, times)| {
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
