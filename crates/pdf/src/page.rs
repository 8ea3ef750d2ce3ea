//! The parts of one page: its text in reading order, the lines at its edges, and text that runs across it.

use hayro_interpret::kurbo::Rect;

use super::content::Content;
use super::grid;
use super::lines::{self, Line};
use super::regions::{self, Block, median_size};
use super::special::{attach_drop_caps, take_sidebars, take_watermarks};
use super::words::{self, Frame, Word};

/// The most lines at the top and at the bottom that may be running heads or feet.
const EDGES: usize = 3;

/// The part of the page, at its top and at its bottom, in which they are.
const EDGE: f64 = 0.13;

/// One page.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Lines at the top that are apart from the text, from top to bottom.
    pub(super) top: Vec<Edge>,
    pub(super) blocks: Vec<Block>,
    /// Lines at the bottom that are apart from it, from top to bottom.
    pub(super) bottom: Vec<Edge>,
    /// Text in other directions, such as notes in the margin.
    pub(super) turned: Vec<Block>,
    /// Text across the page, such as watermarks.
    pub(super) marks: Vec<Block>,
}

/// A line at the edge of a page.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) line: Line,
    /// Whether the document itself says that it is no part of the text.
    pub(super) artifact: bool,
    /// The distance from the top, as a share of the height.
    pub(super) height: f64,
}

/// Puts the content of a page in order.
pub(super) fn page(content: &Content, area: Rect) -> Page {
    let mut page = Page::default();
    for (number, frame) in words::frames(content, area).into_iter().enumerate() {
        if number == 0 && !frame.oblique {
            main_frame(frame, &mut page);
        } else if frame.oblique && number > 0 {
            page.marks.extend(regions::blocks(frame.words, &Vec::new()));
        } else {
            page.turned.extend(regions::blocks(frame.words, &Vec::new()));
        }
    }
    page
}

fn main_frame(frame: Frame, page: &mut Page) {
    let Frame { words, rules, boxes, area, .. } = frame;
    let (artifacts, mut words): (Vec<Word>, Vec<Word>) =
        words.into_iter().partition(|word| word.artifact);
    let mut bottom_artifacts = Vec::new();
    for row in lines::rows(artifacts) {
        let Some(line) = lines::line(&row) else { continue };
        let height = share(area, line.y);
        let edge = Edge { line, artifact: true, height };
        if height < 0.5 { page.top.push(edge) } else { bottom_artifacts.push(edge) }
    }
    let marks = take_watermarks(&mut words);
    if !marks.is_empty() {
        page.marks.extend(regions::blocks(marks, &Vec::new()));
    }
    attach_drop_caps(&mut words);
    let mut insets = Vec::new();
    let ruled = grid::take_ruled(&mut words, &rules, &mut insets);
    let (top, bottom) = take_edges(&mut words, area);
    page.top.extend(top);
    page.bottom.extend(bottom);
    page.bottom.extend(bottom_artifacts);
    let sidebars = take_sidebars(&mut words, &boxes);
    grid::take_boxes(&mut words, &ruled, &mut insets);
    page.blocks = regions::blocks(words, &insets);
    for sidebar in sidebars {
        page.blocks.extend(regions::blocks(sidebar, &insets));
    }
}

/// How far down a baseline is.
fn share(area: Rect, y: f64) -> f64 {
    if area.height() > 0.0 { (y - area.y0) / area.height() } else { 0.5 }
}

/// Takes the lines at the top and at the bottom that are apart from the text.
fn take_edges(words: &mut Vec<Word>, area: Rect) -> (Vec<Edge>, Vec<Edge>) {
    let size = median_size(words);
    let rows = lines::rows(std::mem::take(words));
    let mut steps = steps(&rows);
    steps.retain(|step| *step > size * 0.5);
    let pitch = match steps.len() {
        0 => size * 1.3,
        count => *steps.select_nth_unstable_by(count / 2, f64::total_cmp).1,
    };
    let apart = |one: &[Word], other: &[Word], edge: &[Word]| {
        let step = baseline(other) - baseline(one);
        let small = edge.iter().all(|word| word.size < size * 0.93);
        let least = match () {
            // The last lines of two columns look like a line with a wide gap.
            () if has_gap(edge, size) => 2.2,
            () if small => 1.15,
            () => 1.3,
        };
        step >= pitch * least
    };
    let is_text = |row: &[Word]| {
        row.iter().all(|word| word.inset.is_none()) && !is_long_on_both_sides(row, size)
    };
    let count = rows.len();
    let top = (0..count.saturating_sub(1).min(EDGES)).take_while(|at| {
        let row = &rows[*at];
        is_text(row) && share(area, baseline(row)) < EDGE
    });
    let top = top.filter(|at| apart(&rows[*at], &rows[*at + 1], &rows[*at])).last();
    let top = top.filter(|last| !are_columns(&rows[..=*last], size));
    let first = top.map_or(0, |last| last + 1);
    let bottom = (first + 1..count).rev().take(EDGES).take_while(|at| {
        let row = &rows[*at];
        is_text(row) && share(area, baseline(row)) > 1.0 - EDGE
    });
    let bottom = bottom.filter(|at| apart(&rows[*at - 1], &rows[*at], &rows[*at])).last();
    let end = bottom.filter(|first| !are_columns(&rows[*first..], size)).unwrap_or(count);
    let edge = |row: &[Word]| {
        let line = lines::line(row)?;
        Some(Edge { height: share(area, line.y), line, artifact: false })
    };
    let edges = (
        rows[..first].iter().filter_map(|row| edge(row)).collect(),
        rows[end..].iter().filter_map(|row| edge(row)).collect(),
    );
    words.extend(rows.into_iter().take(end).skip(first).flatten());
    edges
}

/// The distance of each row to the next one below it; rows of other columns in between do not count.
fn steps(rows: &[Vec<Word>]) -> Vec<f64> {
    let extent = |row: &[Word]| {
        let left = row.first().map_or(0.0, |word| word.x.0);
        (left, row.iter().map(|word| word.x.1).fold(left, f64::max))
    };
    let extents: Vec<(f64, f64)> = rows.iter().map(|row| extent(row)).collect();
    let below = |at: usize| {
        let (left, right) = extents[at];
        let mut next = (at + 1..rows.len()).take(8);
        next.find(|other| extents[*other].0 < right && extents[*other].1 > left)
    };
    let step = |at: usize| below(at).map(|next| baseline(&rows[next]) - baseline(&rows[at]));
    (0..rows.len()).filter_map(step).collect()
}

fn baseline(row: &[Word]) -> f64 {
    row.iter().max_by(|one, other| one.size.total_cmp(&other.size)).map_or(0.0, |word| word.y)
}

/// Whether several rows have a wide gap: they are blocks side by side.
fn are_columns(rows: &[Vec<Word>], size: f64) -> bool {
    rows.iter().filter(|row| has_gap(row, size)).count() > 1
}

/// Whether there is a wide gap with several words before and after it, as between the last lines of two columns.
fn is_long_on_both_sides(row: &[Word], size: f64) -> bool {
    let gap = row.windows(2).position(|pair| pair[1].x.0 - pair[0].x.1 > size);
    gap.is_some_and(|at| at >= 3 && row.len() - at > 4)
}

fn has_gap(row: &[Word], size: f64) -> bool {
    row.windows(2).any(|pair| pair[1].x.0 - pair[0].x.1 > size)
}
