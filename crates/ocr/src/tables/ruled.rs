//! Tables between ruled lines.

use super::{Cell, Table, joined};
use crate::layout::Layout;
use crate::marks::Rule;
use crate::word::Word;

/// More cells than these are a texture.
const MAX_CELLS: usize = 5_000;

pub(super) fn find(layout: &Layout, rules: &[Rule], height: f64) -> Vec<Table> {
    let near = (height * 0.5).max(3.0);
    let mut tables = Vec::new();
    for group in groups(rules, near) {
        tables.extend(grid(&group, near).and_then(|grid| grid.table(layout)));
    }
    tables
}

fn edges(rule: &Rule) -> [f64; 4] {
    [rule.left as f64, rule.top as f64, rule.right as f64, rule.bottom as f64]
}

/// Rules that touch each other, directly or through others.
fn groups(rules: &[Rule], near: f64) -> Vec<Vec<Rule>> {
    let mut left: Vec<Rule> = rules.to_vec();
    let mut groups = Vec::new();
    while let Some(first) = left.pop() {
        let mut group = vec![first];
        let mut at = 0;
        while at < group.len() {
            let one = edges(&group[at]);
            let touches = |rule: &Rule| {
                let other = edges(rule);
                one[0] - near < other[2]
                    && other[0] - near < one[2]
                    && one[1] - near < other[3]
                    && other[1] - near < one[3]
            };
            let (joined, rest) = left.into_iter().partition(|rule| touches(rule));
            left = rest;
            group.extend::<Vec<Rule>>(joined);
            at += 1;
        }
        groups.push(group);
    }
    groups
}

/// Rows and columns between rules.
struct Grid {
    /// The places of lines between columns and rows, with the borders.
    across: Vec<f64>,
    down: Vec<f64>,
    rules: Vec<Rule>,
    near: f64,
}

fn grid(rules: &[Rule], near: f64) -> Option<Grid> {
    let middle = |rule: &Rule| {
        let [left, top, right, bottom] = edges(rule);
        if rule.vertical { f64::midpoint(left, right) } else { f64::midpoint(top, bottom) }
    };
    let places = |vertical: bool| {
        let mut places: Vec<f64> =
            rules.iter().filter(|rule| rule.vertical == vertical).map(middle).collect();
        places.sort_unstable_by(f64::total_cmp);
        places.dedup_by(|later, first| *later - *first < near);
        places
    };
    let (across, down) = (places(true), places(false));
    let fits = across.len() > 1 && down.len() > 1 && across.len() + down.len() > 4;
    (fits && across.len() * down.len() < MAX_CELLS).then(|| Grid {
        across,
        down,
        rules: rules.to_vec(),
        near,
    })
}

impl Grid {
    fn table(&self, layout: &Layout) -> Option<Table> {
        let (columns, rows) = (self.across.len() - 1, self.down.len() - 1);
        let mut owner: Vec<usize> = (0..rows * columns).collect();
        for row in 0..rows {
            for column in 0..columns {
                let cell = row * columns + column;
                if column + 1 < columns && !self.separated(row, column, true) {
                    join(&mut owner, cell, cell + 1);
                }
                if row + 1 < rows && !self.separated(row, column, false) {
                    join(&mut owner, cell, cell + columns);
                }
            }
        }
        let mut words: Vec<Vec<&Word>> = vec![Vec::new(); rows * columns];
        for word in layout.words() {
            if let Some(cell) = self.cell_of(word) {
                words[owner[cell]].push(word);
            }
        }
        let mut cells = Vec::new();
        for (first, words) in
            words.into_iter().enumerate().filter(|(cell, _)| owner[*cell] == *cell)
        {
            let covered = || (0..owner.len()).filter(|cell| owner[*cell] == first);
            let (row, column) = (first / columns, first % columns);
            let row_end = covered().map(|cell| cell / columns).max().unwrap_or(row);
            let column_end = covered().map(|cell| cell % columns).max().unwrap_or(column);
            let column = covered().map(|cell| cell % columns).min().unwrap_or(column);
            cells.push(Cell { row, column, row_end, column_end, text: joined(words) });
        }
        let filled = cells.iter().filter(|cell| !cell.text.is_empty()).count();
        let bbox = [self.across[0], self.down[0], self.across[columns], self.down[rows]];
        (cells.len() > 1 && filled > 1).then_some(Table { bbox, cells, ruled: true })
    }

    /// Whether a rule is between a cell and the one to its right, or the one below.
    fn separated(&self, row: usize, column: usize, vertical: bool) -> bool {
        let (x, y) = if vertical {
            (self.across[column + 1], f64::midpoint(self.down[row], self.down[row + 1]))
        } else {
            (f64::midpoint(self.across[column], self.across[column + 1]), self.down[row + 1])
        };
        self.rules.iter().filter(|rule| rule.vertical == vertical).any(|rule| {
            let [left, top, right, bottom] = edges(rule);
            left - self.near < x
                && x < right + self.near
                && top - self.near < y
                && y < bottom + self.near
        })
    }

    fn cell_of(&self, word: &Word) -> Option<usize> {
        let x = f64::midpoint(word.bbox[0], word.bbox[2]);
        let y = f64::midpoint(word.bbox[1], word.bbox[3]);
        let between = |places: &[f64], at: f64| {
            let before = places.iter().filter(|place| **place <= at).count();
            before.checked_sub(1).filter(|index| index + 1 < places.len())
        };
        Some(between(&self.down, y)? * (self.across.len() - 1) + between(&self.across, x)?)
    }
}

/// Gives two cells one owner, the smaller one.
fn join(owner: &mut [usize], one: usize, other: usize) {
    let (keep, gone) = (owner[one].min(owner[other]), owner[one].max(owner[other]));
    for cell in owner.iter_mut().filter(|cell| **cell == gone) {
        *cell = keep;
    }
}
