//! Where the tables of a page are.

use documents::layout::{Area, PageLayout, PlacedWord};

use super::lattice::{self, Lattice};
use super::lines::{self, Line};
use super::rules::Rules;
use super::{Table, aligned, blocks, structure};

/// The most tables of one page.
const MOST: usize = 60;

/// The lines of a page, with the edges of its boxes.
pub(super) fn rules(page: &PageLayout) -> Rules {
    let mut areas = page.rules.clone();
    for area in &page.boxes {
        let Area { left, top, right, bottom } = *area;
        areas.extend([
            Area::new(left, top, right, top),
            Area::new(left, bottom, right, bottom),
            Area::new(left, top, left, bottom),
            Area::new(right, top, right, bottom),
        ]);
    }
    Rules::new(&areas)
}

/// The tables of a page, from top to bottom.
pub(super) fn find(page: &PageLayout) -> Vec<Table> {
    let rules = Rules::new(&page.rules);
    let mut words: Vec<PlacedWord> =
        page.words.iter().filter(|word| !word.artifact).cloned().collect();
    let mut tables = ruled(&mut words, &rules);
    let lines = lines::lines(&words, &rules);
    for block in blocks::blocks(&lines, &rules) {
        tables.extend(from_block(&block, &rules));
    }
    tables.sort_by(|one, other| one.area.top.total_cmp(&other.area.top));
    tables.truncate(MOST);
    for table in &mut tables {
        table.cells.sort_by_key(|cell| (cell.row, cell.col));
    }
    tables
}

/// Takes the words of tables that are drawn with lines.
fn ruled(words: &mut Vec<PlacedWord>, rules: &Rules) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut groups = rules.groups();
    groups.sort_by(|(one, _), (other, _)| one.top.total_cmp(&other.top));
    groups.retain(|(area, group)| {
        area.width() > 40.0 && area.height() > 12.0 && !group.horizontal.is_empty()
    });
    for (area, group) in groups.into_iter().take(MOST) {
        if group.vertical.is_empty() || group.horizontal.len() < 2 {
            continue;
        }
        let reach = area.grow(1.0);
        let (inside, outside): (Vec<PlacedWord>, Vec<PlacedWord>) = words
            .iter()
            .cloned()
            .partition(|word| reach.contains(word.area.center(), word.area.middle()));
        let around = rules.within(&reach);
        if let Some(table) = structure(&inside, &around).filter(|table| is_plausible(table, &around)) {
            *words = outside;
            tables.push(table);
        }
    }
    tables
}

/// Whether the lines are those of a table, and not of a chart or of a frame around text.
fn is_plausible(table: &Table, rules: &Rules) -> bool {
    let rows = table.cells.iter().map(|cell| cell.row_end + 1).max().unwrap_or(0);
    let columns = table.cells.iter().map(|cell| cell.col_end + 1).max().unwrap_or(0);
    let covered: usize = table
        .cells
        .iter()
        .map(|cell| (cell.row_end + 1 - cell.row) * (cell.col_end + 1 - cell.col))
        .sum();
    let longest = table.cells.iter().map(|cell| cell.text.len()).max().unwrap_or(0);
    lattice::is_table(table)
        && table.cells.len() >= 4
        && covered * 3 >= rows * columns
        && longest < 1500
        && Lattice::new(rules).is_some()
}

fn from_block(block: &[Line], rules: &Rules) -> Option<Table> {
    let area = block.iter().map(|line| line.area).reduce(|all, area| all.union(&area))?;
    let around = rules.within(&area.grow(8.0));
    let words: Vec<PlacedWord> = block
        .iter()
        .flat_map(|line| &line.pieces)
        .flat_map(|piece| piece.words.iter().cloned())
        .collect();
    let table = structure(&words, &around).or_else(|| aligned::table(block, &around))?;
    lattice::is_table(&table).then_some(table)
}
