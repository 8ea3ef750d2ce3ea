//! Tables whose cells are found by the alignment of their text, with ruling lines as hints.

use std::collections::BTreeMap;

use documents::layout::{Area, PlacedWord};
use documents::table::Cell;

use super::columns::{self, Column};
use super::header::{self, Header};
use super::lines::{Line, Piece};
use super::rows::{Part, Row};
use super::rules::Rules;
use super::table::{Method, Table};

/// A space of this many font sizes is wider than that between words of one cell.
const WIDE_SPACE: f64 = 0.33;

/// Puts lines into rows and columns.
pub(super) fn table(lines: &[Line], rules: &Rules) -> Option<Table> {
    let columns = columns::columns(lines, rules);
    let area = lines.iter().map(|line| line.area).reduce(|all, area| all.union(&area))?;
    let rows: Vec<Row> = lines.iter().map(|line| row(line, &columns, rules)).collect();
    let head = header::height(&rows, rules, &area);
    let header = header::header(&rows[..head], &columns, rules);
    let mut table =
        Table { area, cells: Vec::new(), header_rows: header.levels, method: Method::Text };
    let Header { cells, levels } = header;
    table.cells.extend(cells);
    let body = merge(&rows[head..], rules, &area);
    for (at, rows) in body.into_iter().enumerate() {
        table.cells.extend(cells_of(&rows, levels + at));
    }
    Some(table)
}

fn row(line: &Line, columns: &[Column], rules: &Rules) -> Row {
    let mut parts: Vec<Part> = Vec::new();
    for piece in &line.pieces {
        let (first, last) = columns::range(columns, piece);
        for part in divide(piece, first, last, columns, rules) {
            match parts.last_mut() {
                Some(before) if before.last >= part.first => {
                    before.last = before.last.max(part.last);
                    part.piece.words.into_iter().for_each(|word| before.piece.push(word));
                }
                _ => parts.push(part),
            }
        }
    }
    Row { parts, area: line.area, baseline: line.baseline, size: line.size }
}

/// Divides a piece that covers several columns completely: they are so close that its words look like one text.
fn divide(
    piece: &Piece,
    first: usize,
    last: usize,
    columns: &[Column],
    rules: &Rules,
) -> Vec<Part> {
    let whole = || vec![Part { piece: piece.clone(), first, last }];
    if first == last {
        return whole();
    }
    let covered = &columns[first..=last];
    let mut groups: Vec<Vec<PlacedWord>> = vec![Vec::new(); covered.len()];
    for word in &piece.words {
        let single = Piece::new(word.clone());
        let (one, other) = columns::range(covered, &single);
        if one != other {
            return whole();
        }
        groups[one].push(word.clone());
    }
    let size = piece.words.first().map_or(1.0, |word| word.size);
    let underlined = rules.horizontal.iter().any(|rule| {
        rule.at > piece.area.middle()
            && rule.at < piece.area.bottom + size
            && rule.start <= piece.area.left + 1.0
            && rule.end >= piece.area.right - 1.0
            && rule.length() < (columns[last].right - columns[first].left) * 1.25
    });
    let numeric = groups
        .iter()
        .filter_map(|group| Piece::of(group.clone()))
        .filter(|group| group.words.iter().all(|word| word.text.chars().any(char::is_numeric)))
        .count();
    let full = groups.iter().all(|group| !group.is_empty());
    let wide = piece.area.width() > (columns[last].right - columns[first].left) * 0.8;
    let gaps = groups.windows(2).all(|pair| {
        let (before, after) = (pair[0].last(), pair[1].first());
        before
            .zip(after)
            .is_some_and(|(before, after)| after.area.left - before.area.right > size * WIDE_SPACE)
    });
    let apart = numeric + 1 >= groups.len() || (wide && (groups.len() > 2 || gaps));
    if !full || underlined || !apart {
        return whole();
    }
    let divided = groups.into_iter().enumerate().filter_map(|(at, group)| {
        Some(Part { piece: Piece::of(group)?, first: first + at, last: first + at })
    });
    divided.collect()
}

