//! Tables: cells between ruled lines, or columns of aligned words.

mod aligned;
mod ruled;

use crate::layout::Layout;
use crate::marks::Rule;
use crate::word::{Box4, Word};

/// A table, in the pixels of its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub bbox: Box4,
    pub cells: Vec<Cell>,
    /// Whether ruled lines separate its cells.
    pub ruled: bool,
}

/// A cell; the ends are the last row and column that it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub row: usize,
    pub column: usize,
    pub row_end: usize,
    pub column_end: usize,
    pub text: String,
}

/// The tables of a picture, from top to bottom. `height` is the usual height of a character.
pub fn find(layout: &Layout, rules: &[Rule], height: f64) -> Vec<Table> {
    let mut tables = ruled::find(layout, rules, height);
    let aligned = aligned::find(layout);
    let free = aligned
        .into_iter()
        .filter(|table| !tables.iter().any(|ruled| overlaps(ruled.bbox, table.bbox)));
    let free: Vec<Table> = free.collect();
    tables.extend(free);
    tables.sort_by(|one, other| one.bbox[1].total_cmp(&other.bbox[1]));
    tables
}

impl Table {
    /// The text of each row and column; a cell that covers several is in the first.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let height = self.cells.iter().map(|cell| cell.row_end + 1).max().unwrap_or(0);
        let width = self.cells.iter().map(|cell| cell.column_end + 1).max().unwrap_or(0);
        let mut rows = vec![vec![String::new(); width]; height];
        for cell in &self.cells {
            rows[cell.row][cell.column].clone_from(&cell.text);
        }
        rows
    }

    /// The table as Markdown, its first row as the header.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for (index, row) in self.rows().iter().enumerate() {
            for cell in row {
                text.push_str("| ");
                text.push_str(&cell.replace('|', "\\|").replace('\n', " "));
                text.push(' ');
            }
            text.push_str("|\n");
            if index == 0 {
                text.push_str(&"| --- ".repeat(row.len()));
                text.push_str("|\n");
            }
        }
        text
    }
}

fn overlaps(one: Box4, other: Box4) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

/// Words in reading order, joined by blanks.
fn joined<'a>(words: impl IntoIterator<Item = &'a Word>) -> String {
    let words: Vec<&str> = words.into_iter().map(|word| word.text.as_str()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
