//! The smallest parts of a document that a chunk takes whole: headings, sentences, lines of lists, tables and code.

use crate::prose::sentences;

/// What ends with an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    /// A part of a sentence that is longer than an atom may be.
    Word,
    Sentence,
    Paragraph,
}

/// A part of a text. Atoms follow each other without a gap; white space belongs to the atom before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Atom {
    /// In bytes.
    pub(super) start: usize,
    pub(super) stop: usize,
    pub(super) end: End,
    /// The level of a heading.
    pub(super) heading: Option<usize>,
}

/// The atoms of a Markdown or plain text, each of at most `most` bytes unless one character has more.
pub(super) fn atoms(text: &str, most: usize) -> Vec<Atom> {
    let mut splitter = Splitter { text, most: most.max(1), atoms: Vec::new(), paragraph: None };
    let mut fence: Option<&str> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let stop = start + line.len();
        let content = line.trim();
        let mark = fence_mark(content);
        match fence {
            Some(open) => {
                if mark.is_some_and(|mark| mark.starts_with(open)) {
                    fence = None;
                }
                splitter.line(start, stop, None);
            }
            None if content.is_empty() => splitter.blank(stop),
            None if mark.is_some() => {
                fence = mark;
                splitter.line(start, stop, None);
            }
            None => match heading_level(content) {
                Some(level) => splitter.line(start, stop, Some(level)),
                None if is_row(content) => splitter.line(start, stop, None),
                None => splitter.prose(start, stop),
            },
        }
        start = stop;
    }
    splitter.finish_paragraph();
    splitter.atoms
}

/// The level of a heading such as `## Title`.
fn heading_level(line: &str) -> Option<usize> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=6).contains(&level) && title.starts_with([' ', '\t'])).then_some(level)
}

/// The run that opens or closes a block of code.
fn fence_mark(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let run = line.len() - line.trim_start_matches(mark).len();
    (run >= 3).then(|| &line[..run])
}

/// Whether a line is an item of a list or a row of a table.
fn is_row(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with('|')
        || ["- ", "* ", "+ ", "• "].iter().any(|mark| line.starts_with(mark))
        || number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "))
}

struct Splitter<'a> {
    text: &'a str,
    most: usize,
    atoms: Vec<Atom>,
    /// The lines of a paragraph so far.
    paragraph: Option<(usize, usize)>,
}

impl Splitter<'_> {
    fn prose(&mut self, start: usize, stop: usize) {
        self.paragraph = Some((self.paragraph.map_or(start, |(first, _)| first), stop));
    }

    fn line(&mut self, start: usize, stop: usize, heading: Option<usize>) {
        self.finish_paragraph();
        let end = if heading.is_some() { End::Paragraph } else { End::Sentence };
        self.push(start, stop, end, heading);
    }

    fn blank(&mut self, stop: usize) {
        self.finish_paragraph();
        match self.atoms.last_mut() {
            Some(last) => {
                last.stop = stop;
                last.end = End::Paragraph;
            }
            // White space before everything.
            None => self.push(0, stop, End::Paragraph, None),
        }
    }

    fn finish_paragraph(&mut self) {
        let Some((start, stop)) = self.paragraph.take() else { return };
        let paragraph = &self.text[start..stop];
        let mut from = start;
        for sentence in sentences(paragraph) {
            let begin = sentence.text.as_ptr() as usize - self.text.as_ptr() as usize;
            // The white space before a sentence belongs to the one before it.
            if begin > from {
                match self.atoms.last_mut().filter(|_| from > start) {
                    Some(last) => last.stop = begin,
                    None => self.push(from, begin, End::Word, None),
                }
            }
            from = begin + sentence.text.len();
            self.push(begin, from, End::Sentence, None);
        }
        if from < stop {
            match self.atoms.last_mut().filter(|_| from > start) {
                Some(last) => last.stop = stop,
                None => self.push(from, stop, End::Sentence, None),
            }
        }
    }

    /// Adds a part, in pieces if it is too long.
    fn push(&mut self, mut start: usize, stop: usize, end: End, heading: Option<usize>) {
        while stop - start > self.most {
            let rest = &self.text[start..stop];
            let longest = rest.floor_char_boundary(self.most).max(rest.ceil_char_boundary(1));
            let space = rest[..longest].char_indices().rev().find(|(_, c)| c.is_whitespace());
            let length = space.map_or(longest, |(at, c)| at + c.len_utf8());
            self.atoms.push(Atom { start, stop: start + length, end: End::Word, heading });
            start += length;
        }
        if start < stop {
            self.atoms.push(Atom { start, stop, end, heading });
        }
    }
}
