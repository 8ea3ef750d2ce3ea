//! What changed between two texts, by paragraphs.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// Beyond this time the comparison gets coarser.
const BUDGET: Duration = Duration::from_secs(10);

/// Paragraphs that share less than this are another text, not a changed one.
const SAME: f64 = 0.4;

/// The most words of a paragraph that are compared.
const MOST_WORDS: usize = 5_000;

/// The most changes that are listed: a document of short lines may have millions.
const MOST_CHANGES: usize = 20_000;

/// A paragraph that was added, removed or changed; the places are in bytes of the two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Added { new: Range<usize> },
    Removed { old: Range<usize> },
    Changed { old: Range<usize>, new: Range<usize> },
}

/// The changes in their order, and how similar the texts are, from 0 to 1: the share of words that both have.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub changes: Vec<Change>,
    /// How many changes there are; only the first ones are listed.
    pub count: usize,
    pub similarity: f64,
}

impl Comparison {
    fn add(&mut self, change: Change) {
        self.count += 1;
        if self.changes.len() < MOST_CHANGES {
            self.changes.push(change);
        }
    }
}

/// A paragraph without copies of its text: there may be millions.
struct Paragraph<'t> {
    place: Range<usize>,
    text: &'t str,
    /// By its words, so that blanks do not matter.
    digest: u64,
    count: usize,
}

/// Compares two texts.
pub fn compare(old: &str, new: &str) -> Comparison {
    let (before, after) = (paragraphs(old), paragraphs(new));
    let keys =
        |list: &[Paragraph<'_>]| list.iter().map(|paragraph| paragraph.digest).collect::<Vec<_>>();
    let deadline = Some(Instant::now() + BUDGET);
    let ops =
        capture_diff_slices_deadline(Algorithm::Myers, &keys(&before), &keys(&after), deadline);
    let mut comparison = Comparison { changes: Vec::new(), count: 0, similarity: 1.0 };
    let mut common = 0.0;
    for op in ops {
        if let DiffOp::Equal { old_index, len, .. } = op {
            common += before[old_index..old_index + len]
                .iter()
                .map(|paragraph| paragraph.count as f64)
                .sum::<f64>();
        } else {
            common +=
                pair(&before[op.old_range()], &after[op.new_range()], deadline, &mut comparison);
        }
    }
    let count =
        |list: &[Paragraph<'_>]| list.iter().map(|paragraph| paragraph.count).sum::<usize>();
    let total = count(&before) + count(&after);
    if total > 0 {
        comparison.similarity = (2.0 * common / total as f64).clamp(0.0, 1.0);
    }
    comparison
}

/// Pairs what was removed with what was added in its place; returns the number of words that the pairs share.
fn pair(
    old: &[Paragraph<'_>],
    new: &[Paragraph<'_>],
    deadline: Option<Instant>,
    comparison: &mut Comparison,
) -> f64 {
    let (mut common, mut next) = (0.0, 0);
    for before in old {
        // Only the nearest are tried, so that long rewritten parts stay fast.
        let best = (next..new.len().min(next + 4))
            .filter(|index| may_be_same(before, &new[*index]))
            .map(|index| (index, shared(before, &new[index], deadline)))
            .max_by(|a, b| a.1.0.total_cmp(&b.1.0).then(b.0.cmp(&a.0)))
            .filter(|(_, (ratio, _))| *ratio >= SAME);
        let Some((index, (_, words))) = best else {
            comparison.add(Change::Removed { old: before.place.clone() });
            continue;
        };
        for added in &new[next..index] {
            comparison.add(Change::Added { new: added.place.clone() });
        }
        let (old, new) = (before.place.clone(), new[index].place.clone());
        comparison.add(Change::Changed { old, new });
        common += words;
        next = index + 1;
    }
    for added in &new[next..] {
        comparison.add(Change::Added { new: added.place.clone() });
    }
    common
}

/// Whether the lengths of two paragraphs allow that they share enough. Without this, each of many short paragraphs would read
/// the same long ones again.
fn may_be_same(old: &Paragraph<'_>, new: &Paragraph<'_>) -> bool {
    let (old, new) = (old.count.min(MOST_WORDS), new.count.min(MOST_WORDS));
    2.0 * old.min(new) as f64 / (old + new).max(1) as f64 >= SAME
}

/// The share of words that two paragraphs have in common in the same order, and their number.
fn shared(old: &Paragraph<'_>, new: &Paragraph<'_>, deadline: Option<Instant>) -> (f64, f64) {
    let words = |paragraph: &Paragraph<'_>| -> Vec<u64> {
        paragraph.text.split_whitespace().take(MOST_WORDS).map(|word| digest([word])).collect()
    };
    let (before, after) = (words(old), words(new));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, deadline);
    let equal: usize = ops
        .iter()
        .filter_map(|op| if let DiffOp::Equal { len, .. } = op { Some(*len) } else { None })
        .sum();
    let total = before.len() + after.len();
    (2.0 * equal as f64 / total.max(1) as f64, equal as f64)
}

/// Paragraphs are separated by blank lines; lines of tables and lists are their own.
fn paragraphs(text: &str) -> Vec<Paragraph<'_>> {
    let mut found: Vec<Paragraph<'_>> = Vec::new();
    let mut at = 0;
    for block in text.split("\n\n") {
        let start = at;
        at += block.len() + 2;
        let rows = block.lines().filter(|line| is_row(line)).count();
        if rows > 1 {
            let mut line_start = start;
            for line in block.split_inclusive('\n') {
                found.extend(paragraph(line, line_start));
                line_start += line.len();
            }
        } else {
            found.extend(paragraph(block, start));
        }
    }
    found
}

fn is_row(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['|', '-', '*', '•']) || line.contains('\t')
}

fn paragraph(block: &str, start: usize) -> Option<Paragraph<'_>> {
    let trimmed = block.trim();
    if trimmed.is_empty() {
        return None;
    }
    let inset = block.len() - block.trim_start().len();
    let place = start + inset..start + inset + trimmed.len();
    let count = trimmed.split_whitespace().count();
    Some(Paragraph { place, text: trimmed, digest: digest(trimmed.split_whitespace()), count })
}

fn digest<'t>(words: impl IntoIterator<Item = &'t str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.into_iter().for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests;
