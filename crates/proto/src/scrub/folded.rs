//! Text without the line breaks within base64 and with percent-encoding decoded, and where each byte of it was.

use std::ops::Range;

/// A line break counts as part of base64 after so many of its characters.
const MIN_RUN: usize = 16;

/// A second reading of a text, in which encoders hide nothing by breaking lines or by encoding some of the bytes.
pub(super) struct Folded {
    bytes: Vec<u8>,
    /// From a position in `bytes` on, the original position is so many bytes further.
    shifts: Vec<(u32, u32)>,
}

impl Folded {
    /// None if the text reads the same. Takes linear time.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let special = |byte: u8| text.contains(&byte);
        if !(special(b'%') || special(b'\n') || special(b'\\'))
            || u32::try_from(text.len()).is_err()
        {
            return None;
        }
        let mut folded = Self { bytes: Vec::new(), shifts: Vec::new() };
        let (mut run, mut at, mut copied) = (0, 0, 0);
        while at < text.len() {
            let (byte, length) = token(&text[at..]);
            let is_break = matches!(byte, b'\n' | b'\r');
            if is_break && run >= MIN_RUN {
                folded.bytes.extend_from_slice(&text[copied..at]);
                at += length;
                at += text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                copied = at;
                folded.shift(at);
                continue;
            }
            run = if is_base64(byte) { run + 1 } else { 0 };
            if length == ENCODED && !is_break {
                folded.bytes.extend_from_slice(&text[copied..at]);
                folded.bytes.push(byte);
                copied = at + length;
                folded.shift(copied);
            }
            at += length;
        }
        if folded.shifts.is_empty() {
            return None;
        }
        folded.bytes.extend_from_slice(&text[copied..]);
        Some(folded)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where a range of the folded text is in the original one.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        self.position(range.start)..self.position(range.end)
    }

    fn position(&self, folded: usize) -> usize {
        let before = self.shifts.partition_point(|(from, _)| *from as usize <= folded);
        let shift = before.checked_sub(1).map_or(0, |last| self.shifts[last].1);
        folded + shift as usize
    }

    /// Notes that the next byte is at this position of the original.
    fn shift(&mut self, original: usize) {
        let from = self.bytes.len();
        // The caller has checked that both fit.
        self.shifts.push((from as u32, (original - from) as u32));
    }
}

/// The length of a byte that is percent-encoded.
const ENCODED: usize = 3;

/// The first byte of a text, decoded, and its length; line breaks also as they are escaped in JSON.
fn token(text: &[u8]) -> (u8, usize) {
    match text {
        [b'%', high, low, ..] => match (hex(*high), hex(*low)) {
            (Some(high), Some(low)) => (high << 4 | low, ENCODED),
            _ => (b'%', 1),
        },
        [b'\\', b'n', ..] => (b'\n', 2),
        [b'\\', b'r', ..] => (b'\r', 2),
        [first, ..] => (*first, 1),
        [] => (0, 1),
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}
