//! What differs between two outlines, by id.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::markdown::one_line;
use crate::outline::{Outline, OutlineSection};

/// The id of the title.
const TITLE: &str = "title";

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    pub op: ChangeOp,
    /// The id of a section or question, or `title`.
    pub id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeOp {
    Added,
    Removed,
    /// Its text differs.
    Renamed,
    /// It has another place among those that stay.
    Moved,
}

/// A section or question: its text, and the section that it is in.
struct Part<'a> {
    id: &'a str,
    text: String,
    within: &'a str,
}

/// All changes from one outline to another: of the title, of sections, and of questions, each in the new order, with those
/// that were removed last. As few parts as possible count as moved.
pub fn changes(before: &Outline, after: &Outline) -> Vec<Change> {
    let mut found = Vec::new();
    if one_line(&before.title) != one_line(&after.title) {
        found.push(Change { op: ChangeOp::Renamed, id: TITLE.to_owned() });
    }
    compare(&sections(before), &sections(after), &mut found);
    compare(&questions(before), &questions(after), &mut found);
    found
}

fn sections(outline: &Outline) -> Vec<Part<'_>> {
    let sections = outline.sections.iter();
    sections
        .map(|OutlineSection { id, heading, .. }| Part { id, text: one_line(heading), within: "" })
        .collect()
}

fn questions(outline: &Outline) -> Vec<Part<'_>> {
    let parts = outline.sections.iter().flat_map(|section| {
        section.questions.iter().map(|question| Part {
            id: &question.id,
            text: one_line(&question.text),
            within: &section.id,
        })
    });
    parts.collect()
}

fn compare(before: &[Part<'_>], after: &[Part<'_>], found: &mut Vec<Change>) {
    let old: BTreeMap<&str, usize> =
        before.iter().enumerate().map(|(place, part)| (part.id, place)).collect();
    let kept: BTreeSet<&str> = after.iter().map(|part| part.id).collect();
    let stays = in_order(before, after, &old);
    let mut add = |op, id: &str| found.push(Change { op, id: id.to_owned() });
    for part in after {
        let Some(place) = old.get(part.id) else {
            add(ChangeOp::Added, part.id);
            continue;
        };
        if before[*place].text != part.text {
            add(ChangeOp::Renamed, part.id);
        }
        if !stays.contains(part.id) {
            add(ChangeOp::Moved, part.id);
        }
    }
    for part in before.iter().filter(|part| !kept.contains(part.id)) {
        add(ChangeOp::Removed, part.id);
    }
}

/// The parts that did not move: for each section, the longest run of parts that were in it before and have kept their order.
fn in_order<'a>(
    before: &[Part<'_>],
    after: &[Part<'a>],
    old: &BTreeMap<&str, usize>,
) -> BTreeSet<&'a str> {
    let mut shared: BTreeMap<&str, Vec<(usize, &'a str)>> = BTreeMap::new();
    for part in after {
        if let Some(place) = old.get(part.id).filter(|place| before[**place].within == part.within)
        {
            shared.entry(part.within).or_default().push((*place, part.id));
        }
    }
    let mut stays = BTreeSet::new();
    for parts in shared.values() {
        let places: Vec<usize> = parts.iter().map(|(place, _)| *place).collect();
        stays.extend(longest_rise(&places).into_iter().map(|index| parts[index].1));
    }
    stays
}

/// The indexes of the longest increasing subsequence, in n log n.
fn longest_rise(values: &[usize]) -> Vec<usize> {
    // The last index of the best subsequence of each length, and the index before each.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous = vec![None; values.len()];
    for (index, value) in values.iter().enumerate() {
        let length = ends.partition_point(|end| values[*end] < *value);
        previous[index] = length.checked_sub(1).map(|before| ends[before]);
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut rise = Vec::new();
    let mut next = ends.last().copied();
    while let Some(index) = next {
        rise.push(index);
        next = previous[index];
    }
    rise.reverse();
    rise
}
