//! Tables whose rows are separated by horizontal lines of equal length, and whose columns only by space.

use documents::layout::{Area, PlacedWord};

use super::lines::{self, Line};
use super::rules::{Rule, Rules};
use super::table::Table;
use super::{aligned, columns, lattice};

/// Ends of lines that are this close are at the same place.
const SAME: f64 = 4.0;

/// The fewest rows between lines.
const FEWEST: usize = 3;

/// Finds such tables among words that belong to no other table.
pub(super) fn find(words: &[PlacedWord], rules: &Rules) -> Vec<Table> {
    let mut stacks: Vec<Vec<Rule>> = Vec::new();
    for rule in rules.horizontal.iter().filter(|rule| rule.length() > 100.0) {
        let stack = stacks.iter_mut().find(|stack| {
            (stack[0].start - rule.start).abs() < SAME && (stack[0].end - rule.end).abs() < SAME
        });
        match stack {
            Some(stack) => stack.push(*rule),
            None => stacks.push(vec![*rule]),
        }
    }
    let long = stacks.into_iter().filter(|stack| stack.len() > FEWEST);
    long.flat_map(|stack| tables(&stack, words, rules)).collect()
}

/// The tables between the lines of a stack: runs of rows that have text in several columns.
fn tables(stack: &[Rule], words: &[PlacedWord], rules: &Rules) -> Vec<Table> {
    let bands: Vec<Vec<Line>> = stack
        .windows(2)
        .map(|pair| {
            let area = Area::new(pair[0].start, pair[0].at, pair[0].end, pair[1].at);
            let inside = words
                .iter()
                .filter(|word| area.contains(word.area.center(), word.area.middle()))
                .cloned();
            lines::lines(&inside.collect::<Vec<_>>(), rules)
        })
        .collect();
    let is_row = |band: &Vec<Line>| {
        columns::columns(band, &Rules::default()).len() > 1
            && band.iter().any(|line| line.pieces.len() > 1)
            && band.len() <= 12
    };
    let runs = bands.chunk_by(|one, other| is_row(one) && is_row(other));
    runs.filter(|run| run.len() >= FEWEST)
        .filter_map(|run| {
            let lines: Vec<Line> = run.concat();
            let area = lines.iter().map(|line| line.area).reduce(|all, area| all.union(&area))?;
            aligned::table(&lines, &rules.within(&area.grow(8.0)))
        })
        .filter(lattice::is_table)
        .collect()
}
