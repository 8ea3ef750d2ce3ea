//! Tables whose cells are drawn with lines.

use documents::layout::{Area, PlacedWord};
use documents::table::Cell;

use super::aligned;
use super::lines::{self, Line, Piece};
use super::rows::{Part, Row};
use super::rules::{NEAR, Rules, distinct};
use super::table::{Method, Table};

/// The most lines of a table in each direction.
const MOST: usize = 250;

/// The most rows of heads.
const MOST_HEADS: usize = 4;

/// The lines of a table, and which of its cells are one.
#[derive(Debug)]
pub(super) struct Lattice {
    xs: Vec<f64>,
    ys: Vec<f64>,
    /// For each place, row by row, the rows and columns that its cell covers.
    spans: Vec<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    row: usize,
    col: usize,
    row_end: usize,
    col_end: usize,
}

impl Lattice {
    /// `None` if the lines do not divide an area into rectangular cells.
    pub(super) fn new(rules: &Rules) -> Option<Self> {
        let longest = rules.horizontal.iter().map(super::rules::Rule::length).fold(0.0, f64::max);
        let mut xs: Vec<f64> = rules.vertical.iter().map(|rule| rule.at).collect();
        // A table may be open at its sides.
        for rule in rules.horizontal.iter().filter(|rule| rule.length() > longest * 0.95) {
            xs.extend([rule.start, rule.end]);
        }
        let xs = distinct(xs, NEAR);
        let ys = distinct(rules.horizontal.iter().map(|rule| rule.at).collect(), NEAR);
        if !(2..MOST).contains(&xs.len()) || !(2..MOST).contains(&ys.len()) {
            return None;
        }
        let spans = spans(&xs, &ys, rules)?;
        Some(Self { xs, ys, spans })
    }

    fn width(&self) -> usize {
        self.xs.len() - 1
    }

    fn height(&self) -> usize {
        self.ys.len() - 1
    }

    pub(super) fn area(&self) -> Area {
        let (left, right) = (self.xs[0], self.xs[self.width()]);
        Area::new(left, self.ys[0], right, self.ys[self.height()])
    }

    fn span_at(&self, x: f64, y: f64) -> Span {
        let find = |lines: &[f64], at: f64| {
            lines.partition_point(|line| *line <= at).clamp(1, lines.len() - 1) - 1
        };
        self.spans[find(&self.ys, y) * self.width() + find(&self.xs, x)]
    }

    /// The table; `None` if text shows that there are more columns than lines.
    pub(super) fn table(&self, words: &[PlacedWord], rules: &Rules) -> Option<Table> {
        let mut filled: Vec<(Span, Vec<PlacedWord>)> = Vec::new();
        let mut known: std::collections::HashMap<(usize, usize), usize> = Default::default();
        for word in words {
            let span = self.span_at(word.area.center(), word.area.middle());
            let at = *known.entry((span.row, span.col)).or_insert_with(|| {
                filled.push((span, Vec::new()));
                filled.len() - 1
            });
            filled[at].1.push(word.clone());
        }
        let mut cells: Vec<(Span, Vec<Line>)> = filled
            .into_iter()
            .map(|(span, words)| (span, lines::lines(&words, rules)))
            .filter(|(_, lines)| !lines.is_empty())
            .collect();
        cells = cells.into_iter().flat_map(|(span, lines)| self.divide(span, lines)).collect();
        cells.sort_by_key(|(span, _)| (span.row, span.col));
        if self.hides_columns(&cells) {
            return None;
        }
        let table = self.divide_rows(without_captions(cells, self.width()));
        is_table(&table).then_some(table)
    }

    /// Divides a cell over several columns whose only line has a wide gap: heads without lines between them.
    fn divide(&self, span: Span, lines: Vec<Line>) -> Vec<(Span, Vec<Line>)> {
        let [line] = lines.as_slice() else { return vec![(span, lines)] };
        let columns = span.col_end + 1 - span.col;
        let apart = line
            .pieces
            .windows(2)
            .all(|pair| pair[1].area.left - pair[0].area.right > line.size * 1.5);
        if line.pieces.len() < 2 || line.pieces.len() > columns || !apart {
            return vec![(span, lines)];
        }
        let mut ends: Vec<usize> = Vec::new();
        for pair in line.pieces.windows(2) {
            let middle = (pair[0].area.right + pair[1].area.left) / 2.0;
            let distance = |at: &usize| (self.xs[*at + 1] - middle).abs();
            let least = ends.last().map_or(span.col, |end| end + 1);
            let end = (least..span.col_end)
                .min_by(|one, other| distance(one).total_cmp(&distance(other)));
            match end {
                Some(end) => ends.push(end),
                None => return vec![(span, lines)],
            }
        }
        ends.push(span.col_end);
        let mut col = span.col;
        let mut divided = Vec::new();
        for (piece, end) in line.pieces.iter().zip(ends) {
            let part = Line { pieces: vec![piece.clone()], area: piece.area, ..line.clone() };
            divided.push((Span { col, col_end: end, ..span }, vec![part]));
            col = end + 1;
        }
        divided
    }

