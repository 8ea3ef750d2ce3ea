//! The words of all pages as one text, and where each word is in it.

use std::collections::BTreeMap;
use std::ops::Range;

use analysis::redaction::Plan;
use documents::layout::Area;
use documents::{ShownPage, ShownWord};

/// A gap of this many font sizes separates columns.
const COLUMN_GAP: f64 = 1.5;

/// A line goes on at most this many font sizes below.
const NEXT_LINE: f64 = 3.0;

/// How many single characters in a line are a word.
const SPACED_OUT: usize = 4;

/// How many words before and after the end of a line are looked at.
const AROUND: usize = 6;

/// How many pieces of lines after one are looked at.
const PIECES_AFTER: usize = 60;

/// The text, which has the ends of lines in columns a second time, next to the lines that go on with them, and so words whose
/// characters are spaced out.
pub(super) struct PdfText {
    pub(super) text: String,
    words: Vec<PlacedText>,
    /// Where the text ends and the repeated ends of lines begin.
    repeats: usize,
}

/// A word of a page and its place in the text.
struct PlacedText {
    page: usize,
    word: usize,
    place: Range<usize>,
}

impl PdfText {
    pub(super) fn of(pages: &[ShownPage]) -> Self {
        let mut found = Self { text: String::new(), words: Vec::new(), repeats: 0 };
        for (page, shown) in pages.iter().enumerate() {
            found.add(page, &shown.words, 0..shown.words.len(), " ");
            found.text.push('\n');
        }
        found.repeats = found.text.len();
        for (page, shown) in pages.iter().enumerate() {
            for run in spaced_out(&shown.words) {
                found.add(page, &shown.words, run, "");
                found.text.push('\n');
            }
            let pieces = pieces(&shown.words);
            for (at, piece) in pieces.iter().enumerate() {
                for next in continuations(&shown.words, &pieces, at) {
                    let tail = piece.end.saturating_sub(AROUND).max(piece.start)..piece.end;
                    let head = next.start..next.end.min(next.start + AROUND);
                    found.add(page, &shown.words, tail, " ");
                    found.add(page, &shown.words, head, " ");
                    found.text.push('\n');
                }
            }
        }
        found
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    fn add(&mut self, page: usize, words: &[ShownWord], range: Range<usize>, gap: &str) {
        let mut line = None;
        for index in range {
            let word = &words[index];
            if line.is_some() {
                self.text.push_str(if line == Some(word.line) { gap } else { "\n" });
            }
            line = Some(word.line);
            let start = self.text.len();
            self.text.push_str(&word.text);
            self.words.push(PlacedText { page, word: index, place: start..self.text.len() });
        }
        self.text.push('\n');
    }

    /// The areas of each page's words that hold a part of a value.
    pub(super) fn areas(&self, pages: &[ShownPage], plan: &Plan) -> Vec<Vec<Area>> {
        let mut areas = vec![Vec::new(); pages.len()];
        for word in self.words.iter().filter(|word| plan.touches(word.place.clone())) {
            areas[word.page].push(pages[word.page].words[word.word].ink);
        }
        areas
    }

    /// How many places of each type are redacted; one that is also in the repeated ends counts once.
    pub(super) fn counts(&self, plan: &Plan) -> BTreeMap<String, usize> {
        let first = self.words.partition_point(|word| word.place.start < self.repeats);
        let (text, repeats) = self.words.split_at(first);
        let mut known: std::collections::HashSet<(usize, usize)> = text
            .iter()
            .filter(|word| plan.touches(word.place.clone()))
            .map(|word| (word.page, word.word))
            .collect();
        let mut new = Vec::new();
        for word in repeats.iter().filter(|word| plan.touches(word.place.clone())) {
            if known.insert((word.page, word.word)) {
                new.push(word.place.clone());
            }
        }
        plan.counts_of(|place| {
            place.start < self.repeats
                || new.iter().any(|word| word.start < place.end && place.start < word.end)
        })
    }
}

/// Runs of single characters on a line, which are words with wide gaps between their characters.
fn spaced_out(words: &[ShownWord]) -> Vec<Range<usize>> {
    let is_single = |word: &ShownWord| word.text.chars().nth(1).is_none();
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, word) in words.iter().enumerate().filter(|(_, word)| is_single(word)) {
        match runs.last_mut() {
            Some(run) if run.end == index && words[run.start].line == word.line => run.end += 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs.retain(|run| run.len() >= SPACED_OUT);
    runs
}

/// The pieces of lines between wide gaps.
fn pieces(words: &[ShownWord]) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let goes_on = index.checked_sub(1).map(|before| &words[before]).is_some_and(|before| {
            before.line == word.line && word.span.0 - before.span.1 < word.size * COLUMN_GAP
        });
        match pieces.last_mut() {
            Some(piece) if goes_on => piece.end = index + 1,
            _ => pieces.push(index..index + 1),
        }
    }
    pieces
}

/// The pieces below one that may go on with it, without the one that follows it in the text.
fn continuations<'p>(
    words: &'p [ShownWord],
    pieces: &'p [Range<usize>],
    at: usize,
) -> impl Iterator<Item = &'p Range<usize>> {
    let extent = |piece: &Range<usize>| (words[piece.start].span.0, words[piece.end - 1].span.1);
    let (left, right) = extent(&pieces[at]);
    let last = &words[pieces[at].end - 1];
    let after = pieces.iter().enumerate().skip(at + 1).take(PIECES_AFTER);
    let below = after.filter(move |(index, piece)| {
        let first = &words[piece.start];
        let (start, end) = extent(piece);
        let step = first.baseline - last.baseline;
        let follows = *index == at + 1;
        !follows
            && first.direction == last.direction
            && step > last.size * 0.3
            && step < last.size * NEXT_LINE
            && start < right
            && left < end
    });
    below.map(|(_, piece)| piece).take(2)
}
