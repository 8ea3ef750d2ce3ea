//! From lines to paragraphs.

#[cfg(test)]
mod tests;

use super::lines::Line;
use super::marker::{self, Marker};
use super::regions::Block;

/// A box with more lines may have several paragraphs.
const SHORT_BOX: usize = 6;

/// A paragraph, a list item, a piece of code or a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Paragraph {
    Text {
        lines: Vec<String>,
        size: f64,
        /// Whether it is in a box, so that it is not joined with other text.
        boxed: bool,
    },
    Item {
        marker: Marker,
        indent: f64,
        lines: Vec<String>,
        size: f64,
    },
    Code {
        lines: Vec<String>,
    },
    Table {
        rows: Vec<Vec<String>>,
    },
}

/// Splits blocks into paragraphs, and joins those that go on in the next column.
pub(super) fn paragraphs(blocks: &[Block]) -> Vec<Paragraph> {
    let mut all: Vec<Paragraph> = Vec::new();
    for block in blocks {
        match block {
            Block::Table(rows) => all.push(Paragraph::Table { rows: rows.clone() }),
            Block::Boxed(lines) => all.extend(boxed(lines)),
            Block::Lines(lines) => {
                let mut paragraphs = split(lines).into_iter();
                if let Some(first) = paragraphs.next() {
                    push_or_join(&mut all, first);
                }
                all.extend(paragraphs);
            }
        }
    }
    all
}

/// The paragraphs of a box. A label and the value below it belong together, whatever their sizes.
fn boxed(lines: &[Line]) -> Vec<Paragraph> {
    let is_item = |line: &Line| marker::split(&line.text).is_some_and(|it| it.0 == Marker::Bullet);
    if lines.len() <= SHORT_BOX && !lines.iter().any(is_item) && !lines.iter().all(|it| it.mono) {
        let size = lines.iter().map(|line| line.size).fold(f64::INFINITY, f64::min);
        let lines = lines.iter().map(|line| line.text.trim_end().to_owned()).collect();
        return vec![Paragraph::Text { lines, size, boxed: true }];
    }
    let mark = |paragraph| match paragraph {
        Paragraph::Text { lines, size, .. } => Paragraph::Text { lines, size, boxed: true },
        other => other,
    };
    split(lines).into_iter().map(mark).collect()
}

/// Adds a paragraph, or joins it to the last one if that goes on in it.
pub(super) fn push_or_join(all: &mut Vec<Paragraph>, next: Paragraph) {
    let joins = match (all.last(), &next) {
        (Some(Paragraph::Text { boxed: true, .. }), _)
        | (_, Paragraph::Text { boxed: true, .. }) => false,
        (
            Some(Paragraph::Text { lines, size, .. } | Paragraph::Item { lines, size, .. }),
            Paragraph::Text { lines: more, size: other, .. },
        ) => (size - other).abs() < size * 0.1 && goes_on(lines, more),
        _ => false,
    };
    match (all.last_mut(), next) {
        (
            Some(Paragraph::Text { lines, .. } | Paragraph::Item { lines, .. }),
            Paragraph::Text { lines: more, .. },
        ) if joins => lines.extend(more),
        (_, next) => all.push(next),
    }
}

/// Whether a sentence is continued: the first part has no end, and the second no start.
fn goes_on(lines: &[String], more: &[String]) -> bool {
    let (Some(last), Some(first)) = (lines.last(), more.first()) else { return false };
    let ends = last.trim_end().ends_with(['.', '!', '?', ':', ';', '。', '！', '？']);
    !ends && first.trim_start().starts_with(char::is_lowercase)
}

