//! The caller's rewording of a résumé, and where its places are in the source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::NewFact;
use super::shown::without_hidden;

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
    /// The result states what the source does not.
    NewFacts {
        index: usize,
        facts: Vec<NewFact>,
    },
    /// The result has a name, contact data, a position or a degree that is none of the source: `text`.
    Field {
        index: usize,
        text: String,
    },
    /// A line has lost a word that denies or limits what it says.
    Denial {
        index: usize,
        word: String,
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
    /// The place of its edit in the list; None for the source's own text.
    edit: Option<usize>,
}

impl Edited {
    /// The place of a part of the text in the source, in characters.
    pub(super) fn source_span(&self, start: usize, end: usize) -> (usize, usize) {
        let within =
            |piece: &&Piece, at: usize| piece.start <= at && at < piece.start + piece.length;
        let first = self.pieces.iter().find(|piece| within(piece, start));
        let from = first.map_or(0, |piece| {
            piece.source.0 + if piece.edit.is_some() { 0 } else { start - piece.start }
        });
        let last_at = end.saturating_sub(1).max(start);
        let last = self.pieces.iter().find(|piece| within(piece, last_at));
        let to = last.map_or(from, |piece| {
            if piece.edit.is_some() {
                piece.source.1
            } else {
                piece.source.0 + (last_at - piece.start) + 1
            }
        });
        (from, to.max(from))
    }

    /// The first edit that a part of the text has or touches; the first of all if there is none.
    pub(super) fn edit_at(&self, start: usize, end: usize) -> usize {
        let touches = |piece: &&Piece| piece.start <= end && piece.start + piece.length >= start;
        let mut edits = self.pieces.iter().filter(|piece| piece.edit.is_some());
        let first = edits.clone().find_map(|piece| piece.edit);
        edits.find(touches).and_then(|piece| piece.edit).or(first).unwrap_or(0)
    }

    /// The first edit whose text has these words; the first of all if there is none.
    pub(super) fn edit_with(&self, words: &str) -> usize {
        let has = |piece: &&Piece| {
            piece.edit.is_some()
                && self
                    .text
                    .chars()
                    .skip(piece.start)
                    .take(piece.length)
                    .collect::<String>()
                    .contains(words)
        };
        self.pieces
            .iter()
            .find(has)
            .and_then(|piece| piece.edit)
            .unwrap_or_else(|| self.edit_at(0, 0))
    }
}

/// Applies edits, without their hidden characters.
pub(super) fn apply(source: &str, edits: &[Edit]) -> Result<Edited, EditError> {
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
        push(&mut edited, &mut length, &signs[done..*start], (done, *start), None);
        let text: Vec<char> = without_hidden(text).chars().collect();
        push(&mut edited, &mut length, &text, (*start, *end), Some(index));
        done = *end;
    }
    push(&mut edited, &mut length, &signs[done..], (done, signs.len()), None);
    Ok(edited)
}

fn push(
    edited: &mut Edited,
    length: &mut usize,
    signs: &[char],
    source: (usize, usize),
    edit: Option<usize>,
) {
    edited.text.extend(signs);
    edited.pieces.push(Piece { start: *length, length: signs.len(), source, edit });
    *length += signs.len();
}
