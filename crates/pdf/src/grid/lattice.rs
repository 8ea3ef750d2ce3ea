//! The boxes into which ruled lines divide an area.

use hayro_interpret::kurbo::Rect;

use super::NEAR;
use crate::words::Word;

/// The most lines in each direction.
const LINES: usize = 200;

/// Rows and columns of a lattice; the end is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) rows: (usize, usize),
    pub(super) columns: (usize, usize),
}

/// Places that no line separates.
#[derive(Debug)]
pub(super) struct RuledBox {
    pub(super) span: Span,
    /// Whether lines enclose it; otherwise it is white space around boxes.
    pub(super) closed: bool,
    pub(super) words: Vec<Word>,
}

/// Lines that meet, and the boxes between them.
#[derive(Debug)]
pub(super) struct Lattice {
    xs: Vec<f64>,
    ys: Vec<f64>,
    /// For each place, row by row, the number of its box.
    places: Vec<usize>,
    pub(super) boxes: Vec<RuledBox>,
    /// The smallest span with all boxes that are enclosed.
    pub(super) span: Span,
}

impl Lattice {
    /// `None` if the lines enclose no box.
    pub(super) fn new(rules: &[Rect]) -> Option<Self> {
        let (horizontal, vertical): (Vec<Rect>, Vec<Rect>) =
            rules.iter().copied().partition(|rule| rule.width() > rule.height());
        if horizontal.is_empty() || vertical.is_empty() {
            return None;
        }
        let across: Vec<_> = horizontal.iter().map(|it| (it.y0, it.x0, it.x1)).collect();
        let down: Vec<_> = vertical.iter().map(|it| (it.x0, it.y0, it.y1)).collect();
        let xs = distinct(down.iter().map(|it| it.0).chain(ends_of_longest(&across)).collect());
        let ys = distinct(across.iter().map(|it| it.0).chain(ends_of_longest(&down)).collect());
        if !(2..LINES).contains(&xs.len()) || !(2..LINES).contains(&ys.len()) {
            return None;
        }
        let edges =
            Edges { across: drawn(&ys, &across), down: drawn(&xs, &down), xs: &xs, ys: &ys };
        let (places, boxes) = edges.boxes();
        let closed = boxes.iter().filter(|it| it.closed).map(|it| it.span);
        let span = closed.reduce(|one, other| Span {
            rows: (one.rows.0.min(other.rows.0), one.rows.1.max(other.rows.1)),
            columns: (one.columns.0.min(other.columns.0), one.columns.1.max(other.columns.1)),
        })?;
        Some(Self { places, boxes, span, xs, ys })
    }

    pub(super) fn area(&self) -> Rect {
        self.area_of(self.span)
    }

    pub(super) fn area_of(&self, span: Span) -> Rect {
        let Span { rows, columns } = span;
        Rect::new(self.xs[columns.0], self.ys[rows.0], self.xs[columns.1], self.ys[rows.1])
    }

    /// The box of a place.
    pub(super) fn at(&self, row: usize, column: usize) -> usize {
        self.places[row * (self.xs.len() - 1) + column]
    }

    /// The position of a vertical line.
    pub(super) fn x(&self, line: usize) -> f64 {
        self.xs[line]
    }

    /// The position of a horizontal line.
    pub(super) fn y(&self, line: usize) -> f64 {
        self.ys[line]
    }

    /// Puts words into their boxes.
    pub(super) fn fill(&mut self, words: Vec<Word>) {
        let index = |lines: &[f64], at: f64| {
            lines.partition_point(|line| *line <= at).clamp(1, lines.len() - 1) - 1
        };
        for word in words {
            let middle = word.area().center();
            let at = self.at(index(&self.ys, middle.y), index(&self.xs, middle.x));
            self.boxes[at].words.push(word);
        }
    }

    pub(super) fn into_words(self) -> impl Iterator<Item = Word> {
        self.boxes.into_iter().flat_map(|it| it.words)
    }

