//! PP-OCR models: one finds lines of text, the other reads a line. Both are ONNX files of the operator's.

mod detect;
mod recognize;

use std::path::Path;
use std::time::Instant;

use rten::Model;

use crate::prepare::Prepared;
use crate::word::Fragment;

/// The files in the folder of models.
const DETECTOR: &str = "det.onnx";
const RECOGNIZER: &str = "rec.onnx";
const KEYS: &str = "keys.txt";

/// The field of a model file's metadata with the characters that it reads, one on each line.
const CHARACTERS: &str = "character";

/// Why models cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("`{file}` cannot be read: {why}")]
    Load { file: &'static str, why: String },
    #[error(
        "`rec.onnx` does not say which characters it reads: put them into `keys.txt`, one on each line"
    )]
    NoKeys,
    #[error("`{file}` is no PP-OCR model: {why}")]
    Run { file: &'static str, why: String },
    #[error("reading takes too long")]
    TooLong,
}

/// Both models and the characters that they read.
pub struct Models {
    detector: Model,
    recognizer: Model,
    /// The character of each class after the blank.
    keys: Vec<String>,
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Models").field("keys", &self.keys.len()).finish_non_exhaustive()
    }
}

impl Models {
    /// Loads `det.onnx` and `rec.onnx` of a folder, and `keys.txt` if the second has no list of characters in it.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        let load = |file: &'static str| {
            Model::load_file(folder.join(file))
                .map_err(|error| ModelError::Load { file, why: error.to_string() })
        };
        let (detector, recognizer) = (load(DETECTOR)?, load(RECOGNIZER)?);
        let listed = match recognizer.metadata().get(CHARACTERS) {
            Some(listed) => listed.to_owned(),
            None => std::fs::read_to_string(folder.join(KEYS)).map_err(|_| ModelError::NoKeys)?,
        };
        // The last class is the blank between words, which no list has.
        let keys = listed.lines().map(str::to_owned).chain([" ".to_owned()]).collect();
        Ok(Self { detector, recognizer, keys })
    }

    /// Reads a prepared picture, which need not be scaled, unless that takes until after the given time.
    pub fn read(&self, prepared: &Prepared, until: Instant) -> Result<Vec<Fragment>, ModelError> {
        let lines = detect::lines(&self.detector, prepared)?;
        let mut fragments = Vec::with_capacity(lines.len());
        for line in lines {
            if Instant::now() > until {
                return Err(ModelError::TooLong);
            }
            fragments.extend(recognize::read(
                &self.recognizer,
                &self.keys,
                &prepared.picture,
                line,
            )?);
        }
        Ok(fragments)
    }
}
