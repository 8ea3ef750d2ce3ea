//! The order in which words are read: lines from top to bottom, columns of running text one after the other, and the
//! rows of lists and receipts across.

mod columns;

use crate::marks::Dashes;
use crate::word::{Box4, Fragment, Word, around};

/// Lines that are read one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub lines: Vec<Vec<Word>>,
}

/// A picture's words in reading order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    pub blocks: Vec<Block>,
}

/// Gaps wider than this, in heights of the line, may separate columns.
const COLUMN_GAP: f64 = 1.3;

/// Gaps lower than this, in usual heights of a line, separate no paragraphs.
const PARAGRAPH_GAP: f64 = 1.2;

impl Layout {
    /// Puts fragments in reading order. Rows of dashes count as words where no word was found.
    pub fn of(fragments: Vec<Fragment>, dashes: &[Dashes]) -> Self {
        let mut pieces: Vec<Piece> = fragments.into_iter().flat_map(pieces).collect();
        add_dashes(&mut pieces, dashes);
        let rows = rows(pieces);
        let mut blocks = Vec::new();
        for band in columns::bands(rows) {
            for column in columns::split(band) {
                blocks.extend(paragraphs(column));
            }
        }
        Self { blocks }
    }

    /// The text: a line break after each line, an empty line after each block.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for block in &self.blocks {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            for (index, line) in block.lines.iter().enumerate() {
                if index > 0 {
                    text.push('\n');
                }
                for (index, word) in line.iter().enumerate() {
                    if index > 0 {
                        text.push(' ');
                    }
                    text.push_str(&word.text);
                }
            }
        }
        text
    }

    /// All words in order.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        self.blocks.iter().flat_map(|block| &block.lines).flatten()
    }
}

/// Words of one line without a wide gap between them.
#[derive(Clone, Debug)]
struct Piece {
    words: Vec<Word>,
    bbox: Box4,
}

impl Piece {
    fn height(&self) -> f64 {
        self.bbox[3] - self.bbox[1]
    }

    fn middle(&self) -> f64 {
        f64::midpoint(self.bbox[1], self.bbox[3])
    }
}

/// Pieces on one line, from left to right.
type Row = Vec<Piece>;

/// A fragment cut at its wide gaps.
fn pieces(fragment: Fragment) -> Vec<Piece> {
    let mut words = fragment.words;
    words.retain(|word| !word.text.trim().is_empty());
    words.sort_by(|one, other| one.bbox[0].total_cmp(&other.bbox[0]));
    let mut heights: Vec<f64> = words.iter().map(|word| word.bbox[3] - word.bbox[1]).collect();
    heights.sort_unstable_by(f64::total_cmp);
    let height = heights.get(heights.len() / 2).copied().unwrap_or(0.0);
    let mut cut: Vec<Piece> = Vec::new();
    for word in words {
        let bbox = word.bbox;
        match cut.last_mut() {
            Some(piece) if bbox[0] - piece.bbox[2] < COLUMN_GAP * height => {
                piece.bbox = around(piece.bbox, bbox);
                piece.words.push(word);
            }
            _ => cut.push(Piece { words: vec![word], bbox }),
        }
    }
    cut
}

fn add_dashes(pieces: &mut Vec<Piece>, dashes: &[Dashes]) {
    for row in dashes {
        let pitch = (row.right - row.left) as f64 / row.count as f64;
        let (left, right) = (row.left as f64, row.right as f64);
        // As high as it is wide, or it would lie on no line.
        let middle = f64::midpoint(row.top as f64, row.bottom as f64);
        let bbox = [left, middle - pitch / 2.0, right, middle + pitch / 2.0];
        let found = pieces.iter_mut().find(|piece| {
            piece.bbox[0] < right
                && left < piece.bbox[2]
                && piece.bbox[1] < middle
                && middle < piece.bbox[3]
        });
        let text = std::iter::repeat_n(row.sign, row.count).collect();
        let word = Word { text, bbox, confidence: 1.0 };
        match found {
            // Engines read dashes as pieces without characters; words around them are kept.
            Some(piece) if has_characters(piece) => {}
            Some(piece) => *piece = Piece { words: vec![word], bbox },
            None => pieces.push(Piece { words: vec![word], bbox }),
        }
    }
}

fn has_characters(piece: &Piece) -> bool {
    piece.words.iter().any(|word| word.text.chars().any(char::is_alphanumeric))
}

/// Pieces on the same height, from top to bottom.
fn rows(mut pieces: Vec<Piece>) -> Vec<Row> {
    pieces.sort_by(|one, other| one.middle().total_cmp(&other.middle()));
    let mut rows: Vec<Row> = Vec::new();
    for piece in pieces {
        let same = rows.last_mut().filter(|row| {
            row.iter().all(|other| {
                let shared = piece.bbox[3].min(other.bbox[3]) - piece.bbox[1].max(other.bbox[1]);
                shared > 0.5 * piece.height().min(other.height())
                    && (piece.bbox[0] >= other.bbox[2] - 1.0
                        || piece.bbox[2] <= other.bbox[0] + 1.0)
            })
        });
        match same {
            Some(row) => row.push(piece),
            None => rows.push(vec![piece]),
        }
    }
    for row in &mut rows {
        row.sort_by(|one, other| one.bbox[0].total_cmp(&other.bbox[0]));
    }
    rows
}

/// A column cut where lines are far apart.
fn paragraphs(rows: Vec<Row>) -> Vec<Block> {
    let boxed: Vec<(Box4, Row)> = rows
        .into_iter()
        .filter_map(|row| Some((row.iter().map(|piece| piece.bbox).reduce(around)?, row)))
        .collect();
    let mut heights: Vec<f64> = boxed.iter().map(|(bbox, _)| bbox[3] - bbox[1]).collect();
    heights.sort_unstable_by(f64::total_cmp);
    let height = heights.get(heights.len() / 2).copied().unwrap_or(0.0);
    let mut blocks: Vec<Block> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for (bbox, row) in boxed {
        let line: Vec<Word> = row.into_iter().flat_map(|piece| piece.words).collect();
        let near = bbox[1] - end <= PARAGRAPH_GAP * height;
        match blocks.last_mut().filter(|_| near) {
            Some(block) => block.lines.push(line),
            None => blocks.push(Block { lines: vec![line] }),
        }
        end = bbox[3];
    }
    blocks
}

#[cfg(test)]
mod tests;