    /// Whether many lines of a column have a wide gap at the same position.
    fn hides_columns(&self, cells: &[(Span, Vec<Line>)]) -> bool {
        (0..self.width()).any(|col| {
            let lines =
                cells.iter().filter(|(span, _)| span.col == col).flat_map(|(_, lines)| lines);
            let (mut all, mut gaps) = (0_usize, 0_usize);
            for line in lines {
                all += 1;
                gaps += usize::from(line.pieces.windows(2).any(|pair| {
                    pair[1].area.left - pair[0].area.right > line.size * 1.2
                        && (pair[1].is_numeric() || pair[0].is_numeric() || line.pieces.len() > 2)
                }));
            }
            gaps >= 2 && gaps * 3 >= all
        })
    }

    /// Divides rows that have several lines of values, and writes all cells.
    fn divide_rows(&self, cells: Vec<(Span, Vec<Line>)>) -> Table {
        let mut table =
            Table { area: self.area(), cells: Vec::new(), header_rows: 0, method: Method::Lines };
        // The rows of the result that each row of the lattice becomes.
        let mut starts: Vec<usize> = vec![0];
        let mut divided: Vec<Option<Vec<Vec<Row>>>> = Vec::new();
        for row in 0..self.height() {
            let inside: Vec<&(Span, Vec<Line>)> =
                cells.iter().filter(|(span, _)| (span.row..=span.row_end).contains(&row)).collect();
            let single = inside.iter().all(|(span, _)| span.row == span.row_end);
            let rows = if single { rows_of(&inside) } else { None };
            let empty = inside.is_empty() && self.ys[row + 1] - self.ys[row] < 6.0;
            let count = if empty { 0 } else { rows.as_ref().map_or(1, Vec::len) };
            starts.push(starts[row] + count);
            divided.push(rows);
        }
        for (row, rows) in divided.iter().enumerate() {
            for (at, group) in rows.iter().flatten().enumerate() {
                table.cells.extend(aligned::cells_of(group, starts[row] + at));
            }
        }
        for (span, lines) in &cells {
            if divided[span.row].is_none() {
                let text = lines.iter().map(Line::text).collect::<Vec<_>>().join(" ");
                let end = starts[span.row_end + 1].max(starts[span.row] + 1) - 1;
                table.cells.push(Cell {
                    row: starts[span.row],
                    col: span.col,
                    row_end: end,
                    col_end: span.col_end,
                    text,
                });
            }
        }
        table.header_rows = header_rows(&table.cells);
        table
    }
}

/// The rows of heads: the first, those that its cells reach down to, and those below heads that span columns.
fn header_rows(cells: &[Cell]) -> usize {
    let width = cells.iter().map(|cell| cell.col_end + 1).max().unwrap_or(0);
    let height = cells.iter().map(|cell| cell.row_end + 1).max().unwrap_or(0);
    let mut rows = height.min(1);
    loop {
        let reached = cells.iter().filter(|cell| cell.row < rows).map(|cell| {
            let columns = cell.col_end + 1 - cell.col;
            let divided = columns > 1 && columns < width;
            cell.row_end + 1 + usize::from(divided && cell.row_end + 1 == rows)
        });
        let reached = reached.max().unwrap_or(0);
        if reached <= rows || reached >= height || reached > MOST_HEADS {
            return rows;
        }
        rows = reached;
    }
}

