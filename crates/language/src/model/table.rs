//! The vectors of a model, in the number format of their file.

use std::ops::Range;

use super::tensors::{Kind, Tensor, Tensors};

/// The names under which static models keep their vectors.
const NAMES: [&str; 2] = ["embeddings", "embedding.weight"];

/// More numbers than any model has in a vector.
const MOST_DIMENSIONS: usize = 8192;

/// One row of numbers a token, or a row that several tokens share.
#[derive(Debug)]
pub(super) struct Table {
    kind: Kind,
    /// The whole file: a copy of the vectors alone would for a moment take twice the memory.
    file: Vec<u8>,
    place: Range<usize>,
    rows: usize,
    dimensions: usize,
    /// The row of each token, where it is not its own number.
    mapping: Option<Vec<u32>>,
    /// How much each token counts.
    weights: Option<Vec<f32>>,
}

impl Table {
    /// Finds the vectors among the tensors of a file.
    pub(super) fn find(tensors: Tensors) -> Result<Self, String> {
        let Some(vectors) = NAMES.iter().find_map(|name| tensors.get(name)) else {
            let hint = if tensors.len() > 8 {
                "; it looks like a network, which must be distilled first"
            } else {
                ""
            };
            return Err(format!("it has no tensor `embeddings` or `embedding.weight`{hint}"));
        };
        let &[rows, dimensions] = vectors.shape.as_slice() else {
            return Err(format!(
                "the vectors have the shape {:?}, not two dimensions",
                vectors.shape
            ));
        };
        if rows == 0 || !(1..=MOST_DIMENSIONS).contains(&dimensions) {
            return Err(format!("a table of {rows} × {dimensions} holds no vectors"));
        }
        if !matches!(vectors.kind, Kind::F64 | Kind::F32 | Kind::F16 | Kind::BF16 | Kind::I8) {
            return Err(
                "the vectors are stored in a kind of number that is not read here".to_owned()
            );
        }
        let weights = tensors.get("weights").map(|tensor| weights(&tensors, tensor)).transpose()?;
        let mapping =
            tensors.get("mapping").map(|tensor| mapping(&tensors, tensor, rows)).transpose()?;
        let (kind, place) = (vectors.kind, vectors.place.clone());
        Ok(Self { kind, file: tensors.into_bytes(), place, rows, dimensions, mapping, weights })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Adds a token's vector; a token without a row adds nothing.
    pub(super) fn add(&self, token: u32, sum: &mut [f32]) {
        let row = match &self.mapping {
            Some(mapping) => mapping.get(token as usize).copied(),
            None => Some(token),
        };
        let Some(row) = row.map(|row| row as usize).filter(|&row| row < self.rows) else { return };
        let weight = match &self.weights {
            Some(weights) => weights.get(token as usize).copied().unwrap_or(1.0),
            None => 1.0,
        };
        let width = self.place.len() / self.rows;
        let start = self.place.start + row * width;
        let mut elements = sum.iter_mut();
        self.kind.each(&self.file[start..start + width], |number| {
            if let Some(sum) = elements.next() {
                // One invalid number must not spoil the whole text.
                let part = weight * number;
                *sum += if part.is_finite() { part } else { 0.0 };
            }
        });
    }
}

fn weights(tensors: &Tensors, tensor: &Tensor) -> Result<Vec<f32>, String> {
    if tensor.shape.len() != 1
        || !matches!(tensor.kind, Kind::F64 | Kind::F32 | Kind::F16 | Kind::BF16)
    {
        return Err("`weights` is not a list of fractions".to_owned());
    }
    let mut weights = Vec::new();
    tensor.kind.each(tensors.bytes(tensor), |weight| weights.push(weight));
    Ok(weights)
}

fn mapping(tensors: &Tensors, tensor: &Tensor, rows: usize) -> Result<Vec<u32>, String> {
    let bytes = tensors.bytes(tensor);
    let numbers: Vec<i64> = match tensor.kind {
        Kind::I64 if tensor.shape.len() == 1 => {
            bytes.as_chunks().0.iter().map(|chunk| i64::from_le_bytes(*chunk)).collect()
        }
        Kind::I32 if tensor.shape.len() == 1 => {
            bytes.as_chunks().0.iter().map(|chunk| i64::from(i32::from_le_bytes(*chunk))).collect()
        }
        _ => return Err("`mapping` is not a list of whole numbers".to_owned()),
    };
    numbers
        .into_iter()
        .map(|row| u32::try_from(row).ok().filter(|&row| (row as usize) < rows))
        .collect::<Option<_>>()
        .ok_or_else(|| "`mapping` names a row that the table does not have".to_owned())
}
