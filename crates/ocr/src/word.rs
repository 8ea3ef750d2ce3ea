//! Words as an engine finds them.

use serde::{Deserialize, Serialize};

/// A box in pixels: left, top, right, bottom.
pub type Box4 = [f64; 4];

/// One word on a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    pub text: String,
    pub bbox: Box4,
    /// From 0 to 1.
    pub confidence: f64,
}

/// Words that an engine found next to each other on one line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fragment {
    pub words: Vec<Word>,
}

impl Fragment {
    /// The box around all words; an empty fragment has none.
    pub fn bbox(&self) -> Option<Box4> {
        self.words.iter().map(|word| word.bbox).reduce(around)
    }
}

/// The box around two boxes.
pub(crate) fn around(one: Box4, other: Box4) -> Box4 {
    [one[0].min(other[0]), one[1].min(other[1]), one[2].max(other[2]), one[3].max(other[3])]
}

/// The mean confidence of the characters; `None` without any.
pub fn mean_confidence<'a>(words: impl IntoIterator<Item = &'a Word>) -> Option<f64> {
    let (mut characters, mut total) = (0.0, 0.0);
    for word in words {
        let length = word.text.chars().count() as f64;
        characters += length;
        total += length * word.confidence;
    }
    (characters > 0.0).then(|| total / characters)
}