/// Drops a title above the heads and notes below the values, which are as wide as the table.
fn without_captions(mut cells: Vec<(Span, Vec<Line>)>, width: usize) -> Vec<(Span, Vec<Line>)> {
    let is_caption = |cell: Option<&(Span, Vec<Line>)>, words: &[&str]| {
        let Some((span, lines)) = cell else { return false };
        let text = lines.iter().map(Line::text).collect::<Vec<_>>().join(" ").to_lowercase();
        span.col == 0
            && span.col_end + 1 == width
            && words.iter().any(|word| {
                text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
            })
    };
    while is_caption(cells.last(), &["source", "sources", "note", "notes", "*"]) {
        cells.pop();
    }
    if is_caption(cells.first(), &["table", "exhibit", "figure", "tableau", "tabelle", "box"]) {
        cells.remove(0);
    }
    cells
}

/// Whether at least two rows and two columns have text.
pub(super) fn is_table(table: &Table) -> bool {
    let count = |key: fn(&Cell) -> usize| {
        table.cells.iter().map(key).collect::<std::collections::BTreeSet<_>>().len()
    };
    count(|cell| cell.row) > 1 && count(|cell| cell.col) > 1
}

/// Several rows within one row of the lattice; `None` if its cells have only wrapped text.
fn rows_of(cells: &[&(Span, Vec<Line>)]) -> Option<Vec<Vec<Row>>> {
    let mut parts: Vec<(f64, f64, Part)> = Vec::new();
    for (span, lines) in cells {
        for line in lines {
            let words = line.pieces.iter().flat_map(|piece| piece.words.iter().cloned()).collect();
            let piece = Piece::of(words)?;
            let part = Part { piece, first: span.col, last: span.col_end };
            parts.push((line.baseline, line.size, part));
        }
    }
    parts.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut rows: Vec<Row> = Vec::new();
    for (baseline, size, part) in parts {
        let area = part.piece.area;
        match rows.last_mut().filter(|row| baseline - row.baseline < size * 0.4) {
            Some(row) => {
                row.area = row.area.union(&area);
                row.parts.push(part);
            }
            None => rows.push(Row { parts: vec![part], area, baseline, size }),
        }
    }
    for row in &mut rows {
        row.parts.sort_by_key(|part| part.first);
    }
    let area = rows.iter().map(|row| row.area).reduce(|all, area| all.union(&area))?;
    let values = |row: &Row| {
        let numeric = row.parts.iter().filter(|part| part.piece.is_numeric()).count();
        row.parts.len() > 1 && numeric * 2 >= row.parts.len()
    };
    let valued = rows.iter().filter(|row| values(row)).count();
    if valued < 2 {
        return None;
    }
    let merged = aligned::merge(&rows, &Rules::default(), &area);
    (merged.len() > 1).then_some(merged)
}

/// Joins places that have no line between them; `None` if one of the joined cells is not a rectangle.
fn spans(xs: &[f64], ys: &[f64], rules: &Rules) -> Option<Vec<Span>> {
    let (width, height) = (xs.len() - 1, ys.len() - 1);
    let drawn = |rules: &[super::rules::Rule], at: f64, start: f64, end: f64| {
        let from = rules.partition_point(|rule| rule.at < at - NEAR);
        let near = rules[from..].iter().take_while(|rule| rule.at <= at + NEAR);
        near.map(|rule| rule.within(start, end)).sum::<f64>() > (end - start) * 0.5
    };
    let mut parent: Vec<usize> = (0..width * height).collect();
    for row in 0..height {
        for col in 0..width {
            let place = row * width + col;
            if col + 1 < width && !drawn(&rules.vertical, xs[col + 1], ys[row], ys[row + 1]) {
                union(&mut parent, place, place + 1);
            }
            if row + 1 < height && !drawn(&rules.horizontal, ys[row + 1], xs[col], xs[col + 1]) {
                union(&mut parent, place, place + width);
            }
        }
    }
    let mut bounds: Vec<Option<(Span, usize)>> = vec![None; width * height];
    for row in 0..height {
        for col in 0..width {
            let root = root(&mut parent, row * width + col);
            let (span, count) =
                bounds[root].get_or_insert((Span { row, col, row_end: row, col_end: col }, 0));
            span.row_end = row;
            span.col = span.col.min(col);
            span.col_end = span.col_end.max(col);
            *count += 1;
        }
    }
    let rectangular = bounds.iter().flatten().all(|(span, count)| {
        (span.row_end - span.row + 1) * (span.col_end - span.col + 1) == *count
    });
    if !rectangular {
        return None;
    }
    (0..width * height)
        .map(|place| bounds[root(&mut parent, place)].map(|(span, _)| span))
        .collect()
}

fn union(parent: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(parent, one), root(parent, other));
    parent[one] = other;
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}
