//! Redaction: the places to redact, what replaces them, and whether a result still has one of the values.

pub mod docx;
mod folding;
mod replacements;
mod search;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use folding::Folded;
use replacements::Replacements;
use search::Search;

/// How often values that come about by removing others are removed as well.
const ROUNDS: usize = 20;

/// Targets may together be this many times as long as the text, equal ones counted once; otherwise some of their values are
/// not searched, and every result has a leftover.
pub const MOST_OVERLAP: usize = 16;

/// What replaces a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// One block per character.
    #[default]
    Mask,
    /// The type in brackets.
    Label,
    /// Nothing.
    Remove,
    /// The type and a number, the same for equal values.
    Pseudonym,
}

/// A place to redact, in bytes, and the type that it has in labels and counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub label: String,
    pub place: Range<usize>,
}

/// What is replaced in a text.
#[derive(Debug, Default)]
pub struct Plan {
    edits: Vec<Edit>,
    values: Vec<String>,
    search: Search,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    label: String,
    place: Range<usize>,
    replacement: String,
}

impl Plan {
    /// Plans the redaction of the targets and of all other places that have the same values.
    pub fn new(text: &str, mut targets: Vec<Target>, mode: Mode) -> Self {
        targets.retain(|target| !target.place.is_empty());
        // Both the targets and what they are when joined: a value within another one is a value of its own.
        let joined = merge(targets.clone());
        let (searched, left_out) = values_at(text, targets.iter().chain(&joined));
        let mut search = Search::new(searched.iter().map(|(value, label)| (*value, *label)));
        if left_out {
            search.leave_out();
        }
        let values: Vec<String> = searched.into_keys().map(str::to_owned).collect();
        let hits = search.hits(text).into_iter();
        targets.extend(hits.map(|hit| Target { label: hit.label, place: hit.place }));
        let mut plan = Self { edits: Vec::new(), values, search };
        let mut targets = merge(targets);
        let mut replacements = Replacements::new(mode, text);
        for _ in 0..ROUNDS {
            plan.edits = replacements.edits(text, &targets);
            let made = plan.made_by_edits(text);
            if made.is_empty() {
                break;
            }
            let before = targets.clone();
            targets.extend(made);
            targets = merge(targets);
            if targets == before {
                break;
            }
        }
        plan
    }

    /// The text with all replacements.
    pub fn apply(&self, text: &str) -> String {
        self.applied(text).0
    }

    /// The text with all replacements, and where each kept part is in it and in the source.
    fn applied(&self, text: &str) -> (String, Vec<(Range<usize>, usize)>) {
        let mut out = String::with_capacity(text.len());
        let mut parts = Vec::with_capacity(self.edits.len() + 1);
        let mut at = 0;
        let ends = self.edits.iter().map(|edit| (edit.place.clone(), edit.replacement.as_str()));
        for (place, replacement) in ends.chain([(text.len()..text.len(), "")]) {
            let start = out.len();
            out.push_str(&text[at..place.start]);
            parts.push((start..out.len(), at));
            out.push_str(replacement);
            at = place.end;
        }
        (out, parts)
    }

    /// Places whose rests become one of the values when what is between them is replaced.
    fn made_by_edits(&self, text: &str) -> Vec<Target> {
        if self.edits.is_empty() {
            return Vec::new();
        }
        let (result, parts) = self.applied(text);
        let hits = self.search.hits(&result).into_iter();
        hits.filter_map(|hit| {
            let first = parts.partition_point(|(part, _)| part.end <= hit.place.start);
            let last =
                parts.partition_point(|(part, _)| part.start < hit.place.end).checked_sub(1)?;
            let (part, source) = parts.get(first)?;
            let start = source + hit.place.start.saturating_sub(part.start);
            let (part, source) = &parts[last];
            let end = source + hit.place.end.min(part.end) - part.start;
            (start < end).then_some(Target { label: hit.label, place: start..end })
        })
        .collect()
    }

    /// How often a redacted value is still in a text.
    pub fn leftovers(&self, text: &str) -> usize {
        self.search.hits(text).len() + usize::from(self.search.is_incomplete())
    }

    /// How many places of each type are redacted.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        self.counts_of(|_| true)
    }

    /// How many of the places that `counted` accepts are redacted.
    pub fn counts_of(&self, counted: impl Fn(&Range<usize>) -> bool) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for edit in self.edits.iter().filter(|edit| counted(&edit.place)) {
            *counts.entry(edit.label.clone()).or_default() += 1;
        }
        counts
    }

    /// Whether nothing is redacted.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The values that must not be left, as they were found.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether a place of the text overlaps with one that is redacted.
    pub fn touches(&self, place: Range<usize>) -> bool {
        !self.edits_within(&place).is_empty()
    }

    fn edits_within(&self, place: &Range<usize>) -> &[Edit] {
        let from = self.edits.partition_point(|edit| edit.place.end <= place.start);
        let to = self.edits.partition_point(|edit| edit.place.start < place.end);
        &self.edits[from..to.max(from)]
    }
}

/// The distinctive values at the places of targets, each with the label of the last one, and whether some are left out:
/// those that overlap may together be many times as long as the text.
fn values_at<'t>(
    text: &'t str,
    targets: impl DoubleEndedIterator<Item = &'t Target>,
) -> (BTreeMap<&'t str, &'t str>, bool) {
    let mut values = BTreeMap::new();
    let mut seen = HashSet::new();
    // Values that adjoin are searched for together as well.
    let mut room = (MOST_OVERLAP + 1) * text.len();
    for Target { label, place } in targets.rev() {
        if !seen.insert((place.start, place.end)) {
            continue;
        }
        let Some(left) = room.checked_sub(place.len()) else { return (values, true) };
        room = left;
        let value = &text[place.clone()];
        if search::is_distinctive(value) {
            values.entry(value).or_insert(label);
        }
    }
    (values, false)
}

/// What `find` marks in a text, also where it is broken by ends of lines or invisible characters.
pub fn found_in(text: &str, find: impl Fn(&str) -> Vec<Target>) -> Vec<Target> {
    let mut targets = find(text);
    let mut add = |form: &Folded| {
        let found = find(&form.text).into_iter();
        targets.extend(found.map(|target| Target { place: form.source(&target.place), ..target }));
    };
    let mut last = String::new();
    for keep_hyphens in [true, false] {
        let unbroken = Folded::unbroken(text, keep_hyphens);
        if unbroken.text == last {
            continue;
        }
        if unbroken.text != text {
            add(&unbroken);
        }
        if let Some(joined) = unbroken.joined() {
            add(&joined);
        }
        last = unbroken.text;
    }
    targets
}

/// How often one of the values is in a text.
pub fn leftovers(values: &[String], text: &str) -> usize {
    let search = Search::new(values.iter().map(|value| (value.as_str(), "")));
    search.hits(text).len() + usize::from(search.is_incomplete())
}

/// Joins targets that overlap; the first one's label stays.
fn merge(mut targets: Vec<Target>) -> Vec<Target> {
    targets.sort_by_key(|target| (target.place.start, std::cmp::Reverse(target.place.end)));
    let mut merged: Vec<Target> = Vec::with_capacity(targets.len());
    for target in targets {
        match merged.last_mut() {
            Some(last) if target.place.start < last.place.end => {
                last.place.end = last.place.end.max(target.place.end);
            }
            _ => merged.push(target),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
