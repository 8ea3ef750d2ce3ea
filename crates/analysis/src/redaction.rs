//! Redaction: the places to redact, what replaces them, and whether a result still has one of the values.

pub mod docx;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::{Deserialize, Serialize};

use crate::pii::Kind;

/// Shorter values, such as an age, are redacted only where they were found: elsewhere they are other words.
const SHORTEST_VALUE: usize = 4;

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
    search: Option<AhoCorasick>,
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
        targets.sort_by_key(|target| (target.place.start, target.place.end));
        let targets = merge(targets);
        let mut labels: HashMap<String, String> = HashMap::new();
        for target in &targets {
            let value = &text[target.place.clone()];
            if is_distinctive(value) {
                labels.entry(value.to_lowercase()).or_insert_with(|| target.label.clone());
            }
        }
        let mut values: Vec<String> = labels.keys().cloned().collect();
        values.sort();
        let search = searcher(&values);
        let mut plan = Self { edits: Vec::new(), values, search };
        let mut all = targets;
        for place in plan.occurrences(text) {
            if let Some(label) = labels.get(&text[place.clone()].to_lowercase()) {
                all.push(Target { label: label.clone(), place });
            }
        }
        all.sort_by_key(|target| (target.place.start, std::cmp::Reverse(target.place.end)));
        plan.edits = Replacements::new(mode).edits(text, merge(all));
        plan
    }

    /// The text with all replacements.
    pub fn apply(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for edit in &self.edits {
            out.push_str(&text[at..edit.place.start]);
            out.push_str(&edit.replacement);
            at = edit.place.end;
        }
        out.push_str(&text[at..]);
        out
    }

    /// How often a redacted value is still in a text, as words of its own.
    pub fn leftovers(&self, text: &str) -> usize {
        self.occurrences(text).len()
    }

    /// How many places of each type are redacted.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for edit in &self.edits {
            *counts.entry(edit.label.clone()).or_default() += 1;
        }
        counts
    }

    /// Whether nothing is redacted.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The values that must not be left, in lower case.
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

    fn occurrences(&self, text: &str) -> Vec<Range<usize>> {
        let Some(search) = &self.search else { return Vec::new() };
        let joined = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        search
            .find_iter(text)
            .map(|hit| hit.start()..hit.end())
            .filter(|place| {
                text.is_char_boundary(place.start)
                    && text.is_char_boundary(place.end)
                    && !joined(text[..place.start].chars().next_back())
                    && !joined(text[place.end..].chars().next())
            })
            .collect()
    }
}

/// How often one of the values is in a text, as words of their own.
pub fn leftovers(values: &[String], text: &str) -> usize {
    let plan = Plan { edits: Vec::new(), values: Vec::new(), search: searcher(values) };
    plan.leftovers(text)
}

fn searcher(values: &[String]) -> Option<AhoCorasick> {
    if values.is_empty() {
        return None;
    }
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .ascii_case_insensitive(true)
        .build(values)
        .ok()
}

/// Whether a value is long enough to be the same thing wherever it occurs. Words of labels are not.
fn is_distinctive(value: &str) -> bool {
    let label = Kind::ALL
        .iter()
        .any(|kind| kind.name().split('_').any(|word| word.eq_ignore_ascii_case(value)));
    value.chars().filter(|c| c.is_alphanumeric()).count() >= SHORTEST_VALUE && !label
}

/// Joins targets that overlap; the first one's label stays.
fn merge(targets: Vec<Target>) -> Vec<Target> {
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

/// Chooses replacements, the same for equal values.
struct Replacements {
    mode: Mode,
    numbers: HashMap<(String, String), usize>,
    counts: HashMap<String, usize>,
}

impl Replacements {
    fn new(mode: Mode) -> Self {
        Self { mode, numbers: HashMap::new(), counts: HashMap::new() }
    }

    fn edits(&mut self, text: &str, targets: Vec<Target>) -> Vec<Edit> {
        targets
            .into_iter()
            .filter(|target| !target.place.is_empty())
            .map(|target| {
                let replacement = self.replacement(&target.label, &text[target.place.clone()]);
                Edit { label: target.label, place: target.place, replacement }
            })
            .collect()
    }

    fn replacement(&mut self, label: &str, value: &str) -> String {
        match self.mode {
            Mode::Mask => value.chars().map(|c| if c.is_whitespace() { c } else { '█' }).collect(),
            Mode::Label => format!("[{label}]"),
            Mode::Remove => String::new(),
            Mode::Pseudonym => {
                let key: String = value
                    .chars()
                    .filter(|c| c.is_alphanumeric())
                    .flat_map(char::to_lowercase)
                    .collect();
                let counts = &mut self.counts;
                let number = *self.numbers.entry((label.to_owned(), key)).or_insert_with(|| {
                    let count = counts.entry(label.to_owned()).or_default();
                    *count += 1;
                    *count
                });
                format!("{label}_{number}")
            }
        }
    }
}

#[cfg(test)]
mod tests;