/// Joins lines that make up one row.
pub(super) fn merge(rows: &[Row], rules: &Rules, area: &Area) -> Vec<Vec<Row>> {
    let ruled = ruled(rows, rules, area);
    let pitch = pitch(rows);
    let bands: Vec<&[Row]> =
        rows.chunk_by(|before, row| !is_between(rules, before, row, area)).collect();
    let several = bands.len() > 2;
    let mut merged: Vec<Vec<Row>> = Vec::new();
    for band in bands {
        if ruled || (several && is_one_row(band)) {
            merged.push(band.to_vec());
            continue;
        }
        let groups = band.chunk_by(|before, row| {
            let apart = row.baseline - before.baseline;
            apart < row.size.min(before.size) * 0.75 || continues(before, row, pitch)
        });
        merged.extend(groups.map(<[Row]>::to_vec));
    }
    merged
}

/// Whether the lines between two ruled lines are the wrapped text of one row.
fn is_one_row(band: &[Row]) -> bool {
    let is_valued =
        |row: &&Row| row.parts.iter().any(|part| part.first > 0 && part.piece.is_numeric());
    let valued = band.iter().filter(is_valued).count();
    let continued =
        band.iter().skip(1).flat_map(|row| &row.parts).any(|part| part.piece.continues());
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for part in band.iter().flat_map(|row| &row.parts) {
        *counts.entry(part.first).or_default() += 1;
    }
    let uneven = counts.values().min() != counts.values().max();
    band.len() == 1 || (valued <= 1 && (continued || uneven))
}

/// Whether a line that crosses most of the table lies between two rows.
fn is_between(rules: &Rules, before: &Row, row: &Row, area: &Area) -> bool {
    let covered: f64 = rules
        .horizontal
        .iter()
        .filter(|rule| rule.at > before.area.middle() && rule.at < row.area.middle())
        .map(|rule| rule.within(area.left, area.right))
        .sum();
    covered > area.width() * 0.6
}

/// Whether most rows are separated by lines, so that all text between two lines is one row.
fn ruled(rows: &[Row], rules: &Rules, area: &Area) -> bool {
    let gaps = rows.windows(2).filter(|pair| is_between(rules, &pair[0], &pair[1], area)).count();
    let valued = rows.iter().filter(|row| !row.only_stub()).count();
    let twice = rows.windows(2).any(|pair| {
        let both = |row: &Row| {
            row.parts.iter().filter(|part| part.piece.is_numeric() && part.first > 0).count() > 0
                && row.stub().is_some()
        };
        !is_between(rules, &pair[0], &pair[1], area) && both(&pair[0]) && both(&pair[1])
    });
    gaps >= 2 && (gaps + 1) * 5 >= valued * 2 && !twice
}

/// The usual distance of rows that have values.
fn pitch(rows: &[Row]) -> f64 {
    let mut steps: Vec<f64> = rows
        .windows(2)
        .filter(|pair| !pair[0].only_stub() && !pair[1].only_stub())
        .map(|pair| pair[1].baseline - pair[0].baseline)
        .collect();
    if steps.is_empty() {
        return 0.0;
    }
    let middle = steps.len() / 2;
    *steps.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Whether a line continues the cells of the one above.
fn continues(before: &Row, row: &Row, pitch: f64) -> bool {
    let apart = row.baseline - before.baseline;
    let size = row.size.max(before.size);
    if apart > size * 1.6 {
        return false;
    }
    let tight = pitch > 0.0 && apart < pitch * 0.87;
    let lower = |row: &Row| row.parts.iter().all(|part| part.piece.continues());
    match (before.only_stub(), row.only_stub()) {
        // The values of both are separate.
        (false, false) => {
            let below =
                row.parts.iter().all(|part| before.fills(part.first) && !part.piece.is_numeric());
            row.stub().is_none() && below
        }
        (true, true) => lower(row),
        (true, false) => {
            tight || row.stub().is_some_and(|stub| stub.continues() && !stub.is_numeric())
        }
        (false, true) => tight || lower(row),
    }
}

pub(super) fn cells_of(rows: &[Row], at: usize) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for part in rows.iter().flat_map(|row| &row.parts) {
        let known =
            cells.iter_mut().find(|cell| cell.col <= part.last && part.first <= cell.col_end);
        match known {
            Some(cell) => {
                cell.text.push(' ');
                cell.text.push_str(&part.piece.text());
            }
            None => {
                let alone = rows.iter().map(|row| row.parts.len()).sum::<usize>() == 1;
                // A heading of a group of rows may be longer than its column.
                let last = if alone && part.first == 0 { 0 } else { part.last };
                cells.push(Cell {
                    row: at,
                    col: part.first,
                    row_end: at,
                    col_end: last,
                    text: part.piece.text(),
                });
            }
        }
    }
    cells
}