    /// Whether at least two boxes have words, and one of them is next to another.
    pub(super) fn has_boxes_side_by_side(&self) -> bool {
        let closed = self.boxes.iter().filter(|it| it.closed && !it.words.is_empty()).count();
        let side_by_side = |row: usize| {
            let columns = self.span.columns.0..self.span.columns.1;
            let mut filled =
                columns.map(|it| self.at(row, it)).filter(|it| !self.boxes[*it].words.is_empty());
            filled.next().is_some_and(|first| filled.any(|other| other != first))
        };
        closed > 1 && (self.span.rows.0..self.span.rows.1).any(side_by_side)
    }
}

/// For each line of a lattice the parts that are drawn, from start to end.
fn drawn(lines: &[f64], rules: &[(f64, f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let mut drawn: Vec<Vec<(f64, f64)>> = vec![Vec::new(); lines.len()];
    for (at, start, end) in rules.iter().copied() {
        let after = lines.partition_point(|line| *line <= at).clamp(1, lines.len() - 1);
        let near = if at - lines[after - 1] <= lines[after] - at { after - 1 } else { after };
        drawn[near].push((start, end));
    }
    drawn.into_iter().map(joined).collect()
}

/// Parts of a line that touch, as one.
fn joined(mut parts: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    parts.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for part in parts {
        match joined.last_mut().filter(|last| part.0 <= last.1 + NEAR) {
            Some(last) => last.1 = last.1.max(part.1),
            None => joined.push(part),
        }
    }
    joined
}

/// Where the longest lines end: a table may be open at its sides.
fn ends_of_longest(rules: &[(f64, f64, f64)]) -> Vec<f64> {
    let lines = distinct(rules.iter().map(|rule| rule.0).collect());
    if lines.len() < 2 {
        return rules.iter().flat_map(|rule| [rule.1, rule.2]).collect();
    }
    let parts: Vec<(f64, f64)> = drawn(&lines, rules).into_iter().flatten().collect();
    let longest = parts.iter().map(|part| part.1 - part.0).fold(0.0, f64::max);
    let long = parts.into_iter().filter(|part| part.1 - part.0 > longest * 0.95);
    long.flat_map(|part| [part.0, part.1]).collect()
}

/// Which edges of the places are drawn.
struct Edges<'a> {
    xs: &'a [f64],
    ys: &'a [f64],
    across: Vec<Vec<(f64, f64)>>,
    down: Vec<Vec<(f64, f64)>>,
}

impl Edges<'_> {
    /// Whether there is a line above a place.
    fn above(&self, row: usize, column: usize) -> bool {
        covers(&self.across[row], self.xs[column], self.xs[column + 1])
    }

    /// Whether there is a line to the left of a place.
    fn before(&self, row: usize, column: usize) -> bool {
        covers(&self.down[column], self.ys[row], self.ys[row + 1])
    }

    /// Whether all lines are as long as the lattice, so that it needs no lines around it.
    fn is_complete(&self) -> bool {
        let (width, height) =
            (self.xs[self.xs.len() - 1] - self.xs[0], { self.ys[self.ys.len() - 1] - self.ys[0] });
        let whole = |lines: &[Vec<(f64, f64)>], length: f64| {
            let drawn = lines.iter().filter(|parts| !parts.is_empty());
            let spans = |parts: &Vec<(f64, f64)>| {
                parts.iter().map(|part| part.1 - part.0).sum::<f64>() > length * 0.95
            };
            (drawn.clone().all(spans), drawn.count())
        };
        let ((across, rows), (down, columns)) =
            (whole(&self.across, width), whole(&self.down, height));
        across && down && rows + columns > 2
    }

    /// The number of the box of each place, and the boxes.
    fn boxes(&self) -> (Vec<usize>, Vec<RuledBox>) {
        let (width, height) = (self.xs.len() - 1, self.ys.len() - 1);
        let mut parent: Vec<usize> = (0..width * height).collect();
        for row in 0..height {
            for column in 0..width {
                let place = row * width + column;
                if column > 0 && !self.before(row, column) {
                    join(&mut parent, place, place - 1);
                }
                if row > 0 && !self.above(row, column) {
                    join(&mut parent, place, place - width);
                }
            }
        }
        let mut numbers: Vec<Option<usize>> = vec![None; width * height];
        let mut boxes: Vec<RuledBox> = Vec::new();
        let mut sides: Vec<Sides> = Vec::new();
        let mut places = Vec::with_capacity(width * height);
        for row in 0..height {
            for column in 0..width {
                let root = root(&mut parent, row * width + column);
                let number = *numbers[root].get_or_insert_with(|| {
                    let span = Span { rows: (row, row + 1), columns: (column, column + 1) };
                    boxes.push(RuledBox { span, closed: true, words: Vec::new() });
                    sides.push(Sides::default());
                    boxes.len() - 1
                });
                places.push(number);
                let span = &mut boxes[number].span;
                span.rows.1 = row + 1;
                span.columns.0 = span.columns.0.min(column);
                span.columns.1 = span.columns.1.max(column + 1);
                sides[number].add(self, row, column);
            }
        }
        if !self.is_complete() {
            for (it, sides) in boxes.iter_mut().zip(&sides) {
                it.closed = sides.are_closed(self);
            }
        }
        (places, boxes)
    }
}

