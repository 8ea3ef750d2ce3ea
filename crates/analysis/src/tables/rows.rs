//! The lines of a table, with the columns of their text.

use documents::layout::Area;

use super::lines::Piece;

/// A piece of text in the columns that it covers.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) piece: Piece,
    pub(super) first: usize,
    pub(super) last: usize,
}

/// One line of a table.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) parts: Vec<Part>,
    pub(super) area: Area,
    pub(super) baseline: f64,
    pub(super) size: f64,
}

impl Row {
    pub(super) fn fills(&self, column: usize) -> bool {
        self.parts.iter().any(|part| (part.first..=part.last).contains(&column))
    }

    pub(super) fn only_stub(&self) -> bool {
        self.parts.iter().all(|part| part.first == 0)
    }

    pub(super) fn stub(&self) -> Option<&Piece> {
        self.parts.first().filter(|part| part.first == 0).map(|part| &part.piece)
    }
}
