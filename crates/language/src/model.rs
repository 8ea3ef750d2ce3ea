//! A static embedding model: a table of token vectors, read from a folder.
//!
//! The folder holds `model.safetensors` and `tokenizer.json`, as Model2Vec writes them: `embeddings` (or
//! `embedding.weight`), one row per token, with optional `weights` and `mapping`. The vector of a text is the sum of its
//! tokens; there is no network to run, so a query costs microseconds.

mod table;
mod tensors;

use std::fs::File;
use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use tokenizers::Tokenizer;

use table::Table;
use tensors::Tensors;

const TENSORS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";

/// The largest table that is read into memory.
const MOST_TENSOR_BYTES: u64 = 1 << 30;
/// The largest tokenizer; the biggest multilingual ones have some 30 MB.
const MOST_TOKENIZER_BYTES: u64 = 128 << 20;

/// Why a model folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file is missing or cannot be read.
    #[error("{path} cannot be read: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is larger than any model of this kind.
    #[error("{path} is larger than {most} bytes", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        most: u64,
    },
    /// A file is not what its name says, or holds another kind of model.
    #[error("{path} is not a static model: {reason}", path = path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Token vectors and the tokenizer that they belong to.
pub struct StaticModel {
    table: Table,
    tokenizer: Tokenizer,
    unknown: Option<u32>,
}

impl StaticModel {
    /// Reads a model folder.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join(TENSORS);
        let malformed = |reason| ModelError::Malformed { path: path.clone(), reason };
        let bytes = read(&path, MOST_TENSOR_BYTES)?;
        let tensors = Tensors::parse(bytes).map_err(malformed)?;
        let table = Table::find(tensors).map_err(malformed)?;

        let path = folder.join(TOKENIZER);
        let malformed = |reason| ModelError::Malformed { path: path.clone(), reason };
        let bytes = read(&path, MOST_TOKENIZER_BYTES)?;
        let tokenizer = tokenizer(&bytes).map_err(malformed)?;
        let unknown = unknown_token(&bytes, &tokenizer);
        Ok(Self { table, tokenizer, unknown })
    }

    /// How many numbers a vector has.
    pub fn dimensions(&self) -> usize {
        self.table.dimensions()
    }

    /// The unit vector of a text, `None` if no token is known.
    pub fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let mut sum = vec![0.0; self.dimensions()];
        self.add(text, &mut sum);
        normalized(sum)
    }

    /// Adds the vectors of a text's tokens.
    pub(crate) fn add(&self, text: &str, sum: &mut [f32]) {
        // If the tokenizer rejects a text, or panics because its file is inconsistent, the text has no tokens. Only its
        // cache is shared, and that is behind a lock.
        let encoded = catch_unwind(AssertUnwindSafe(|| self.tokenizer.encode_fast(text, false)));
        let Ok(Ok(encoding)) = encoded else { return };
        for &token in encoding.get_ids() {
            if Some(token) != self.unknown {
                self.table.add(token, sum);
            }
        }
    }
}

impl std::fmt::Debug for StaticModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StaticModel")
            .field("dimensions", &self.dimensions())
            .finish_non_exhaustive()
    }
}

/// The vector scaled to length one, `None` for the zero vector.
pub(crate) fn normalized(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = length(&vector);
    if !length.is_normal() {
        return None;
    }
    for x in &mut vector {
        *x /= length;
    }
    Some(vector)
}

/// The length of a vector.
pub(crate) fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|x| x * x).sum::<f32>().sqrt()
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, ModelError> {
    let unreadable = |source| ModelError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(ModelError::TooLarge { path: path.to_owned(), most });
    }
    Ok(bytes)
}

fn tokenizer(bytes: &[u8]) -> Result<Tokenizer, String> {
    // The library panics on some invalid files; those that are no JSON get a better message here.
    serde_json::from_slice::<IgnoredAny>(bytes)
        .map_err(|error| format!("it is not JSON: {error}"))?;
    let read =
        catch_unwind(|| Tokenizer::from_bytes(bytes)).map_err(|_| "a part of it is malformed")?;
    let mut tokenizer = read.map_err(|error| error.to_string())?;
    // No truncation and no padding.
    tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

/// The token for unknown words. It is skipped, because its vector would make all unknown words similar.
fn unknown_token(bytes: &[u8], tokenizer: &Tokenizer) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct Outer {
        model: Inner,
    }
    #[derive(serde::Deserialize)]
    struct Inner {
        unk_token: Option<String>,
        unk_id: Option<u32>,
    }
    let Outer { model } = serde_json::from_slice(bytes).ok()?;
    model.unk_token.and_then(|token| tokenizer.token_to_id(&token)).or(model.unk_id)
}

#[cfg(test)]
pub(crate) mod tests;
