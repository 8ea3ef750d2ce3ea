//! The sentences of the body.

use std::ops::Range;

use super::layout::Part;

/// Sentences in order, each with its part.
pub(super) struct Sentences {
    ranges: Vec<Range<usize>>,
    /// Where the sentences of each part begin in `ranges`.
    parts: Vec<usize>,
}

impl Sentences {
    pub(super) fn of(text: &str, body: &[Part]) -> Self {
        let mut ranges = Vec::new();
        let mut parts = Vec::with_capacity(body.len() + 1);
        for part in body {
            parts.push(ranges.len());
            let mut from = part.range.start;
            for sentence in language::prose::sentences(&text[part.range.clone()]) {
                let Some(start) =
                    text[from..part.range.end].find(sentence.text).map(|at| from + at)
                else {
                    continue;
                };
                from = start + sentence.text.len();
                ranges.push(start..from);
            }
        }
        parts.push(ranges.len());
        Self { ranges, parts }
    }

    /// The sentences of a part.
    pub(super) fn in_part(&self, part: usize) -> &[Range<usize>] {
        &self.ranges[self.parts[part]..self.parts[part + 1]]
    }

    /// The sentence of a citation. One that follows the full stop belongs to the sentence before it.
    pub(super) fn around(&self, text: &str, place: &Range<usize>) -> Option<Range<usize>> {
        let at = self.ranges.partition_point(|sentence| sentence.end <= place.start);
        let sentence = self.ranges.get(at)?.clone();
        let alone = !text[sentence.start..place.start.max(sentence.start)]
            .contains(char::is_alphabetic)
            && place.start <= sentence.start + 2;
        let before = at.checked_sub(1).and_then(|before| self.ranges.get(before));
        match before {
            // `… it is hot. [1] The next …`
            Some(before)
                if alone
                    && text[place.clone()].starts_with('[')
                    && place.start.saturating_sub(before.end) <= 2 =>
            {
                Some(before.start..place.end)
            }
            _ => Some(sentence),
        }
    }
}
