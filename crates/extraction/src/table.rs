//! Tables as cells that may cover several rows and columns.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// The most rows or columns of one cell.
const MOST_SPANNED: usize = 1_000;

/// The most columns of a table.
const MOST_COLUMNS: usize = 20_000;

/// The most places that cells of earlier rows take at once; further cells cover one row.
const MOST_TAKEN: usize = 1_000_000;

/// A cell; it covers `row..=row_end` and `col..=col_end`, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    pub row: usize,
    pub col: usize,
    pub row_end: usize,
    pub col_end: usize,
    pub text: String,
}

/// A table that a document describes as such.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// The slide or sheet, counted from 1; 1 where there are none.
    pub page: usize,
    /// The cells with text, row by row.
    pub cells: Vec<Cell>,
    pub header_rows: usize,
}

/// Puts cells into the first free places of their rows, as HTML does.
#[derive(Debug, Default)]
pub struct TableBuilder {
    cells: Vec<Cell>,
    /// Places that cells of earlier rows take.
    taken: HashSet<(usize, usize)>,
    rows: usize,
    col: usize,
    header_rows: usize,
}

impl TableBuilder {
    /// Begins a row; header rows count as such if they are at the top.
    pub fn begin_row(&mut self, is_header: bool) {
        if is_header && self.header_rows == self.rows {
            self.header_rows += 1;
        }
        self.rows += 1;
        self.col = 0;
    }

    /// Leaves columns of the row empty.
    pub fn skip(&mut self, columns: usize) {
        self.col = self.col.saturating_add(columns).min(MOST_COLUMNS);
    }

    /// Adds a cell to the row.
    pub fn cell(&mut self, text: String, columns: usize, rows: usize) {
        let Some(row) = self.rows.checked_sub(1) else { return };
        while self.taken.remove(&(row, self.col)) {
            self.col += 1;
        }
        if self.col >= MOST_COLUMNS {
            return;
        }
        let (columns, mut rows) = (columns.clamp(1, MOST_SPANNED), rows.clamp(1, MOST_SPANNED));
        if self.taken.len() + columns * (rows - 1) > MOST_TAKEN {
            rows = 1;
        }
        let (row_end, col_end) = (row + rows - 1, self.col + columns - 1);
        for below in row + 1..=row_end {
            self.taken.extend((self.col..=col_end).map(|col| (below, col)));
        }
        self.cells.push(Cell { row, col: self.col, row_end, col_end, text });
        self.col = col_end + 1;
    }

    /// Makes the cell above that covers this column reach down to the row; says whether there is one.
    pub fn extend_above(&mut self, columns: usize) -> bool {
        let (Some(row), col) = (self.rows.checked_sub(1), self.col) else { return false };
        let columns = columns.clamp(1, MOST_SPANNED);
        let recent = self.cells.iter_mut().rev().take(MOST_COLUMNS);
        let mut above = recent.take_while(|cell| cell.row + MOST_SPANNED > row);
        let found = above.find(|cell| cell.col == col && cell.row < row && cell.row_end + 1 >= row);
        let extended = found.is_some_and(|cell| {
            cell.row_end = row;
            true
        });
        self.skip(columns);
        extended
    }

    /// The table without empty cells, and without rows that only its spans have.
    pub fn finish(mut self, page: usize) -> Table {
        let last = self.rows.saturating_sub(1);
        self.cells.retain(|cell| !cell.text.is_empty());
        for cell in &mut self.cells {
            cell.row_end = cell.row_end.min(last);
        }
        self.cells.sort_by_key(|cell| (cell.row, cell.col));
        Table { page, header_rows: self.header_rows, cells: self.cells }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_take_the_places_that_cells_above_leave_free() {
        let mut builder = TableBuilder::default();
        builder.begin_row(true);
        builder.cell("a".to_owned(), 1, 2);
        builder.cell("b".to_owned(), 2, 1);
        builder.begin_row(false);
        builder.cell("c".to_owned(), 1, 9);
        builder.cell(String::new(), 1, 1);
        let table = builder.finish(1);
        let places: Vec<_> = table
            .cells
            .iter()
            .map(|cell| (cell.text.as_str(), cell.row, cell.col, cell.row_end, cell.col_end))
            .collect();
        assert_eq!(places, [("a", 0, 0, 1, 0), ("b", 0, 1, 0, 2), ("c", 1, 1, 1, 1)]);
        assert_eq!(table.header_rows, 1);
    }

    #[test]
    fn a_merged_cell_reaches_down_while_the_rows_continue_it() {
        let mut builder = TableBuilder::default();
        for row in 0..3 {
            builder.begin_row(false);
            if row == 0 {
                builder.cell("a".to_owned(), 1, 1);
            } else {
                assert!(builder.extend_above(1));
            }
            builder.cell(format!("b{row}"), 1, 1);
        }
        assert_eq!(builder.finish(1).cells[0].row_end, 2);
        assert!(!TableBuilder::default().extend_above(1));
    }
}
