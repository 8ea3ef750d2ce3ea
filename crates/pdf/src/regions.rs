//! The order in which the parts of a page are read: columns one after the other, tables row by row.

mod gutter;
mod table;

use self::gutter::Group;
use super::lines::{self, Line};
use super::script;
use super::words::Word;

/// The deepest nesting of columns within columns.
const DEPTH: usize = 12;

/// Insets that share less than this, in points, only touch.
const TOUCHING: f64 = 2.0;

/// A part of a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    Lines(Vec<Line>),
    /// Lines within a ruled box: no text outside continues them.
    Boxed(Vec<Line>),
    /// Rows of cells.
    Table(Vec<Vec<String>>),
}

/// Parts of a page that are read separately. A word with the number of one takes its place.
pub(super) type Insets = Vec<Vec<Block>>;

/// The parts of a page or of a box on it, in reading order. Words may represent `insets`.
pub(super) fn blocks(words: Vec<Word>, insets: &Insets) -> Vec<Block> {
    let mut out = Vec::new();
    read(words, insets, 0, &mut out);
    out
}

fn read(words: Vec<Word>, insets: &Insets, depth: usize, out: &mut Vec<Block>) {
    let found = if depth < DEPTH { gutter::find(&words) } else { None };
    let Some(Group { above, left, right, below, columns }) = found else {
        return flat(words, insets, depth, out);
    };
    read(above, insets, depth + 1, out);
    if columns {
        let (first, second) = reading_order(left, right);
        read(first, insets, depth + 1, out);
        read(second, insets, depth + 1, out);
    } else {
        let mut words = left;
        words.extend(right);
        match table::rows(&words) {
            Some(rows) => out.push(Block::Table(rows)),
            None => flat(words, insets, depth, out),
        }
    }
    read(below, insets, depth + 1, out);
}

/// Two columns in the order in which they are read: the main one before a narrow one in smaller type.
fn reading_order(left: Vec<Word>, right: Vec<Word>) -> (Vec<Word>, Vec<Word>) {
    let texts = left.iter().chain(&right).map(|word| word.text.as_str());
    if script::is_mostly_rtl(texts) {
        return (right, left);
    }
    let (size, other) = (median_size(&left), median_size(&right));
    let (width, other_width) = (width(&left), width(&right));
    if size < other * 0.93 && width < other_width * 0.6 { (right, left) } else { (left, right) }
}

fn width(words: &[Word]) -> f64 {
    let left = words.iter().map(|word| word.x.0).fold(f64::INFINITY, f64::min);
    let right = words.iter().map(|word| word.x.1).fold(f64::NEG_INFINITY, f64::max);
    (right - left).max(0.0)
}

/// The font size of the middle word.
pub(super) fn median_size(words: &[Word]) -> f64 {
    let mut sizes: Vec<f64> =
        words.iter().filter(|word| word.inset.is_none()).map(|word| word.size).collect();
    if sizes.is_empty() {
        return 10.0;
    }
    let middle = sizes.len() / 2;
    *sizes.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Lines from top to bottom, with the insets between them.
fn flat(words: Vec<Word>, insets: &Insets, depth: usize, out: &mut Vec<Block>) {
    let (mut marks, mut words): (Vec<Word>, Vec<Word>) =
        words.into_iter().partition(|word| word.inset.is_some());
    marks.sort_by(|one, other| one.top().total_cmp(&other.top()));
    let mut marks = marks.into_iter().peekable();
    while let Some(first) = marks.next() {
        let (top, mut bottom) = (first.top(), first.bottom());
        let mut level = vec![first];
        while let Some(mark) = marks.next_if(|mark| mark.top() < bottom - TOUCHING) {
            bottom = bottom.max(mark.bottom());
            level.push(mark);
        }
        let (above, rest) = words.into_iter().partition(|word| word.area().center().y < top);
        push_lines(above, out);
        let (right, below) = rest.into_iter().partition(|word| word.area().center().y < bottom);
        words = below;
        side_by_side(level, right, insets, depth, out);
    }
    push_lines(words, out);
}

/// Insets at one height, and the words between them, from left to right.
fn side_by_side(
    mut marks: Vec<Word>,
    mut words: Vec<Word>,
    insets: &Insets,
    depth: usize,
    out: &mut Vec<Block>,
) {
    marks.sort_by(|one, other| one.x.0.total_cmp(&other.x.0));
    let mut marks = marks.into_iter().peekable();
    while let Some(first) = marks.next() {
        let (left, mut right) = first.x;
        let mut column = vec![first];
        while let Some(mark) = marks.next_if(|mark| mark.x.0 < right - TOUCHING) {
            right = right.max(mark.x.1);
            column.push(mark);
        }
        let (before, rest) = words.into_iter().partition(|word| word.middle() < left);
        read(before, insets, depth + 1, out);
        let (between, rest) = rest.into_iter().partition(|word| word.middle() < right);
        words = rest;
        stack(column, between, insets, out);
    }
    read(words, insets, depth + 1, out);
}

/// Insets one below the other, and the lines between them.
fn stack(mut marks: Vec<Word>, words: Vec<Word>, insets: &Insets, out: &mut Vec<Block>) {
    marks.sort_by(|one, other| one.top().total_cmp(&other.top()));
    let mut marks = marks.into_iter().peekable();
    let mut open: Vec<Line> = Vec::new();
    for line in lines::lines(words) {
        while let Some(mark) = marks.next_if(|mark| mark.area().center().y < line.y) {
            end(&mut open, out);
            push_inset(&mark, insets, out);
        }
        open.push(line);
    }
    end(&mut open, out);
    marks.for_each(|mark| push_inset(&mark, insets, out));
}

fn push_lines(words: Vec<Word>, out: &mut Vec<Block>) {
    end(&mut lines::lines(words), out);
}

fn end(open: &mut Vec<Line>, out: &mut Vec<Block>) {
    if !open.is_empty() {
        out.push(Block::Lines(std::mem::take(open)));
    }
}

fn push_inset(mark: &Word, insets: &Insets, out: &mut Vec<Block>) {
    if let Some(blocks) = mark.inset.and_then(|number| insets.get(number)) {
        out.extend(blocks.iter().cloned());
    }
}
