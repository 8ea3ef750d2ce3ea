//! Notes: what a chunk says about a question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A statement that a chunk supports. Its fields have no descriptions in schemas: every client would pay for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    // One sentence that can be understood alone.
    pub text: String,
    pub chunk_id: String,
    // The words of the chunk that say so, verbatim.
    pub quote: String,
    // Where the quote begins in the chunk, in code points.
    pub offset: usize,
    // How far the quote supports the text, from 0 to 1.
    pub support: f64,
    // The question that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    // The source of the chunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}
