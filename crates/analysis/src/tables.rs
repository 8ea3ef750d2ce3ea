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
mod rows;
mod rules;
mod stacks;
mod structure;
mod table;
#[cfg(test)]
mod tests;

use documents::layout::{Area, PageLayout, PlacedWord};

use self::structure::{by_lines, sorted};
pub use self::table::{Method, Table};

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
