//! Tables without lines: rows whose words leave the same columns of white space.

use super::{Cell, Table, joined};
use crate::layout::Layout;
use crate::word::{Box4, Word, around};

/// A table has at least this many rows with several cells.
const FEWEST_ROWS: usize = 3;

/// Gaps wider than this, in heights of the line, separate cells.
const CELL_GAP: f64 = 1.1;

/// A line cut into cells.
struct Line<'a> {
    cells: Vec<&'a [Word]>,
}

pub(super) fn find(layout: &Layout) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut run: Vec<Line<'_>> = Vec::new();
    for words in layout.blocks.iter().flat_map(|block| &block.lines) {
        let line = Line { cells: cut(words) };
        if line.cells.len() > 1 {
            run.push(line);
        } else {
            tables.extend(table(&run));
            run.clear();
        }
    }
    tables.extend(table(&run));
    tables
}

/// The words between wide gaps.
fn cut(words: &[Word]) -> Vec<&[Word]> {
    let height = |word: &Word| word.bbox[3] - word.bbox[1];
    let wide = |one: &Word, other: &Word| {
        other.bbox[0] - one.bbox[2] > CELL_GAP * height(one).max(height(other))
    };
    words.chunk_by(|one, other| !wide(one, other)).collect()
}

fn bbox(words: &[Word]) -> Option<Box4> {
    words.iter().map(|word| word.bbox).reduce(around)
}

/// The table that rows make, if their cells fall into columns.
fn table(rows: &[Line<'_>]) -> Option<Table> {
    if rows.len() < FEWEST_ROWS {
        return None;
    }
    let columns = columns(rows);
    if columns.len() < 2 {
        return None;
    }
    let mut cells = Vec::new();
    let mut whole: Option<Box4> = None;
    for (row, line) in rows.iter().enumerate() {
        for words in &line.cells {
            let place = bbox(words)?;
            whole = Some(whole.map_or(place, |whole| around(whole, place)));
            let touches = |(left, right): &&(f64, f64)| place[0] < *right && *left < place[2];
            let column = columns.iter().position(|column| touches(&column))?;
            let column_end = columns.iter().rposition(|column| touches(&column))?;
            let text = joined(*words);
            cells.push(Cell { row, column, row_end: row, column_end, text });
        }
    }
    Some(Table { bbox: whole?, cells, ruled: false })
}

/// The ranges of x that cells share, from left to right. Rows with the most cells define them; a title over several
/// columns does not join these.
fn columns(rows: &[Line<'_>]) -> Vec<(f64, f64)> {
    let most = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let mut ranges: Vec<(f64, f64)> = rows
        .iter()
        .filter(|row| row.cells.len() == most)
        .flat_map(|row| &row.cells)
        .filter_map(|words| bbox(words).map(|place| (place[0], place[2])))
        .collect();
    ranges.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut columns: Vec<(f64, f64)> = Vec::new();
    for (left, right) in ranges {
        match columns.last_mut() {
            Some(last) if left < last.1 => last.1 = last.1.max(right),
            _ => columns.push((left, right)),
        }
    }
    columns
}
