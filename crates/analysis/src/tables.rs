//! Tables on pages: where they are, and which cells they have.

mod aligned;
mod blocks;
mod columns;
mod header;
mod lattice;
mod lines;
mod prose;
mod regions;
mod rules;

use documents::layout::{Area, PageLayout, PlacedWord};
pub use documents::table::Cell;

use self::lattice::Lattice;
use self::rules::Rules;

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

/// The tables of a page, from top to bottom.
pub fn find(page: &PageLayout) -> Vec<Table> {
    regions::find(page)
}

/// The table in a region of a page; `None` if it has no text.
pub fn in_region(page: &PageLayout, area: &Area) -> Option<Table> {
    let around = area.grow(2.0);
    let words: Vec<PlacedWord> = page
        .words
        .iter()
        .filter(|word| around.contains(word.area.center(), word.area.middle()))
        .cloned()
        .collect();
    let rules = regions::rules(page).within(&area.grow(8.0));
    structure(&words, &rules)
}

/// The table that words and lines make up.
fn structure(words: &[PlacedWord], rules: &Rules) -> Option<Table> {
    let ruled = Lattice::new(rules).filter(|lattice| {
        let area = lattice.area().grow(2.0);
        let outside =
            words.iter().filter(|word| !area.contains(word.area.center(), word.area.middle()));
        outside.count() * 20 <= words.len()
    });
    let ruled = ruled.and_then(|lattice| lattice.table(words, rules));
    let mut table = match ruled {
        Some(table) => table,
        None => aligned::table(&lines::lines(words, rules), rules)?,
    };
    table.cells.sort_by_key(|cell| (cell.row, cell.col));
    Some(table)
}
