//! The order in which ruled boxes are read: rows of a table as rows, other boxes one after the other.

use std::collections::BTreeSet;

use hayro_interpret::kurbo::Rect;

use super::lattice::{Lattice, Span};
use super::rows::{self, Cell};
use crate::lines::{self, Line};
use crate::regions::{self, Block, Insets};
use crate::words::Word;

/// A cell with more lines than this is a column of text in a frame.
const LONGEST: usize = 15;

/// The text of all boxes.
pub(super) fn blocks(lattice: &Lattice, insets: &Insets) -> Vec<Block> {
    let lines = lattice.boxes.iter().map(|it| lines::lines(plain(&it.words))).collect();
    let mut out = Vec::new();
    Order { lattice, insets, lines }.read(lattice.span, &mut out);
    out
}

/// Text of a box, which does not go on outside.
pub(super) fn boxed(blocks: Vec<Block>) -> Vec<Block> {
    let block = |block| match block {
        Block::Lines(lines) => Block::Boxed(lines),
        other => other,
    };
    blocks.into_iter().map(block).collect()
}

fn plain(words: &[Word]) -> Vec<Word> {
    words.iter().filter(|word| word.inset.is_none()).cloned().collect()
}

/// How a box may be cut where no line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cut {
    /// Only boxes without words.
    Empty,
    /// Also white space around boxes, between its words.
    Open,
}

struct Order<'a> {
    lattice: &'a Lattice,
    insets: &'a Insets,
    /// The lines of each box.
    lines: Vec<Vec<Line>>,
}

