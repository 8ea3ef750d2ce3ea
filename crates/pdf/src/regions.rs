//! The order in which the parts of a page are read: columns one after the other, tables row by row.

mod gutter;
mod table;

use self::gutter::Group;
use super::lines::{self, Line};
use super::script;
use super::words::Word;

/// The deepest nesting of columns within columns.
const DEPTH: usize = 12;

/// A part of a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    Lines(Vec<Line>),
    /// Rows of cells.
    Table(Vec<Vec<String>>),
}

/// A table whose words are known, with its place on the page.
pub(super) type Tables = Vec<Vec<Vec<String>>>;

/// The parts of a page or of a box on it, in reading order. Words may represent `tables`.
pub(super) fn blocks(words: Vec<Word>, tables: &Tables) -> Vec<Block> {
    let mut out = Vec::new();
    read(words, tables, 0, &mut out);
    out
}

fn read(words: Vec<Word>, tables: &Tables, depth: usize, out: &mut Vec<Block>) {
    let found = if depth < DEPTH { gutter::find(&words) } else { None };
    let Some(Group { above, left, right, below, columns }) = found else {
        return flat(words, tables, out);
    };
    read(above, tables, depth + 1, out);
    if columns {
        let (first, second) = reading_order(left, right);
        read(first, tables, depth + 1, out);
        read(second, tables, depth + 1, out);
    } else {
        let mut words = left;
        words.extend(right);
        match table::rows(&words) {
            Some(rows) => out.push(Block::Table(rows)),
            None => flat(words, tables, out),
        }
    }
    read(below, tables, depth + 1, out);
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
        words.iter().filter(|word| word.table.is_none()).map(|word| word.size).collect();
    if sizes.is_empty() {
        return 10.0;
    }
    let middle = sizes.len() / 2;
    *sizes.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Lines from top to bottom, with the tables between them.
fn flat(words: Vec<Word>, tables: &Tables, out: &mut Vec<Block>) {
    let (mut marks, words): (Vec<Word>, Vec<Word>) =
        words.into_iter().partition(|word| word.table.is_some());
    marks.sort_by(|one, other| one.y.total_cmp(&other.y));
    let mut marks = marks.into_iter().peekable();
    let mut open: Vec<Line> = Vec::new();
    for line in lines::lines(words) {
        while let Some(mark) = marks.next_if(|mark| mark.area().center().y < line.y) {
            end(&mut open, out);
            push_table(&mark, tables, out);
        }
        open.push(line);
    }
    end(&mut open, out);
    marks.for_each(|mark| push_table(&mark, tables, out));
}

fn end(open: &mut Vec<Line>, out: &mut Vec<Block>) {
    if !open.is_empty() {
        out.push(Block::Lines(std::mem::take(open)));
    }
}

fn push_table(mark: &Word, tables: &Tables, out: &mut Vec<Block>) {
    if let Some(rows) = mark.table.and_then(|number| tables.get(number)) {
        out.push(Block::Table(rows.clone()));
    }
}
