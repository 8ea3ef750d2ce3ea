//! A table of a page.

use documents::layout::Area;
use documents::table::Cell;

/// How a table was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// By the lines that are drawn around its cells.
    Lines,
    /// By the alignment of its text.
    Text,
}

/// A table of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// In the coordinates of the layout.
    pub area: Area,
    /// The cells with text, row by row.
    pub cells: Vec<Cell>,
    pub header_rows: usize,
    pub method: Method,
}