impl Order<'_> {
    fn read(&self, span: Span, out: &mut Vec<Block>) {
        let filled = self.filled(span);
        if filled.len() < 2 {
            return filled.into_iter().for_each(|it| self.read_box(it, span, out));
        }
        let bands = self.bands(span, Cut::Empty);
        if bands.len() > 1 {
            return self.read_bands(&bands, out);
        }
        if let Some(block) = self.row_of_boxes(span) {
            return out.push(block);
        }
        let parts = [
            self.columns(span, Cut::Empty),
            self.columns(span, Cut::Open),
            self.bands(span, Cut::Open),
        ];
        match parts.into_iter().find(|parts| parts.len() > 1) {
            Some(parts) => {
                let joined = self.join_level(&parts);
                let parts = if joined.len() > 1 { joined } else { parts };
                parts.into_iter().for_each(|part| self.read(part, out));
            }
            None => filled.into_iter().for_each(|it| self.read_box(it, span, out)),
        }
    }

    /// Joins adjacent columns whose boxes begin at the same heights: they are read row by row.
    fn join_level(&self, columns: &[Span]) -> Vec<Span> {
        let starts = |span: Span| -> Vec<usize> {
            self.bands(span, Cut::Empty).iter().map(|band| band.rows.0).collect()
        };
        let mut joined: Vec<(Span, Vec<usize>)> = Vec::new();
        for column in columns {
            let own = starts(*column);
            match joined.last_mut() {
                Some((last, known)) if *known == own && own.len() > 1 => {
                    last.columns.1 = column.columns.1;
                }
                _ => joined.push((*column, own)),
            }
        }
        joined.into_iter().map(|(span, _)| span).collect()
    }

    fn read_box(&self, number: usize, span: Span, out: &mut Vec<Block>) {
        let area = self.lattice.area_of(span);
        let words = self.lattice.boxes[number].words.iter();
        let words = words.filter(|word| area.contains(word.area().center())).cloned().collect();
        out.extend(boxed(regions::blocks(words, self.insets)));
    }

    /// Reads parts from top to bottom. Those with the same columns are a table.
    fn read_bands(&self, bands: &[Span], out: &mut Vec<Block>) {
        let mut at = 0;
        while at < bands.len() {
            let run = &bands[at..at + self.length_of_table(&bands[at..])];
            at += run.len();
            match self.table(run).filter(|_| run.len() > 1) {
                Some(block) => out.push(self.with_hidden_columns(run, &block).unwrap_or(block)),
                None => run.iter().for_each(|band| self.read(*band, out)),
            }
        }
    }

    /// A table whose first column alone is ruled: its words may show more columns.
    fn with_hidden_columns(&self, bands: &[Span], found: &Block) -> Option<Block> {
        let Block::Table(found) = found else { return None };
        if found.iter().any(|row| row.len() > 2) {
            return None;
        }
        let filled = bands.iter().flat_map(|band| self.filled(*band));
        let words = filled.flat_map(|number| self.lattice.boxes[number].words.clone());
        match regions::blocks(words.collect(), self.insets).as_slice() {
            [Block::Table(rows)]
                if rows.len() == found.len() && rows.iter().any(|row| row.len() > 2) =>
            {
                Some(Block::Table(rows.clone()))
            }
            _ => None,
        }
    }

    /// How many parts at the start have the same columns.
    fn length_of_table(&self, bands: &[Span]) -> usize {
        let mut columns = self.cuts(bands[0]);
        let mut length = 1;
        if columns.is_empty() {
            return length;
        }
        for (at, band) in bands.iter().enumerate().skip(1) {
            let own = self.cuts(*band);
            if own.is_empty() {
                // A row without lines between its cells, or a heading within the table.
                let filled = self.filled(*band);
                if let [number] = filled.as_slice()
                    && self.spread(*number, &columns.iter().copied().collect::<Vec<_>>()).is_some()
                {
                    length = at + 1;
                    continue;
                }
                if filled.iter().any(|it| self.length(*it) > 2) {
                    break;
                }
                continue;
            }
            if !own.is_subset(&columns) && !columns.is_subset(&own) {
                break;
            }
            columns.extend(own);
            length = at + 1;
        }
        let high = |band: &Span| !self.row_lines(*band).is_empty();
        // A note next to the totals of a table.
        if length > 1 && !bands[..length - 1].iter().any(high) && self.has_note(bands[length - 1]) {
            length -= 1;
        }
        let alone = (0..length).find(|at| self.is_separate(bands[*at], &columns, *at == 0));
        alone.map_or(length, |at| at.max(1))
    }

    /// Whether boxes are blocks of text, such as addresses above a table and notes next to its totals.
    fn is_separate(&self, band: Span, columns: &BTreeSet<usize>, first: bool) -> bool {
        let rows = self.row_lines(band);
        let filled = self.filled(band);
        let spans = |number: usize| {
            let span = self.lattice.boxes[number].span;
            let inside = |lines: &BTreeSet<usize>, (start, end): (usize, usize)| {
                lines.range(start + 1..end.max(start + 1)).next().is_some()
            };
            (inside(&rows, span.rows), inside(columns, span.columns))
        };
        let wide = filled.iter().filter(|it| spans(**it).1).count();
        let all_wide = filled.len() > 1 && wide == filled.len();
        filled.iter().any(|it| match spans(*it) {
            _ if !self.lattice.boxes[*it].closed => self.length(*it) > 1,
            (true, true) => self.length(*it) > 1,
            (false, true) => (first || all_wide) && self.length(*it) > 2,
            _ => false,
        })
    }

    /// Whether the first box is text as high as several rows next to it.
    fn has_note(&self, band: Span) -> bool {
        let is_high = |number: usize| self.lattice.boxes[number].span.rows == band.rows;
        let filled = self.filled(band);
        !self.row_lines(band).is_empty()
            && filled.first().is_some_and(|it| is_high(*it) && self.length(*it) > 2)
            && filled.iter().filter(|it| is_high(**it)).count() == 1
    }

    /// A table of one or several parts; `None` if fewer than two rows or columns have text.
    fn table(&self, bands: &[Span]) -> Option<Block> {
        let (start, end) = bands.first()?.columns;
        let mut lines: BTreeSet<usize> = BTreeSet::from([start]);
        for band in bands {
            lines.extend(self.column_lines(*band));
        }
        let lines: Vec<usize> = lines.into_iter().collect();
        let width = |column: usize| {
            let right = lines.get(column + 1).copied().unwrap_or(end);
            self.lattice.x(right) - self.lattice.x(lines[column])
        };
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for band in bands {
            let starts: Vec<usize> =
                [band.rows.0].into_iter().chain(self.row_lines(*band)).collect();
            let first = rows.len();
            let empty = |column| Cell { lines: Vec::new(), width: width(column) };
            rows.resize_with(first + starts.len(), || (0..lines.len()).map(empty).collect());
            for number in self.filled(*band) {
                if self.length(number) > LONGEST {
                    return None;
                }
                let span = self.lattice.boxes[number].span;
                let row = starts.partition_point(|start| *start <= span.rows.0).max(1) - 1;
                let column = lines.partition_point(|line| *line <= span.columns.0).max(1) - 1;
                // A box that is no rectangle may begin left of the table.
                let inner = lines[column + 1..].iter().copied();
                let inner: Vec<usize> = inner.take_while(|it| *it < span.columns.1).collect();
                match self.spread(number, &inner) {
                    Some(parts) => {
                        for (at, part) in parts {
                            rows[first + row][column + at].lines = vec![part];
                        }
                    }
                    None => rows[first + row][column].lines = self.lines[number].clone(),
                }
            }
        }
        rows::table(&rows)
    }

    /// The parts of a box that has one line with wide gaps, each with the number of column lines before it: cells that no
    /// line separates.
    fn spread(&self, number: usize, columns: &[usize]) -> Option<Vec<(usize, Line)>> {
        if columns.is_empty() || self.length(number) != 1 {
            return None;
        }
        let row = lines::rows(self.lattice.boxes[number].words.clone()).into_iter().next()?;
        let xs: Vec<f64> = columns.iter().map(|column| self.lattice.x(*column)).collect();
        let pieces = row.chunk_by(|one, other| {
            other.x.0 - one.x.1 <= one.size.max(other.size) * rows::WIDE_GAP
        });
        let pieces: Vec<&[Word]> = pieces.collect();
        let crosses = |word: &Word| xs.iter().any(|x| word.x.0 < *x && word.x.1 > *x);
        let parts: Vec<(usize, Line)> = if row.iter().any(crosses) {
            let start = |piece: &[Word]| xs.partition_point(|x| *x <= piece[0].x.0);
            pieces.iter().filter_map(|it| Some((start(it), lines::line(it)?))).collect()
        } else {
            let column = |word: &Word| xs.partition_point(|x| *x <= word.middle());
            let cells = row.chunk_by(|one, other| column(one) == column(other));
            cells.filter_map(|it| Some((column(&it[0]), lines::line(it)?))).collect()
        };
        let apart = parts.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (pieces.len() > 1 && parts.len() > 1 && apart).then_some(parts)
    }

    /// Boxes side by side as one row, or as a table if they have the same lines.
    fn row_of_boxes(&self, span: Span) -> Option<Block> {
        let rows = self.row_lines(span);
        if !rows.is_empty() {
            let places = (rows.len() + 1) * (self.column_lines(span).len() + 1);
            let filled = self.filled(span);
            let is_high = |number: &usize| {
                let (start, end) = self.lattice.boxes[*number].span.rows;
                rows.range(start + 1..end).next().is_some() && self.length(*number) > 2
            };
            let regular = filled.len() * 10 >= places * 6 && !filled.iter().any(is_high);
            return if regular { self.table(&[span]) } else { None };
        }
        let columns = self.columns(span, Cut::Empty);
        let mut cells: Vec<Cell> = Vec::new();
        for column in columns {
            let (left, right) = column.columns;
            let width = self.lattice.x(right) - self.lattice.x(left);
            match self.filled(column).as_slice() {
                [] => cells.push(Cell { lines: Vec::new(), width }),
                [number] if self.length(*number) <= LONGEST => {
                    cells.push(Cell { lines: self.lines[*number].clone(), width });
                }
                _ => return None,
            }
        }
        rows::row(&cells)
    }

    /// How many lines a box has.
    fn length(&self, number: usize) -> usize {
        let nested = self.lattice.boxes[number].words.iter().any(|word| word.inset.is_some());
        // A box with ruling lines of its own is no cell of a table.
        if nested { LONGEST + 1 } else { self.lines[number].len() }
    }

    /// The boxes with words, from top to bottom and from left to right.
    fn filled(&self, span: Span) -> Vec<usize> {
        let area = self.lattice.area_of(span);
        let mut seen = BTreeSet::new();
        let mut filled = Vec::new();
        for row in span.rows.0..span.rows.1 {
            for column in span.columns.0..span.columns.1 {
                let number = self.lattice.at(row, column);
                if seen.insert(number) && self.has_words(number, area) {
                    filled.push(number);
                }
            }
        }
        filled
    }

    fn has_words(&self, number: usize, area: Rect) -> bool {
        self.lattice.boxes[number].words.iter().any(|word| area.contains(word.area().center()))
    }

    /// The parts between horizontal cuts.
    fn bands(&self, span: Span, cut: Cut) -> Vec<Span> {
        let (start, end) = span.rows;
        let area = self.lattice.area_of(span);
        let may_cut = |line: usize| {
            (span.columns.0..span.columns.1).all(|column| {
                let (above, below) =
                    (self.lattice.at(line - 1, column), self.lattice.at(line, column));
                let y = self.lattice.y(line);
                let crosses = |word: &Word| word.top() < y && word.bottom() > y;
                above != below || self.may_divide(above, area, cut, crosses)
            })
        };
        let parts = parts(start, end, (start + 1..end).filter(|line| may_cut(*line)));
        parts
            .map(|rows| Span { rows, ..span })
            .filter(|part| !self.filled(*part).is_empty())
            .collect()
    }

    /// The parts between vertical cuts.
    fn columns(&self, span: Span, cut: Cut) -> Vec<Span> {
        let (start, end) = span.columns;
        let area = self.lattice.area_of(span);
        let may_cut = |line: usize| {
            (span.rows.0..span.rows.1).all(|row| {
                let (before, after) = (self.lattice.at(row, line - 1), self.lattice.at(row, line));
                let x = self.lattice.x(line);
                let crosses = |word: &Word| word.x.0 < x && word.x.1 > x;
                before != after || self.may_divide(before, area, cut, crosses)
            })
        };
        let parts: Vec<Span> = parts(start, end, (start + 1..end).filter(|line| may_cut(*line)))
            .map(|columns| Span { columns, ..span })
            .collect();
        // Without any cut there is one part; empty cells stay in their row.
        let filled = parts.iter().filter(|part| !self.filled(**part).is_empty()).count();
        if filled > 1 { parts } else { vec![span] }
    }

    fn may_divide(
        &self,
        number: usize,
        area: Rect,
        cut: Cut,
        crosses: impl Fn(&Word) -> bool,
    ) -> bool {
        let it = &self.lattice.boxes[number];
        let mut inside = it.words.iter().filter(|word| area.contains(word.area().center()));
        match cut {
            Cut::Open if !it.closed => !inside.any(crosses),
            _ => inside.next().is_none(),
        }
    }

    /// The vertical lines that no box crosses.
    fn cuts(&self, span: Span) -> BTreeSet<usize> {
        let is_cut = |line: &usize| {
            let mut rows = span.rows.0..span.rows.1;
            rows.all(|row| self.lattice.at(row, line - 1) != self.lattice.at(row, *line))
        };
        (span.columns.0 + 1..span.columns.1).filter(is_cut).collect()
    }

    /// The vertical lines between any two boxes.
    fn column_lines(&self, span: Span) -> BTreeSet<usize> {
        let is_line = |line: &usize| {
            let mut rows = span.rows.0..span.rows.1;
            rows.any(|row| self.lattice.at(row, line - 1) != self.lattice.at(row, *line))
        };
        (span.columns.0 + 1..span.columns.1).filter(is_line).collect()
    }

    /// The horizontal lines between any two boxes.
    fn row_lines(&self, span: Span) -> BTreeSet<usize> {
        let is_line = |line: &usize| {
            let mut columns = span.columns.0..span.columns.1;
            columns.any(|it| self.lattice.at(line - 1, it) != self.lattice.at(*line, it))
        };
        (span.rows.0 + 1..span.rows.1).filter(is_line).collect()
    }
}

/// The intervals between cuts.
fn parts(
    start: usize,
    end: usize,
    cuts: impl Iterator<Item = usize>,
) -> impl Iterator<Item = (usize, usize)> {
    let starts: Vec<usize> = [start].into_iter().chain(cuts).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([end]).collect();
    starts.into_iter().zip(ends)
}
