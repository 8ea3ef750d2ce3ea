//! Notes by a language model. A note counts only if its chunk has its quote.

use language::similarity::support;
use notes::text::verbatim;
use notes::{Chunk, MAX_NOTES, Note};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::writer::{fitting, line};

/// The prompt that asks for notes.
pub(super) const PROMPT: &str = "summarize";

/// The most chunks that a model is shown.
const MAX_CHUNKS: usize = 40;
const MAX_TEXT: usize = 600;
const MAX_QUOTE: usize = 1_000;

/// What a model answers.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Answer {
    notes: Vec<Taken>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Taken {
    text: String,
    chunk_id: String,
    quote: String,
}

/// The notes that a model has taken.
pub(super) struct Read {
    pub(super) notes: Vec<Note>,
    /// How many others have a quote that no chunk has.
    pub(super) unquoted: usize,
}

/// The chunks that a model is shown.
pub(super) fn shown(chunks: &[Chunk]) -> &[Chunk] {
    let chunks = &chunks[..chunks.len().min(MAX_CHUNKS)];
    &chunks[..fitting(chunks.iter().map(|chunk| chunk.text.as_str()))]
}

/// What the prompt is given.
pub(super) fn arguments(question: &str, chunks: &[Chunk]) -> Value {
    let chunks: Vec<Value> =
        chunks.iter().map(|chunk| json!({"id": chunk.id, "text": chunk.text})).collect();
    json!({"question": question, "chunks": chunks, "max_notes": MAX_NOTES})
}

/// Checks what a model has noted.
pub(super) fn read(answer: &Answer, question: &str, chunks: &[Chunk]) -> Read {
    let mut read = Read { notes: Vec::new(), unquoted: 0 };
    for taken in answer.notes.iter().take(MAX_NOTES) {
        match note(taken, question, chunks) {
            Some(note) => read.notes.push(note),
            None => read.unquoted += 1,
        }
    }
    read
}

fn note(taken: &Taken, question: &str, chunks: &[Chunk]) -> Option<Note> {
    let text = line(&taken.text, MAX_TEXT)?;
    let quoted = line(&taken.quote, MAX_QUOTE)?;
    let chunk = chunks.iter().find(|chunk| chunk.id == taken.chunk_id)?;
    let (start, quote) = verbatim(&chunk.text, &quoted)?;
    Some(Note {
        support: support(&text, quote),
        text,
        chunk_id: chunk.id.clone(),
        quote: quote.to_owned(),
        offset: chunk.text[..start].chars().count(),
        question: Some(question.to_owned()),
        source: chunk.source.clone(),
        general: false,
    })
}
