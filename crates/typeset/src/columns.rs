//! Widths of a table's columns: no word runs over into the next column.

use serde::Serialize;

use crate::inline::Run;
use crate::layout::{Layout, Style};

/// The smallest text of a table, as a part of the size of the document's text.
const SMALLEST: f64 = 0.5;
/// A place where a word may be broken that has none of its own.
const BREAK: char = '\u{200b}';

/// How a table is set.
#[derive(Debug, Serialize)]
pub(crate) struct Columns {
    /// The size of its text, as a part of the size of the document's text.
    size: f64,
    /// The space at both sides of a cell, in points.
    inset: f64,
    /// In points; none where the table fits as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    widths: Option<Vec<f64>>,
}

/// What a column needs, in points of text at full size.
#[derive(Clone, Copy, Debug, Default)]
struct Need {
    /// Its longest word.
    word: f64,
    /// Its longest line.
    line: f64,
}

/// Chooses the widths for rows of equal length, the header first. Breaks words where nothing else helps, and returns
/// whether it did.
pub(crate) fn fit(rows: &mut [Vec<Vec<Run>>], layout: &Layout) -> (Columns, bool) {
    let count = rows.first().map_or(0, Vec::len);
    let points = if layout.style == Style::Letter { 11.0 } else { 10.5 };
    let mut needs = vec![Need::default(); count];
    for (at, row) in rows.iter().enumerate() {
        for (need, cell) in needs.iter_mut().zip(row) {
            measure(need, cell, if at == 0 { points * 1.08 } else { points });
        }
    }
    let total = |part: fn(&Need) -> f64| needs.iter().map(part).sum::<f64>();
    let (words, lines) = (total(|need| need.word), total(|need| need.line));
    let mut size: f64 = if count > 6 { 0.8 } else { 0.92 };
    let inset = if words * size + 12.0 * count as f64 > layout.text_width() { 3.0 } else { 6.0 };
    let room = layout.text_width() - 2.0 * inset * count as f64;
    if lines * size <= room {
        return (Columns { size, inset, widths: None }, false);
    }
    if words * size > room {
        size = (room / words).clamp(SMALLEST, size);
    }
    let breaks = words * size > room;
    let spare = (room - words * size).max(0.0);
    let longer = (lines - words).max(f64::EPSILON);
    let widths = needs.iter().map(|need| {
        let text = if breaks {
            need.word * room.max(0.0) / words
        } else {
            need.word * size + spare * (need.line - need.word) / longer
        };
        text + 2.0 * inset
    });
    let widths: Vec<f64> = widths.collect();
    if breaks {
        for row in rows {
            for (cell, width) in row.iter_mut().zip(&widths) {
                break_words(cell, (width - 2.0 * inset) / (size * points));
            }
        }
    }
    (Columns { size, inset, widths: Some(widths) }, breaks)
}

fn measure(need: &mut Need, cell: &[Run], points: f64) {
    let (mut word, mut line) = (0.0, 0.0);
    for span in cell.iter().flat_map(|run| &run.spans) {
        if span.line_break {
            (word, line) = (0.0, 0.0);
        }
        for c in span.text.chars() {
            let width = points * advance(c, span.code);
            line += width;
            word = if c.is_whitespace() || is_wide(c) { 0.0 } else { word + width };
            need.word = need.word.max(word.max(width));
            need.line = need.line.max(line);
        }
    }
}

/// Makes words longer than `limit` breakable.
fn break_words(cell: &mut [Run], limit: f64) {
    let mut word = 0.0;
    for span in cell.iter_mut().flat_map(|run| &mut run.spans) {
        let mut text = String::with_capacity(span.text.len());
        for c in span.text.chars() {
            let width = advance(c, span.code);
            word = if c.is_whitespace() { 0.0 } else { word + width };
            if word > limit {
                text.push(BREAK);
                word = width;
            }
            text.push(c);
        }
        span.text = text;
    }
}

/// The width of a character, as a part of the size of the text: rather more than it has.
fn advance(c: char, code: bool) -> f64 {
    match c {
        c if is_wide(c) => 1.0,
        _ if code => 0.66,
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ':' | ';' | '\'' | '|' | '(' | ')'
        | ' ' => 0.38,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        c if c.is_uppercase() => 0.72,
        _ => 0.54,
    }
}

/// Whether a line may be broken at both sides of a character of East Asian writing.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}')
}
