//! Chunks, and what they say about a question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A statement that a chunk supports. Schemas do not describe it: every client would pay for that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
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
    // Whether it says something about the topic rather than what is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    pub general: bool,
}

/// A part of a source's text, as a collection returns it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct Chunk {
    pub id: String,
    pub text: String,
    /// The id, URL or file of its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    // How well it fits the query, where it was found by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}
