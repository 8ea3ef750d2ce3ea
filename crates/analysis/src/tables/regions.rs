//! Where the tables of a page are.

use documents::layout::{Area, PageLayout, PlacedWord};

use super::lattice::{self, Lattice};
use super::lines::{self, Line};
use super::rules::Rules;
use super::structure::structure;
use super::table::Table;
use super::{aligned, blocks, charts, stacks};

/// The most tables of one page.
const MOST: usize = 60;

/// With more boxes a page is a drawing.
const MOST_BOXES: usize = 600;

/// The lines of a page, drawn or typed.
pub(super) fn rules(page: &PageLayout) -> Rules {
    let typed = page.words.iter().filter(|word| lines::is_line(word)).map(|word| {
        let y = word.area.middle();
        Area::new(word.area.left, y, word.area.right, y)
    });
    let areas: Vec<Area> = page.rules.iter().copied().chain(typed).collect();
    Rules::new(&areas)
}

/// The edges of the boxes of a page.
pub(super) fn edges(page: &PageLayout) -> Rules {
    let edges = page.boxes.iter().flat_map(|area| {
        let Area { left, top, right, bottom } = *area;
        [
            Area::new(left, top, right, top),
            Area::new(left, bottom, right, bottom),
            Area::new(left, top, left, bottom),
            Area::new(right, top, right, bottom),
        ]
    });
    Rules::new(&edges.collect::<Vec<_>>())
}

/// The tables of a page, from top to bottom.
pub(super) fn find(page: &PageLayout) -> Vec<Table> {
    let rules = rules(page);
    let mut words: Vec<PlacedWord> =
        page.words.iter().filter(|word| !word.artifact).cloned().collect();
    let mut tables = ruled(&mut words, &rules);
    if are_cells(&page.boxes, &words) {
        tables.extend(ruled(&mut words, &edges(page)));
    }
    let lines = lines::lines(&words, &rules);
    for block in blocks::blocks(&lines, &rules) {
        tables.extend(from_block(&block, &rules));
    }
    words.retain(|word| {
        let (x, y) = (word.area.center(), word.area.middle());
        !tables.iter().any(|table| table.area.contains(x, y))
    });
    tables.extend(stacks::find(&words, &rules));
    tables.retain(|table| !charts::is_chart(table));
    tables.sort_by(|one, other| one.area.top.total_cmp(&other.area.top));
    tables.truncate(MOST);
    tables
}

/// Whether boxes are the backgrounds of cells: most have one text of their own. The bars of a chart have none.
fn are_cells(boxes: &[Area], words: &[PlacedWord]) -> bool {
    if !(6..=MOST_BOXES).contains(&boxes.len()) {
        return false;
    }
    let filled = boxes.iter().filter(|area| {
        words.iter().any(|word| area.contains(word.area.center(), word.area.middle()))
    });
    filled.count() * 10 >= boxes.len() * 7
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
        if let Some(table) =
            structure(&inside, &around).filter(|table| is_plausible(table, &around))
        {
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
