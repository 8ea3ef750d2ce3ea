//! The caller's rewording of a résumé, and where its places are in the source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::{Facts, NewFact};

/// A rewording: characters `start..end` of the source become `text`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    pub start: usize,
    /// Exclusive.
    pub end: usize,
    #[schemars(length(max = 2_000))]
    pub text: String,
}

/// Why an edit is refused; `index` is its place in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditError {
    /// Its end is before its start or after the end of the source.
    Range {
        index: usize,
        length: usize,
    },
    Overlap {
        index: usize,
    },
    /// It states what the source does not.
    NewFacts {
        index: usize,
        facts: Vec<NewFact>,
    },
}

/// A source with its edits.
#[derive(Debug, Default)]
pub(super) struct Edited {
    pub text: String,
    /// Pieces of the text in order.
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    /// Where it begins in the text, in characters.
    start: usize,
    length: usize,
    /// Its characters in the source.
    source: (usize, usize),
    edited: bool,
}

impl Edited {
    /// The place of a part of the text in the source, in characters.
    pub(super) fn source_span(&self, start: usize, end: usize) -> (usize, usize) {
        let within =
            |piece: &&Piece, at: usize| piece.start <= at && at < piece.start + piece.length;
        let first = self.pieces.iter().find(|piece| within(piece, start));
        let from = first
            .map_or(0, |piece| piece.source.0 + if piece.edited { 0 } else { start - piece.start });
        let last_at = end.saturating_sub(1).max(start);
        let last = self.pieces.iter().find(|piece| within(piece, last_at));
        let to = last.map_or(from, |piece| {
            if piece.edited { piece.source.1 } else { piece.source.0 + (last_at - piece.start) + 1 }
        });
        (from, to.max(from))
    }
}

/// Applies edits whose facts are all in the source.
pub(super) fn apply(source: &str, facts: &Facts, edits: &[Edit]) -> Result<Edited, EditError> {
    let signs: Vec<char> = source.chars().collect();
    let mut order: Vec<usize> = (0..edits.len()).collect();
    order.sort_by_key(|index| (edits[*index].start, edits[*index].end));
    let mut edited = Edited::default();
    let (mut done, mut length) = (0, 0);
    for index in order {
        let Edit { start, end, text } = &edits[index];
        if start > end || *end > signs.len() {
            return Err(EditError::Range { index, length: signs.len() });
        }
        if *start < done {
            return Err(EditError::Overlap { index });
        }
        let new = facts.new_in(text);
        if !new.is_empty() {
            return Err(EditError::NewFacts { index, facts: new });
        }
        push(&mut edited, &mut length, &signs[done..*start], (done, *start), false);
        let text: Vec<char> = text.chars().collect();
        push(&mut edited, &mut length, &text, (*start, *end), true);
        done = *end;
    }
    push(&mut edited, &mut length, &signs[done..], (done, signs.len()), false);
    Ok(edited)
}

fn push(
    edited: &mut Edited,
    length: &mut usize,
    signs: &[char],
    source: (usize, usize),
    is_edit: bool,
) {
    edited.text.extend(signs);
    edited.pieces.push(Piece { start: *length, length: signs.len(), source, edited: is_edit });
    *length += signs.len();
}
