//! The columns into which the pieces of several lines fall.

use std::collections::BTreeSet;

use super::lines::{Line, Piece};
use super::rules::Rules;

/// The most columns of a table.
const MOST: usize = 120;

/// A column: from where to where its text reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Column {
    pub(super) left: f64,
    pub(super) right: f64,
}

impl Column {
    pub(super) fn center(&self) -> f64 {
        (self.left + self.right) / 2.0
    }

    fn shared(&self, piece: &Piece) -> f64 {
        self.right.min(piece.area.right) - self.left.max(piece.area.left)
    }

    /// Whether a piece has a noticeable part in this column.
    pub(super) fn touches(&self, piece: &Piece) -> bool {
        let least = (piece.area.width() * 0.2).min((self.right - self.left) * 0.5).min(2.0);
        self.shared(piece) > least
    }
}

/// The columns of lines, from left to right.
pub(super) fn columns(lines: &[Line], rules: &Rules) -> Vec<Column> {
    let height = lines.last().map_or(0.0, |line| line.area.bottom)
        - lines.first().map_or(0.0, |line| line.area.top);
    let walls: Vec<f64> = rules
        .vertical
        .iter()
        .filter(|rule| rule.length() > height * 0.5)
        .map(|rule| rule.at)
        .collect();
    // Lines with many pieces come first: a piece across several of their columns is a heading.
    let mut order: Vec<&Line> = lines.iter().collect();
    order.sort_by_key(|line| std::cmp::Reverse(line.pieces.len()));
    let mut columns: Vec<Column> = Vec::new();
    for piece in order.iter().flat_map(|line| &line.pieces) {
        add(&mut columns, piece, &walls);
    }
    columns.sort_by(|one, other| one.left.total_cmp(&other.left));
    merge_halves(columns, lines, &walls)
}

fn add(columns: &mut Vec<Column>, piece: &Piece, walls: &[f64]) {
    let touched: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].touches(piece)).collect();
    match touched.as_slice() {
        [] if columns.len() < MOST => {
            columns.push(Column { left: piece.area.left, right: piece.area.right });
        }
        [one] => {
            let column = columns[*one];
            let mut left = column.left.min(piece.area.left);
            let mut right = column.right.max(piece.area.right);
            for other in columns.iter().enumerate().filter(|(at, _)| at != one).map(|(_, it)| it) {
                if other.right <= column.left + 2.0 {
                    left = left.max(other.right);
                } else if other.left >= column.right - 2.0 {
                    right = right.min(other.left);
                }
            }
            for wall in walls {
                if *wall <= column.left {
                    left = left.max(*wall);
                } else if *wall >= column.right {
                    right = right.min(*wall);
                }
            }
            columns[*one] = Column { left: left.min(column.left), right: right.max(column.right) };
        }
        _ => {}
    }
}

/// Joins two columns of which no line fills both: a heading and the values below it that do not overlap.
fn merge_halves(mut columns: Vec<Column>, lines: &[Line], walls: &[f64]) -> Vec<Column> {
    let mut filled = filled(&columns, lines);
    let mut at = 0;
    while at + 1 < columns.len() {
        let (one, other) = (columns[at], columns[at + 1]);
        let both = filled[at].intersection(&filled[at + 1]).next().is_some();
        let few = filled[at].len().min(filled[at + 1].len());
        let many = filled[at].len().max(filled[at + 1].len());
        let wall = walls.iter().any(|wall| (one.right - 1.0..=other.left + 1.0).contains(wall));
        let near =
            other.left - one.right < (one.right - one.left).max(other.right - other.left) * 1.5;
        if !both && !wall && near && (few <= 1 || few * 4 <= many) {
            columns[at] = Column { left: one.left, right: other.right };
            columns.remove(at + 1);
            let second = filled.remove(at + 1);
            filled[at].extend(second);
            at = at.saturating_sub(1);
        } else {
            at += 1;
        }
    }
    columns
}

/// For each column, the lines that have a piece in it and in no other.
fn filled(columns: &[Column], lines: &[Line]) -> Vec<BTreeSet<usize>> {
    let mut filled = vec![BTreeSet::new(); columns.len()];
    for (number, line) in lines.iter().enumerate() {
        for piece in &line.pieces {
            let mut touched = (0..columns.len()).filter(|at| columns[*at].touches(piece));
            if let (Some(only), None) = (touched.next(), touched.next()) {
                filled[only].insert(number);
            }
        }
    }
    filled
}

/// The columns that a piece touches, first and last.
pub(super) fn range(columns: &[Column], piece: &Piece) -> (usize, usize) {
    let touched: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].touches(piece)).collect();
    match (touched.first(), touched.last()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => {
            let center = piece.area.center();
            let distance = |at: &usize| {
                let column = columns[*at];
                (column.left - center).max(center - column.right)
            };
            let nearest =
                (0..columns.len()).min_by(|one, other| distance(one).total_cmp(&distance(other)));
            let nearest = nearest.unwrap_or(0);
            (nearest, nearest)
        }
    }
}
