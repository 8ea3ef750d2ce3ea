//! Which pieces of a page are running text.

use documents::layout::Area;

use super::lines::{Line, Piece};

/// A piece of running text has at least this many words.
const WORDS: usize = 4;

/// Such a piece is at least this many font sizes wide.
const WIDTH: f64 = 11.0;

/// Lines of a paragraph are at most this many font sizes apart.
const PITCH: f64 = 2.1;

/// Paragraphs of one column are at most this many font sizes apart.
const GAP: f64 = 4.5;

/// For each line, for each piece, whether it is part of a paragraph.
pub(super) fn prose(lines: &[Line]) -> Vec<Vec<bool>> {
    let mut marks: Vec<Vec<bool>> =
        lines.iter().map(|line| vec![false; line.pieces.len()]).collect();
    let long: Vec<Vec<bool>> =
        lines.iter().map(|line| line.pieces.iter().map(is_long).collect()).collect();
    for at in 0..lines.len() {
        for below in following(lines, at) {
            for (one, upper) in lines[at].pieces.iter().enumerate() {
                if !long[at][one] && !marks[at][one] {
                    continue;
                }
                for (other, lower) in lines[below].pieces.iter().enumerate() {
                    let both = long[at][one] && long[below][other];
                    if !are_aligned(upper, lower, lines[at].size)
                        || !(both || (marks[at][one] && is_end(upper, lower, &lines[below])))
                        || has_values(lines, at, upper)
                        || has_values(lines, below, lower)
                    {
                        continue;
                    }
                    marks[at][one] |= both;
                    marks[below][other] = true;
                }
            }
        }
    }
    marks
}

/// The areas of columns of running text.
pub(super) fn walls(lines: &[Line], prose: &[Vec<bool>]) -> Vec<Area> {
    let mut walls: Vec<(Area, f64)> = Vec::new();
    for (line, marks) in lines.iter().zip(prose) {
        for (piece, _) in line.pieces.iter().zip(marks).filter(|(_, mark)| **mark) {
            let area = piece.area;
            let recent = walls.len().saturating_sub(12);
            let wall = walls[recent..].iter_mut().rev().find(|(wall, size)| {
                let shared = wall.right.min(area.right) - wall.left.max(area.left);
                area.top - wall.bottom < size * GAP && shared > wall.width().min(area.width()) * 0.6
            });
            match wall {
                Some((wall, _)) => *wall = wall.union(&area),
                None => walls.push((area, line.size)),
            }
        }
    }
    walls.into_iter().map(|(wall, _)| wall).collect()
}

/// The lines below one that are near enough for the same paragraph.
fn following(lines: &[Line], at: usize) -> std::ops::Range<usize> {
    let (baseline, size) = (lines[at].baseline, lines[at].size);
    let end = lines[at + 1..]
        .iter()
        .take(6)
        .take_while(|line| line.baseline - baseline < size * PITCH)
        .count();
    at + 1..at + 1 + end
}

/// Whether there are several numbers to the right of a piece, on its line or slightly above or below it, as in the row of
/// a table.
fn has_values(lines: &[Line], at: usize, piece: &Piece) -> bool {
    let near = lines[at.saturating_sub(2)..]
        .iter()
        .take(5)
        .filter(|line| (line.baseline - lines[at].baseline).abs() < lines[at].size * 0.8);
    let values = near
        .flat_map(|line| &line.pieces)
        .filter(|other| other.area.left >= piece.area.right && other.is_numeric());
    values.count() >= 2
}

fn is_long(piece: &Piece) -> bool {
    let size = piece.words.first().map_or(1.0, |word| word.size);
    let words = piece.words.iter().filter(|word| word.text.chars().any(char::is_alphabetic));
    let words = words.count();
    words >= WORDS && words * 2 > piece.words.len() && piece.area.width() > size * WIDTH
}

/// Whether two pieces have a common left edge, or the first line of a paragraph is indented.
fn are_aligned(upper: &Piece, lower: &Piece, size: f64) -> bool {
    let same = (upper.words[0].size - lower.words[0].size).abs() < size * 0.12;
    let shared = upper.area.right.min(lower.area.right) - upper.area.left.max(lower.area.left);
    let left = (upper.area.left - lower.area.left).abs() < size * 3.5;
    same && left && shared > 0.0
}

/// Whether a short piece alone on its line ends a paragraph.
fn is_end(upper: &Piece, lower: &Piece, line: &Line) -> bool {
    let size = line.size;
    (upper.area.left - lower.area.left).abs() < size * 0.5
        && lower.area.right <= upper.area.right + size
        && line.pieces.iter().all(|piece| {
            piece == lower
                || piece.area.left > upper.area.right
                || piece.area.right < upper.area.left
        })
}
