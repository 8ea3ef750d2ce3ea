//! Columns: white space that runs down between pieces over several rows, with running text on both sides.

use super::Row;

/// A column of running text has at least this many rows with text of its own.
const FEWEST_ROWS: usize = 3;

/// Running text has at least this many words on a usual line of a column.
const WORDS_OF_PROSE: usize = 3;

/// A range of x without ink.
type Gap = (f64, f64);

/// Rows with the same gutters.
pub(super) struct Band {
    rows: Vec<Row>,
    gutters: Vec<Gap>,
}

/// Cuts rows where the white space between columns ends.
pub(super) fn bands(rows: Vec<Row>) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    let mut open: Option<Band> = None;
    for row in rows {
        let gaps = gaps(&row);
        open = Some(match open {
            None => Band { rows: vec![row], gutters: gaps },
            Some(mut band) => {
                let shared = shared(&band, &gaps, &row);
                if shared.is_some() {
                    band.rows.push(row);
                    band.gutters = shared.unwrap_or_default();
                    band
                } else {
                    bands.push(band);
                    Band { rows: vec![row], gutters: gaps }
                }
            }
        });
    }
    bands.extend(open);
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

/// What remains of the band's white space with one more row; `None` if the row ends its columns.
fn shared(band: &Band, gaps: &[Gap], row: &Row) -> Option<Vec<Gap>> {
    let mut both = Vec::new();
    for (left, right) in &band.gutters {
        for (other_left, other_right) in gaps {
            let (left, right) = (left.max(*other_left), right.min(*other_right));
            if left < right {
                both.push((left, right));
            }
        }
    }
    let had = inner(&band.gutters, &band.rows).count();
    let rows: Vec<Row> = band.rows.iter().chain([row]).cloned().collect();
    let has = inner(&both, &rows).count();
    // A row across a gutter ends the columns; rows without gutters go on together.
    (has >= had && (had > 0) == (has > 0) || had == 0 && has == 0).then_some(both)
}

/// The gutters with pieces on both sides, wide enough to see.
fn inner<'a>(gaps: &'a [Gap], rows: &'a [Row]) -> impl Iterator<Item = &'a Gap> {
    gaps.iter().filter(move |(left, right)| {
        let pieces = || rows.iter().flatten();
        let height = pieces().map(super::Piece::height).fold(f64::INFINITY, f64::min);
        right - left >= 0.8 * height
            && pieces().any(|piece| piece.bbox[2] <= *left + 1.0)
            && pieces().any(|piece| piece.bbox[0] >= *right - 1.0)
    })
}

/// The columns of a band from left to right; the whole band if its rows are read across.
pub(super) fn split(band: Band) -> Vec<Vec<Row>> {
    let cuts: Vec<f64> = inner(&band.gutters, &band.rows)
        .map(|(left, right)| f64::midpoint(*left, *right))
        .collect();
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
    if columns.iter().all(is_prose) { columns } else { vec![band.rows] }
}

fn is_prose(column: &Vec<Row>) -> bool {
    let mut words: Vec<usize> =
        column.iter().map(|row| row.iter().map(|piece| piece.words.len()).sum()).collect();
    words.sort_unstable();
    words.len() >= FEWEST_ROWS && words[words.len() / 2] >= WORDS_OF_PROSE
}
