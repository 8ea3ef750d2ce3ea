//! Tables on pages: where they are, and which cells they have.

mod aligned;
mod blocks;
mod charts;
mod columns;
mod header;
mod lattice;
mod lines;
mod prose;
mod regions;
mod rules;
mod stacks;
#[cfg(test)]
mod tests;

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
    let reach = area.grow(8.0);
    let rules = regions::rules(page).within(&reach);
    let ruled = by_lines(&words, &rules).or_else(|| {
        let edges = regions::edges(page).within(&reach);
        by_lines(&words, &edges).filter(|_| rules.vertical.is_empty())
    });
    let table = ruled.or_else(|| aligned::table(&lines::lines(&words, &rules), &rules));
    table.map(sorted)
}

/// The table that words and lines make up.
fn structure(words: &[PlacedWord], rules: &Rules) -> Option<Table> {
    let table =
        by_lines(words, rules).or_else(|| aligned::table(&lines::lines(words, rules), rules));
    table.map(sorted)
}

/// The table that lines divide into cells, if nearly all words are in them.
fn by_lines(words: &[PlacedWord], rules: &Rules) -> Option<Table> {
    let lattice = Lattice::new(rules)?;
    let area = lattice.area().grow(2.0);
    let outside =
        words.iter().filter(|word| !area.contains(word.area.center(), word.area.middle()));
    if outside.count() * 20 > words.len() {
        return None;
    }
    lattice.table(words, rules)
}

fn sorted(mut table: Table) -> Table {
    table.cells.sort_by_key(|cell| (cell.row, cell.col));
    table
}
