//! A document as chunks for an index.

use super::atoms::{Atom, End, atoms};

/// The bytes of a token, as everywhere here.
const TOKEN: usize = 4;
/// An atom has at most this part of a chunk, so that a chunk without sentences can overlap, too.
const ATOMS: usize = 4;
/// A heading begins a new chunk if the one before has at least this part of its size.
const FULL_ENOUGH: usize = 4;
/// The most bytes of a heading in a path.
const MAX_HEADING: usize = 200;

/// How a document is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkOptions {
    /// The most tokens of a chunk; a token has four bytes.
    pub chunk_tokens: usize,
    /// About how many tokens of a chunk the next one repeats, at most half of a chunk.
    pub overlap_tokens: usize,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        Self { chunk_tokens: 400, overlap_tokens: 40 }
    }
}

/// A part of a document, without white space around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChunk {
    /// Where it begins, in code points.
    pub offset: usize,
    /// In code points.
    pub length: usize,
    pub text: String,
    /// The headings above it, the highest first.
    pub heading_path: Vec<String>,
}

/// Cuts a Markdown or plain text into chunks that end at a heading, a paragraph or a sentence, and within a sentence only
/// if it is longer than a chunk. What one repeats of the chunk before begins with a sentence, too.
pub fn chunks(text: &str, options: ChunkOptions) -> impl Iterator<Item = TextChunk> {
    let most = options.chunk_tokens.max(1).saturating_mul(TOKEN);
    Chunks {
        text,
        most,
        overlap: options.overlap_tokens.saturating_mul(TOKEN).min(most / 2),
        atoms: atoms(text, most.div_ceil(ATOMS)),
        next: 0,
        done: 0,
        path: Path::default(),
        counted: (0, 0),
    }
}

struct Chunks<'a> {
    text: &'a str,
    most: usize,
    overlap: usize,
    atoms: Vec<Atom>,
    /// The first atom of the next chunk.
    next: usize,
    /// The atom after the last chunk.
    done: usize,
    path: Path,
    /// A place in bytes, and in code points.
    counted: (usize, usize),
}

/// The headings above the atoms that have been passed.
#[derive(Default)]
struct Path {
    headings: Vec<(usize, String)>,
    passed: usize,
}

impl Iterator for Chunks<'_> {
    type Item = TextChunk;

    fn next(&mut self) -> Option<TextChunk> {
        loop {
            let first = self.next;
            let start = self.atoms.get(first)?.start;
            let (end, at_heading) = self.end(first);
            self.next = if at_heading { end } else { self.overlap_start(first, end) };
            self.done = end;
            let stop = self.atoms[end - 1].stop;
            let whole = &self.text[start..stop];
            let text = whole.trim();
            let is_heading = |atom: &Atom| atom.heading.is_some();
            let content = (first..end).find(|at| !is_heading(&self.atoms[*at])).unwrap_or(end);
            self.path.pass(&self.atoms[..content], self.text);
            if text.is_empty() {
                continue;
            }
            let from = start + (whole.len() - whole.trim_start().len());
            let (byte, code_points) = self.counted;
            self.counted = (from, code_points + self.text[byte..from].chars().count());
            return Some(TextChunk {
                offset: self.counted.1,
                length: text.chars().count(),
                text: text.to_owned(),
                heading_path: self.path.titles(),
            });
        }
    }
}

impl Chunks<'_> {
    /// The atom after a chunk, and whether the chunk ends at a heading.
    fn end(&self, first: usize) -> (usize, bool) {
        let start = self.atoms[first].start;
        let size = |end: usize| self.atoms[end - 1].stop - start;
        let (mut sentence, mut paragraph) = (None, None);
        let mut end = first;
        while let Some(atom) = self.atoms.get(end) {
            let begins_section = atom.heading.is_some()
                && end > first.max(self.done)
                && self.atoms[end - 1].heading.is_none()
                && size(end) >= self.most / FULL_ENOUGH;
            if begins_section {
                return (end, true);
            }
            // White space at the end does not count.
            let taken = self.text[start..atom.stop].trim_end().len();
            if taken > self.most && end > first {
                break;
            }
            end += 1;
            // A heading belongs to what follows it, and a chunk has more than what it repeats.
            if atom.heading.is_none() && end > self.done {
                match atom.end {
                    End::Paragraph => paragraph = Some(end),
                    End::Sentence => sentence = Some(end),
                    End::Word => {}
                }
            }
        }
        if end == self.atoms.len() {
            return (end, false);
        }
        let paragraph_is_late = paragraph.filter(|end| size(*end) >= self.most / 2);
        (paragraph_is_late.or(sentence.max(paragraph)).unwrap_or(end), false)
    }

    /// Where the chunk after this one begins: at a sentence of this one, as far back as the overlap reaches.
    fn overlap_start(&self, first: usize, end: usize) -> usize {
        let Some(following) = self.atoms.get(end).filter(|atom| atom.heading.is_none()) else {
            return end;
        };
        let stop = self.atoms[end - 1].stop;
        let size = |at: usize| stop - self.atoms[at].start;
        let within_sentence = self.atoms[end - 1].end == End::Word;
        let begins = |at: usize| {
            self.atoms[at].heading.is_none()
                && (within_sentence || self.atoms[at - 1].end >= End::Sentence)
        };
        // The next chunk must hold more than what it repeats.
        let next = following.stop - stop;
        let back = (first + 1..end).rev().take_while(|at| {
            size(*at) <= 2 * self.overlap
                && size(*at) + next <= self.most
                && self.atoms[*at].heading.is_none()
        });
        let mut start = end;
        for at in back.filter(|at| begins(*at)) {
            // One sentence may be longer than the overlap.
            if size(at) <= self.overlap || start == end {
                start = at;
            }
        }
        start
    }
}

impl Path {
    /// Goes on to the end of these atoms.
    fn pass(&mut self, atoms: &[Atom], text: &str) {
        for at in self.passed..atoms.len() {
            let Some(level) = atoms[at].heading else { continue };
            let title = text[atoms[at].start..atoms[at].stop].trim();
            // A long heading has several atoms.
            let continues =
                at > 0 && atoms[at - 1].heading == Some(level) && atoms[at - 1].end == End::Word;
            if continues {
                continue;
            }
            let title = title.trim_matches('#').trim();
            let title = &title[..title.floor_char_boundary(MAX_HEADING)];
            self.headings.retain(|(above, _)| *above < level);
            self.headings.push((level, title.to_owned()));
        }
        self.passed = self.passed.max(atoms.len());
    }

    fn titles(&self) -> Vec<String> {
        self.headings
            .iter()
            .map(|(_, title)| title.clone())
            .filter(|title| !title.is_empty())
            .collect()
    }
}

#[cfg(test)]
mod tests;
