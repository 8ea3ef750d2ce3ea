//! Puts words and lines into the cells of one table.

use documents::layout::PlacedWord;

use super::lattice::Lattice;
use super::rules::Rules;
use super::table::Table;
use super::{aligned, lines};

/// The table that words and lines make up.
pub(super) fn structure(words: &[PlacedWord], rules: &Rules) -> Option<Table> {
    let table =
        by_lines(words, rules).or_else(|| aligned::table(&lines::lines(words, rules), rules));
    table.map(sorted)
}

/// The table that lines divide into cells, if nearly all words are in them.
pub(super) fn by_lines(words: &[PlacedWord], rules: &Rules) -> Option<Table> {
    let lattice = Lattice::new(rules)?;
    let area = lattice.area().grow(2.0);
    let outside =
        words.iter().filter(|word| !area.contains(word.area.center(), word.area.middle()));
    if outside.count() * 20 > words.len() {
        return None;
    }
    lattice.table(words, rules)
}

pub(super) fn sorted(mut table: Table) -> Table {
    table.cells.sort_by_key(|cell| (cell.row, cell.col));
    table
}