/// Where a box reaches a side of the lattice.
#[derive(Debug, Default)]
struct Sides {
    left: Side,
    right: Side,
    top: Side,
    bottom: Side,
}

/// The first and the last place of a box at a side, and whether a line is drawn along all of them.
#[derive(Debug, Default)]
struct Side(Option<(usize, usize, bool)>);

impl Side {
    fn add(&mut self, at: usize, drawn: bool) {
        let (first, _, all) = self.0.unwrap_or((at, at, true));
        self.0 = Some((first, at, all && drawn));
    }

    /// Whether the box ends here: at a line, or where the lines before and after it end.
    fn is_closed(&self, ends: impl Fn(usize) -> bool) -> bool {
        self.0.is_none_or(|(first, last, drawn)| drawn || ends(first) && ends(last + 1))
    }
}

impl Sides {
    fn add(&mut self, edges: &Edges<'_>, row: usize, column: usize) {
        let (width, height) = (edges.xs.len() - 1, edges.ys.len() - 1);
        if column == 0 {
            self.left.add(row, edges.before(row, 0));
        }
        if column + 1 == width {
            self.right.add(row, edges.before(row, width));
        }
        if row == 0 {
            self.top.add(column, edges.above(0, column));
        }
        if row + 1 == height {
            self.bottom.add(column, edges.above(height, column));
        }
    }

    fn are_closed(&self, edges: &Edges<'_>) -> bool {
        let (width, height) = (edges.xs.len() - 1, edges.ys.len() - 1);
        self.left.is_closed(|row| edges.above(row, 0))
            && self.right.is_closed(|row| edges.above(row, width - 1))
            && self.top.is_closed(|column| edges.before(0, column))
            && self.bottom.is_closed(|column| edges.before(height - 1, column))
    }
}

/// Whether parts of a line cover most of the way from start to end.
fn covers(parts: &[(f64, f64)], start: f64, end: f64) -> bool {
    let shared = |part: &(f64, f64)| (part.1.min(end) - part.0.max(start)).max(0.0);
    parts.iter().map(shared).sum::<f64>() > (end - start) * 0.5
}

fn join(parent: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(parent, one), root(parent, other));
    parent[one] = other;
}

pub(super) fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

fn distinct(mut lines: Vec<f64>) -> Vec<f64> {
    lines.sort_by(f64::total_cmp);
    let mut distinct: Vec<f64> = Vec::new();
    for line in lines {
        if distinct.last().is_none_or(|last| line - last > NEAR) {
            distinct.push(line);
        }
    }
    distinct
}