fn split(lines: &[Line]) -> Vec<Paragraph> {
    let usual = usual_step(lines);
    let left = lines.iter().map(|line| line.x.0).fold(f64::INFINITY, f64::min);
    let right = lines.iter().map(|line| line.x.1).fold(f64::NEG_INFINITY, f64::max);
    let mut all: Vec<Paragraph> = Vec::new();
    let mut above: Option<&Line> = None;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let code = code_lines(&lines[at..], usual);
        if code.len() > 1 {
            all.push(Paragraph::Code { lines: with_indents(code) });
            above = None;
            at += code.len();
            continue;
        }
        at += 1;
        let near = above.is_some_and(|above| belongs(above, line, usual));
        let text = line.text.trim_end().to_owned();
        let mark = marker::split(&line.text).map(|(marker, _)| marker);
        let mark = mark.filter(|marker| may_start_item(*marker, &text, all.last(), near));
        match (all.last_mut(), above) {
            _ if mark.is_some() => {
                let marker = mark.unwrap_or(Marker::Bullet);
                let (indent, size) = (line.x.0, line.size);
                all.push(Paragraph::Item { marker, indent, lines: vec![text], size });
            }
            (Some(Paragraph::Text { lines, .. }), Some(above))
                if near && !is_indented(above, line, left) =>
            {
                lines.push(text);
            }
            (Some(Paragraph::Item { lines, indent, .. }), Some(above))
                if near
                    && (line.x.0 > *indent + line.size * 0.3
                        || above.x.1 > right - (right - left) * 0.15) =>
            {
                lines.push(text);
            }
            _ => all.push(Paragraph::Text { lines: vec![text], size: line.size, boxed: false }),
        }
        above = Some(line);
    }
    all
}

/// Numbers and dashes also occur at the start of a line by chance.
fn may_start_item(marker: Marker, text: &str, last: Option<&Paragraph>, near: bool) -> bool {
    if marker == Marker::Bullet && !text.starts_with(['–', '—', '-', '*', '·']) {
        return true;
    }
    match last {
        Some(Paragraph::Text { lines, .. }) if near => lines
            .last()
            .is_some_and(|last| last.trim_end().ends_with(['.', ':', ';', ',', '!', '?'])),
        _ => true,
    }
}

/// Whether a line is the first of a paragraph by its indent.
fn is_indented(above: &Line, line: &Line, left: f64) -> bool {
    line.x.0 > left + line.size
        && above.x.0 < left + line.size * 0.5
        && above.text.trim_end().ends_with(['.', '!', '?', ':', '”', '"', '»'])
        && line.text.starts_with(|it: char| !it.is_lowercase())
}

/// The distance between lines that is usual here, in sizes of their type.
fn usual_step(lines: &[Line]) -> f64 {
    let step = |pair: &[Line]| (pair[1].y - pair[0].y) / pair[0].size.max(pair[1].size);
    let mut steps: Vec<f64> =
        lines.windows(2).map(step).filter(|step| (0.5..3.0).contains(step)).collect();
    if steps.is_empty() {
        return 1.2;
    }
    let middle = (steps.len() - 1) / 2;
    *steps.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Whether a line continues the paragraph of the one above: at the usual distance, in about the same size. Rows of a table
/// are further apart.
fn belongs(above: &Line, line: &Line, usual: f64) -> bool {
    let size = above.size.max(line.size);
    let step = (line.y - above.y) / size;
    let rows = above.text.contains('\t') && line.text.contains('\t');
    let most = if rows { 3.0 } else { (usual * 1.25).clamp(1.35, 3.0) };
    step > -0.3 && step < most && above.size.min(line.size) > size * 0.8
}

/// The lines at the start that are program code.
fn code_lines(lines: &[Line], usual: f64) -> &[Line] {
    let mut count = usize::from(lines.first().is_some_and(|line| line.mono));
    while count > 0 && lines.get(count).is_some_and(|line| line.mono) {
        let step = (lines[count].y - lines[count - 1].y) / lines[count].size;
        if step > usual.max(1.2) * 2.6 {
            break;
        }
        count += 1;
    }
    &lines[..count]
}

/// Code with its indents, which are not drawn as spaces.
fn with_indents(lines: &[Line]) -> Vec<String> {
    let left = lines.iter().map(|line| line.x.0).fold(f64::INFINITY, f64::min);
    let indent = |line: &Line| {
        let columns = ((line.x.0 - left) / (line.size * 0.6)).round();
        " ".repeat((columns as usize).min(80))
    };
    lines.iter().map(|line| format!("{}{}", indent(line), line.text.trim())).collect()
}
