//! The vectors of a collection in eight bits, and the search for the nearest of them.

/// Vectors as bytes, one row for each chunk, with the factor that makes numbers of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Matrix {
    dimensions: usize,
    seqs: Vec<i64>,
    scales: Vec<f32>,
    rows: Vec<i8>,
    /// The collection's revision that it is a copy of.
    pub(super) revision: u64,
}

/// The largest number of a row, and of a query: a product of 16,000 dimensions fits in 32 bits.
const ROW_MAX: f32 = 127.0;
const QUERY_MAX: f32 = 1_023.0;

impl Matrix {
    /// An empty one with room for so many rows.
    pub(super) fn with_rows(rows: usize, dimensions: usize) -> Self {
        Self {
            dimensions,
            seqs: Vec::with_capacity(rows),
            scales: Vec::with_capacity(rows),
            rows: Vec::with_capacity(rows * dimensions),
            revision: 0,
        }
    }

    /// Makes room for more rows, and for no others.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.seqs.reserve_exact(rows);
        self.scales.reserve_exact(rows);
        self.rows.reserve_exact(rows * self.dimensions);
    }

    /// Appends a stored vector; one of another length is left out.
    pub(super) fn push(&mut self, seq: i64, vector: &[u8]) {
        let (numbers, rest) = vector.as_chunks::<4>();
        if numbers.len() != self.dimensions || !rest.is_empty() {
            return;
        }
        let numbers = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let largest = numbers.clone().map(f32::abs).fold(0.0, f32::max);
        let factor = if largest.is_normal() { ROW_MAX / largest } else { 0.0 };
        self.rows.extend(numbers.map(|number| (number * factor).round() as i8));
        self.scales.push(if factor > 0.0 { largest / ROW_MAX } else { 0.0 });
        self.seqs.push(seq);
    }

    /// The last chunk that it has.
    pub(super) fn last(&self) -> i64 {
        self.seqs.last().copied().unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.seqs.len()
    }

    /// Its size in memory, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        (self.rows.capacity() + self.seqs.capacity() * 8 + self.scales.capacity() * 4) as u64
    }

    /// Up to `count` chunks that are nearest to a unit vector, of those in `among` (sorted) if it is given.
    pub(super) fn nearest(&self, query: &[f32], count: usize, among: Option<&[i64]>) -> Vec<i64> {
        if query.len() != self.dimensions || count == 0 || self.dimensions == 0 {
            return Vec::new();
        }
        let largest = query.iter().copied().map(f32::abs).fold(0.0, f32::max);
        if !largest.is_normal() {
            return Vec::new();
        }
        let query: Vec<i16> =
            query.iter().map(|number| (number * QUERY_MAX / largest).round() as i16).collect();
        let rows = self.rows.chunks_exact(self.dimensions).zip(&self.scales).zip(&self.seqs);
        let mut near: Vec<(f32, i64)> = rows
            .filter(|(_, seq)| among.is_none_or(|among| among.binary_search(seq).is_ok()))
            .map(|((row, scale), seq)| (product(row, &query) as f32 * scale, *seq))
            .collect();
        let order = |a: &(f32, i64), b: &(f32, i64)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if near.len() > count {
            near.select_nth_unstable_by(count - 1, order);
            near.truncate(count);
        }
        near.sort_by(order);
        near.into_iter().map(|(_, seq)| seq).collect()
    }
}

/// Sixteen lanes, which the compiler vectorizes. Not inlined: inlined it is not vectorized.
#[inline(never)]
fn product(row: &[i8], query: &[i16]) -> i32 {
    let (row_blocks, row_rest) = row.as_chunks::<16>();
    let (query_blocks, query_rest) = query.as_chunks::<16>();
    let mut lanes = [0_i32; 16];
    for (row, query) in row_blocks.iter().zip(query_blocks) {
        for i in 0..16 {
            lanes[i] += i32::from(row[i]) * i32::from(query[i]);
        }
    }
    let rest = row_rest.iter().zip(query_rest).map(|(a, b)| i32::from(*a) * i32::from(*b));
    lanes.iter().sum::<i32>() + rest.sum::<i32>()
}

/// A vector as it is stored.
pub(super) fn stored(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A stored vector.
pub(super) fn restored(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[cfg(test)]
mod tests {
    use language::ranking::cosine;
    use proptest::prelude::*;

    use super::*;

    fn vectors(dimensions: usize) -> impl Strategy<Value = Vec<Vec<f32>>> {
        prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, dimensions), 1..60)
    }

    proptest! {
        #[test]
        fn the_best_of_the_scan_are_close_to_the_best(
            rows in vectors(37), query in prop::collection::vec(-1.0_f32..1.0, 37),
        ) {
            let mut matrix = Matrix::with_rows(rows.len(), 37);
            for (seq, row) in (1..).zip(&rows) {
                let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
                let unit: Vec<_> = row.iter().map(|x| x / length).collect();
                matrix.push(seq, &stored(&unit));
            }
            let near = matrix.nearest(&query, 10, None);
            prop_assert_eq!(near.len(), rows.len().min(10));
            let exact = |seq: i64| cosine(&rows[seq as usize - 1], &query);
            let mut best: Vec<_> = rows.iter().map(|row| cosine(row, &query)).collect();
            best.sort_by(|a, b| b.total_cmp(a));
            for (seq, best) in near.iter().zip(best) {
                prop_assert!(exact(*seq) > best - 0.03, "{} for {best}", exact(*seq));
            }
        }
    }

    #[test]
    fn only_chunks_of_the_filter_count() {
        let mut matrix = Matrix::with_rows(3, 2);
        for (seq, vector) in [(3, [1.0, 0.0]), (5, [0.0, 1.0]), (9, [0.6, 0.8])] {
            matrix.push(seq, &stored(&vector));
        }
        matrix.push(11, &stored(&[1.0]));
        assert_eq!(matrix.len(), 3, "a vector of another length is left out");
        assert_eq!(matrix.nearest(&[1.0, 0.0], 9, None), [3, 9, 5]);
        assert_eq!(matrix.nearest(&[1.0, 0.0], 1, Some(&[5, 9])), [9]);
        assert_eq!(matrix.nearest(&[0.0, 0.0], 1, None), [0_i64; 0]);
        assert_eq!(matrix.nearest(&[1.0], 1, None), [0_i64; 0]);
        assert_eq!(matrix.last(), 9);
    }
}
