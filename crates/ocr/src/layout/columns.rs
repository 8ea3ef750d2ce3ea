//! Columns: white space that runs down between pieces over several rows, with running text on both sides.

use super::{Piece, Row};

/// A column of running text has at least this many rows with text of its own.
const FEWEST_ROWS: usize = 3;

/// Running text has at least this many words on a usual line of a column.
const WORDS_OF_PROSE: usize = 3;

/// A range of x without ink.
type Gap = (f64, f64);

/// Rows with the same gutters.
pub(super) struct Band {
    rows: Vec<Row>,
    gaps: Vec<Gap>,
    extent: Extent,
}

/// What decides whether white space is between pieces.
#[derive(Clone, Copy)]
struct Extent {
    /// The leftmost right end and the rightmost left end of a piece.
    first_end: f64,
    last_start: f64,
    least_height: f64,
}

impl Extent {
    fn of(row: &Row) -> Self {
        let least = |edge: fn(&Piece) -> f64| row.iter().map(edge).fold(f64::INFINITY, f64::min);
        let most = row.iter().map(|piece| piece.bbox[0]).fold(f64::NEG_INFINITY, f64::max);
        Self {
            first_end: least(|piece| piece.bbox[2]),
            last_start: most,
            least_height: least(Piece::height),
        }
    }

    fn with(self, other: Self) -> Self {
        Self {
            first_end: self.first_end.min(other.first_end),
            last_start: self.last_start.max(other.last_start),
            least_height: self.least_height.min(other.least_height),
        }
    }

    /// The gaps with pieces on both sides, wide enough to see.
    fn gutters<'a>(&'a self, gaps: &'a [Gap]) -> impl Iterator<Item = &'a Gap> {
        gaps.iter().filter(|(left, right)| {
            right - left >= 0.8 * self.least_height
                && self.first_end <= *left + 1.0
                && self.last_start >= *right - 1.0
        })
    }
}

/// Cuts rows where the white space between columns begins or ends.
pub(super) fn bands(rows: Vec<Row>) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    for row in rows {
        let (own, extent) = (gaps(&row), Extent::of(&row));
        if let Some(band) = bands.last_mut() {
            let (shared, both) = (shared(&band.gaps, &own), band.extent.with(extent));
            let before = band.extent.gutters(&band.gaps).count();
            // Columns end with a row across their gutters, and begin below one that is across theirs.
            let needed = if before > 0 { before } else { extent.gutters(&own).count() };
            if both.gutters(&shared).count() >= needed {
                band.rows.push(row);
                (band.gaps, band.extent) = (shared, both);
                continue;
            }
        }
        bands.push(Band { rows: vec![row], gaps: own, extent });
    }
    bands
}

/// The white space of a row: before, between and after its pieces.
fn gaps(row: &Row) -> Vec<Gap> {
    let mut gaps = Vec::with_capacity(row.len() + 1);
    let mut left = f64::NEG_INFINITY;
    for piece in row {
        gaps.push((left, piece.bbox[0]));
        left = piece.bbox[2];
    }
    gaps.push((left, f64::INFINITY));
    gaps
}

/// The white space that both have.
fn shared(gaps: &[Gap], others: &[Gap]) -> Vec<Gap> {
    let mut both = Vec::new();
    for (left, right) in gaps {
        for (other_left, other_right) in others {
            let (left, right) = (left.max(*other_left), right.min(*other_right));
            if left < right {
                both.push((left, right));
            }
        }
    }
    both
}

/// The columns of a band from left to right; the whole band if its rows are read across.
pub(super) fn split(band: Band) -> Vec<Vec<Row>> {
    let gutters = band.extent.gutters(&band.gaps);
    let cuts: Vec<f64> = gutters.map(|(left, right)| f64::midpoint(*left, *right)).collect();
    if cuts.is_empty() {
        return vec![band.rows];
    }
    let mut columns: Vec<Vec<Row>> = vec![Vec::new(); cuts.len() + 1];
    for row in &band.rows {
        let mut parts: Vec<Row> = vec![Row::new(); cuts.len() + 1];
        for piece in row {
            let column = cuts.iter().filter(|cut| piece.bbox[0] >= **cut).count();
            parts[column].push(piece.clone());
        }
        for (column, part) in columns.iter_mut().zip(parts) {
            if !part.is_empty() {
                column.push(part);
            }
        }
    }
    if columns.iter().all(|column| is_prose(column)) { columns } else { vec![band.rows] }
}

fn is_prose(column: &[Row]) -> bool {
    let mut words: Vec<usize> =
        column.iter().map(|row| row.iter().map(|piece| piece.words.len()).sum()).collect();
    words.sort_unstable();
    words.len() >= FEWEST_ROWS && words[words.len() / 2] >= WORDS_OF_PROSE
}
