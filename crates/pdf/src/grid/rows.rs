//! From cells to rows of text.

use crate::lines::Line;
use crate::regions::Block;

/// A gap of this many font sizes separates cells.
pub(super) const WIDE_GAP: f64 = 1.8;

/// A cell of a ruled table.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) lines: Vec<Line>,
    /// How wide the column is.
    pub(super) width: f64,
}

impl Cell {
    /// Its text, with the ends of its lines, at which words may be broken.
    fn text(&self) -> String {
        match self.lines.as_slice() {
            // Gaps may separate columns.
            [line] => line.text.clone(),
            lines => {
                let lines: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
                lines.join("\n").replace('\t', " ")
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether it has a label in smaller type above its text, as the boxes of a form have.
    fn is_labelled(&self) -> bool {
        matches!(self.lines.as_slice(), [label, rest @ ..]
            if !rest.is_empty() && rest.iter().all(|line| label.size < line.size * 0.9))
    }

    /// Whether it is the place of one character.
    fn is_comb(&self, size: f64) -> bool {
        self.width < size * 2.2
            && match self.lines.as_slice() {
                [] => true,
                [line] => line.text.chars().count() == 1,
                _ => false,
            }
    }
}

/// The rows of a table; `None` if fewer than two rows or columns have text, or if it is a form.
pub(super) fn table(rows: &[Vec<Cell>]) -> Option<Block> {
    if is_form(rows.iter().flatten()) {
        return None;
    }
    let combs: Vec<String> =
        rows.iter().map(|row| row_of_combs(row)).collect::<Option<_>>().unwrap_or_default();
    if !combs.is_empty() {
        let lines = rows.iter().zip(combs).filter_map(|(row, text)| as_line(row, text)).collect();
        return Some(Block::Boxed(lines));
    }
    let texts = rows
        .iter()
        .flat_map(|row| split(row).unwrap_or_else(|| vec![row.iter().map(Cell::text).collect()]));
    let mut texts: Vec<Vec<String>> =
        texts.filter(|row| row.iter().any(|cell| !cell.is_empty())).collect();
    let width = rows.first().map_or(0, Vec::len);
    let filled: Vec<usize> = (0..width)
        .filter(|column| {
            texts.iter().any(|row| row.get(*column).is_some_and(|cell| !cell.is_empty()))
        })
        .collect();
    if texts.len() < 2 || filled.len() < 2 {
        return None;
    }
    // Columns within a ruled one, which lines with gaps show.
    let parts = |column: usize| {
        let counts = texts.iter().map(|row| row[column].split('\t').count());
        let divided = counts.filter(|count| *count > 1);
        if divided.clone().count() > 1 { divided.max().unwrap_or(1) } else { 1 }
    };
    let widths: Vec<usize> = filled.iter().map(|column| parts(*column)).collect();
    for row in &mut texts {
        let mut cells: Vec<String> = Vec::new();
        for (column, width) in filled.iter().zip(&widths) {
            let end = cells.len() + width;
            match width {
                1 => cells.push(row[*column].replace('\t', " ")),
                _ => cells.extend(row[*column].split('\t').map(str::to_owned)),
            }
            cells.resize(end, String::new());
        }
        *row = cells;
    }
    Some(Block::Table(texts))
}

/// Whether most cells have a label of their own.
fn is_form<'a>(cells: impl Iterator<Item = &'a Cell>) -> bool {
    let filled: Vec<&Cell> = cells.filter(|cell| !cell.is_empty()).collect();
    filled.iter().filter(|cell| cell.is_labelled()).count() * 2 > filled.len()
}

/// One row of boxes: rows of a table if lines are missing between them, or else one line; `None` if a box has several lines.
pub(super) fn row(cells: &[Cell]) -> Option<Block> {
    if let Some(rows) = split(cells) {
        return Some(Block::Table(rows));
    }
    if cells.iter().any(|cell| cell.lines.len() > 1) {
        return None;
    }
    let text = join_combs(cells).join("\t");
    as_line(cells, text).map(|line| Block::Boxed(vec![line]))
}

fn as_line(cells: &[Cell], text: String) -> Option<Line> {
    let lines = || cells.iter().flat_map(|cell| &cell.lines);
    let (first, last) = (lines().next()?, lines().last()?);
    Some(Line { text, x: (first.x.0, last.x.1), ..first.clone() })
}

/// The texts of filled cells; the characters of adjacent narrow ones are one text.
fn join_combs(cells: &[Cell]) -> Vec<String> {
    let size = cells.iter().flat_map(|cell| &cell.lines).map(|line| line.size).fold(0.0, f64::max);
    let mut texts = Vec::new();
    let mut at = 0;
    while let Some(cell) = cells.get(at) {
        let combs = cells[at..].iter().take_while(|cell| cell.is_comb(size)).count();
        let row = &cells[at..at + combs];
        if combs > 3 && row.iter().filter(|cell| !cell.is_empty()).count() > 2 {
            let characters =
                row.iter().map(|it| if it.is_empty() { " ".into() } else { it.text() });
            texts.push(characters.collect::<String>().trim().to_owned());
            at += combs;
            continue;
        }
        if !cell.is_empty() {
            texts.push(cell.text());
        }
        at += 1;
    }
    texts
}

/// The text of a row in which every cell is the place of one character.
fn row_of_combs(cells: &[Cell]) -> Option<String> {
    match join_combs(cells).as_slice() {
        [text] if text.chars().count() > 1 && cells.iter().all(|cell| cell.lines.len() < 2) => {
            let single = |cell: &Cell| cell.text().chars().count() < 2;
            cells.iter().all(single).then(|| text.clone())
        }
        _ => None,
    }
}

/// The rows within one row of cells, where columns are ruled and rows are not: a row begins with each value.
fn split(cells: &[Cell]) -> Option<Vec<Vec<String>>> {
    if is_form(cells.iter()) {
        return None;
    }
    let level = |one: &Line, other: &Line| (one.y - other.y).abs() < one.size * 0.3;
    let anchors = cells.iter().enumerate().filter(|(_, cell)| is_values(&cell.lines));
    let anchors = anchors.filter(|(at, cell)| {
        let other = cells.iter().enumerate().filter(|(other, _)| other != at);
        let matches = |other: &Cell| {
            let matched = |line: &&Line| other.lines.iter().any(|it| level(line, it));
            cell.lines.iter().filter(matched).count() * 10 >= cell.lines.len() * 8
        };
        other.into_iter().any(|(_, other)| matches(other))
    });
    let (_, anchor) = anchors.max_by_key(|(_, cell)| cell.lines.len())?;
    let starts: Vec<f64> = anchor.lines.iter().map(|it| it.y - it.size * 0.3).collect();
    let mut rows: Vec<Vec<String>> = vec![vec![String::new(); cells.len()]; starts.len()];
    for (column, cell) in cells.iter().enumerate() {
        for line in &cell.lines {
            let row = starts.partition_point(|start| *start <= line.y).max(1) - 1;
            let text = &mut rows[row][column];
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&line.text.replace('\t', " "));
        }
    }
    Some(rows)
}

/// Whether most lines are values or end with a colon.
fn is_values(lines: &[Line]) -> bool {
    let value = |line: &&Line| is_number(&line.text) || line.text.trim_end().ends_with(':');
    lines.len() > 1 && lines.iter().filter(value).count() * 10 >= lines.len() * 8
}

/// Whether a text is a number, perhaps with a unit.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    digits > 0 && text.chars().filter(|it| it.is_alphabetic()).count() <= 3
}
