//! The texts of a part joined as a reader sees them, and the way back to each of them.

use std::collections::HashMap;
use std::ops::Range;

use super::walk::{Sink, Stream};
use crate::redaction::Plan;
use crate::redaction::search::Search;

/// Between texts: words do not go on after a blank line.
const APART: &str = "\n\n";

/// The texts of a part: runs without a gap, paragraphs and other texts on lines of their own.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) text: String,
    /// For each text of the part, where it is in the joined text: several times if some of its paragraph is hidden, or deleted
    /// by a tracked change.
    places: Vec<Vec<Range<usize>>>,
    /// Paragraphs as they were before deletions and without what is hidden: values in them are counted already.
    pub(super) repeats: Vec<Range<usize>>,
    paragraphs: Vec<Paragraph>,
    loose: Paragraph,
    instructions: Line,
    inserted: usize,
    limit: usize,
}

#[derive(Default)]
struct Paragraph {
    now: Line,
    before: Line,
    /// With the first of alternatives, and with the others.
    shown: [Line; 2],
    has_deletions: bool,
    has_hidden: bool,
}

/// Texts that are joined, by their numbers.
#[derive(Default)]
struct Line {
    text: String,
    parts: Vec<(usize, Range<usize>)>,
}

impl Line {
    fn add(&mut self, number: usize, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.parts.push((number, start..self.text.len()));
    }
}

impl Texts {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Adds what is not in a paragraph.
    pub(super) fn finish(&mut self) {
        while let Some(paragraph) = self.paragraphs.pop() {
            self.add_paragraph(paragraph);
        }
        let loose = std::mem::take(&mut self.loose);
        self.add_paragraph(loose);
        let instructions = std::mem::take(&mut self.instructions);
        self.add_line(instructions);
    }

    /// Adds a line that is no text of the part; gives its place.
    pub(super) fn add_note(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        let place = start..self.text.len();
        self.text.push_str(APART);
        place
    }

    fn paragraph(&mut self) -> &mut Paragraph {
        self.paragraphs.last_mut().unwrap_or(&mut self.loose)
    }

    fn add_paragraph(&mut self, paragraph: Paragraph) {
        self.add_line(paragraph.now);
        let [first, second] = paragraph.shown;
        let others = [
            (paragraph.has_deletions, paragraph.before),
            (paragraph.has_hidden, first),
            (paragraph.has_hidden, second),
        ];
        for (_, line) in others.into_iter().filter(|(differs, _)| *differs) {
            let start = self.text.len();
            self.add_line(line);
            self.repeats.push(start..self.text.len());
        }
    }

    fn add_line(&mut self, line: Line) {
        let offset = self.text.len();
        self.text.push_str(&line.text);
        self.text.push_str(APART);
        for (number, part) in line.parts {
            self.places[number].push(part.start + offset..part.end + offset);
        }
    }
}

impl Sink for Texts {
    fn text(&mut self, stream: Stream, text: &str) -> String {
        let number = self.places.len();
        self.places.push(Vec::new());
        let inserted = self.inserted > 0;
        match stream {
            Stream::Shown | Stream::Hidden | Stream::Choice | Stream::Fallback => {
                let paragraph = self.paragraph();
                paragraph.now.add(number, text);
                paragraph.has_hidden |= stream != Stream::Shown;
                for (line, other) in
                    paragraph.shown.iter_mut().zip([Stream::Fallback, Stream::Choice])
                {
                    if stream != Stream::Hidden && stream != other {
                        line.add(number, text);
                    }
                }
                if !inserted {
                    paragraph.before.add(number, text);
                }
            }
            Stream::Deleted => {
                let paragraph = self.paragraph();
                paragraph.has_deletions = true;
                paragraph.before.add(number, text);
            }
            Stream::Instruction => self.instructions.add(number, text),
            Stream::Single => {
                let mut line = Line::default();
                line.add(number, text);
                self.add_line(line);
            }
        }
        String::new()
    }

    fn plain(&mut self, _: &str) -> Option<String> {
        None
    }

    fn sign(&mut self, sign: char) {
        let paragraph = self.paragraph();
        paragraph.now.text.push(sign);
        paragraph.before.text.push(sign);
        paragraph.shown.iter_mut().for_each(|line| line.text.push(sign));
        if sign == '\n' {
            self.instructions.text.push(sign);
        }
    }

