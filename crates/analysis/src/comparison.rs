//! What changed between two texts, by paragraphs.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// Beyond this time the comparison gets coarser.
const BUDGET: Duration = Duration::from_secs(10);

/// Paragraphs that share less than this are another text, not a changed one.
const SAME: f64 = 0.4;

/// The most words of a paragraph that are compared.
const MOST_WORDS: usize = 5_000;

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
    pub similarity: f64,
}

struct Paragraph<'t> {
    place: Range<usize>,
    /// The text with single spaces, by which paragraphs are compared.
    plain: String,
    words: Vec<&'t str>,
}

/// Compares two texts.
pub fn compare(old: &str, new: &str) -> Comparison {
    let (before, after) = (paragraphs(old), paragraphs(new));
    let keys = |list: &[Paragraph<'_>]| {
        list.iter().map(|paragraph| paragraph.plain.clone()).collect::<Vec<_>>()
    };
    let deadline = Some(Instant::now() + BUDGET);
    let ops =
        capture_diff_slices_deadline(Algorithm::Myers, &keys(&before), &keys(&after), deadline);
    let mut comparison = Comparison { changes: Vec::new(), similarity: 1.0 };
    let mut common = 0.0;
    for op in ops {
        if let DiffOp::Equal { old_index, len, .. } = op {
            common += before[old_index..old_index + len]
                .iter()
                .map(|paragraph| paragraph.words.len() as f64)
                .sum::<f64>();
        } else {
            common += pair(
                &before[op.old_range()],
                &after[op.new_range()],
                deadline,
                &mut comparison.changes,
            );
        }
    }
    let count =
        |list: &[Paragraph<'_>]| list.iter().map(|paragraph| paragraph.words.len()).sum::<usize>();
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
    changes: &mut Vec<Change>,
) -> f64 {
    let (mut common, mut next) = (0.0, 0);
    for before in old {
        // Only the nearest are tried, so that long rewritten parts stay fast.
        let best = (next..new.len().min(next + 4))
            .map(|index| (index, shared(before, &new[index], deadline)))
            .max_by(|a, b| a.1.0.total_cmp(&b.1.0).then(b.0.cmp(&a.0)))
            .filter(|(_, (ratio, _))| *ratio >= SAME);
        let Some((index, (_, words))) = best else {
            changes.push(Change::Removed { old: before.place.clone() });
            continue;
        };
        for added in &new[next..index] {
            changes.push(Change::Added { new: added.place.clone() });
        }
        changes.push(Change::Changed { old: before.place.clone(), new: new[index].place.clone() });
        common += words;
        next = index + 1;
    }
    for added in &new[next..] {
        changes.push(Change::Added { new: added.place.clone() });
    }
    common
}

/// The share of words that two paragraphs have in common in the same order, and their number.
fn shared(old: &Paragraph<'_>, new: &Paragraph<'_>, deadline: Option<Instant>) -> (f64, f64) {
    let (before, after) = (
        &old.words[..old.words.len().min(MOST_WORDS)],
        &new.words[..new.words.len().min(MOST_WORDS)],
    );
    let ops = capture_diff_slices_deadline(Algorithm::Myers, before, after, deadline);
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
    let words: Vec<&str> = trimmed.split_whitespace().collect();
    let place = start + inset..start + inset + trimmed.len();
    Some(Paragraph { place, plain: words.join(" "), words })
}

#[cfg(test)]
mod tests;