    fn end_instruction(&mut self) {
        self.instructions.text.push('\n');
    }

    fn open_paragraph(&mut self) {
        self.paragraphs.push(Paragraph::default());
    }

    fn close_paragraph(&mut self) {
        self.instructions.text.push('\n');
        if let Some(paragraph) = self.paragraphs.pop() {
            self.add_paragraph(paragraph);
        }
    }

    fn inserted(&mut self, begins: bool) {
        self.inserted = if begins { self.inserted + 1 } else { self.inserted.saturating_sub(1) };
    }

    fn is_full(&self) -> bool {
        self.text.len() > self.limit
    }
}

/// Writes a part with the replacements of a plan.
pub(super) struct Edited<'e, 's> {
    texts: &'e Texts,
    plan: &'e Plan,
    /// Where the text of this part begins in the planned text.
    offset: usize,
    plain: &'e mut PlainValues<'s>,
    next: usize,
}

impl<'e, 's> Edited<'e, 's> {
    pub(super) fn new(
        texts: &'e Texts,
        plan: &'e Plan,
        offset: usize,
        plain: &'e mut PlainValues<'s>,
    ) -> Self {
        Self { texts, plan, offset, plain, next: 0 }
    }
}

impl Sink for Edited<'_, '_> {
    /// A value over several texts is replaced in the first and removed from the others.
    fn text(&mut self, _: Stream, text: &str) -> String {
        let places = self.texts.places.get(self.next).map_or(&[][..], Vec::as_slice);
        self.next += 1;
        let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
        for place in places {
            let place = place.start + self.offset..place.end + self.offset;
            for edit in self.plan.edits_within(&place) {
                let start = edit.place.start.max(place.start) - place.start;
                let end = edit.place.end.min(place.end) - place.start;
                let begins = edit.place.start >= place.start;
                edits.push((start..end, if begins { &edit.replacement } else { "" }));
            }
        }
        edits.sort_by_key(|(place, _)| (place.start, std::cmp::Reverse(place.end)));
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (place, replacement) in edits {
            if place.start >= at {
                out.push_str(&text[at..place.start]);
                out.push_str(replacement);
            }
            at = at.max(place.end);
        }
        out.push_str(&text[at..]);
        out
    }

    fn plain(&mut self, value: &str) -> Option<String> {
        self.plain.has_value(value).then(|| "redacted".to_owned())
    }

    fn sign(&mut self, _: char) {}
}

/// Names, numbers and other attributes that hold no text, each looked at once.
pub(super) struct PlainValues<'s> {
    search: &'s Search,
    known: HashMap<String, bool>,
}

impl<'s> PlainValues<'s> {
    pub(super) fn new(search: &'s Search) -> Self {
        Self { search, known: HashMap::new() }
    }

    pub(super) fn has_value(&mut self, value: &str) -> bool {
        // Measures and numbers of the layout are equal to a telephone number by chance only.
        let measure = |c: char| c.is_ascii_hexdigit() || matches!(c, '.' | '-');
        if value.len() < 4 || value.len() <= 10 && value.chars().all(measure) {
            return false;
        }
        if let Some(known) = self.known.get(value) {
            return *known;
        }
        let found = !self.search.hits(value).is_empty();
        self.known.insert(value.to_owned(), found);
        found
    }
}

/// Reads a part again: its texts, and how many of its other attributes hold a value.
pub(super) struct Checked<'e, 's> {
    pub(super) texts: Texts,
    pub(super) plain: &'e mut PlainValues<'s>,
    pub(super) found: usize,
}

impl Sink for Checked<'_, '_> {
    fn text(&mut self, stream: Stream, text: &str) -> String {
        self.texts.text(stream, text)
    }

    fn plain(&mut self, value: &str) -> Option<String> {
        self.found += usize::from(self.plain.has_value(value));
        None
    }

    fn sign(&mut self, sign: char) {
        self.texts.sign(sign);
    }

    fn end_instruction(&mut self) {
        self.texts.end_instruction();
    }

    fn open_paragraph(&mut self) {
        self.texts.open_paragraph();
    }

    fn close_paragraph(&mut self) {
        self.texts.close_paragraph();
    }

    fn inserted(&mut self, begins: bool) {
        self.texts.inserted(begins);
    }
}
