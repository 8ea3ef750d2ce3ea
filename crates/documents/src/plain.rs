//! Plain text in whichever encoding it came.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::extract::{Extracted, Limits};

/// How much of a text an encoding is guessed from.
const SAMPLE: usize = 1 << 20;

pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Extracted {
    // No encoding takes more than three bytes of UTF-8 for one of its own, so what is cut here would be cut below.
    let whole = bytes.len() <= limits.text.saturating_mul(4);
    let bytes = if whole { bytes } else { &bytes[..limits.text.saturating_mul(4)] };
    let mut text = decode(bytes);
    let truncated = !whole || text.len() > limits.text;
    text.truncate(text.floor_char_boundary(limits.text));
    Extracted { text, parts: 1, truncated, ..Extracted::default() }
}

/// The text of these bytes: by byte order mark, as UTF-8 if they are, by the pattern of zeros, or by a guess.
pub(crate) fn decode(bytes: &[u8]) -> String {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned();
    }
    // UTF-16 of plain English is valid UTF-8, too, with a zero in every other place.
    if let Ok(text) = std::str::from_utf8(bytes)
        && wide(&bytes[..bytes.len().min(SAMPLE)]).is_none()
    {
        return text.to_owned();
    }
    encoding_of(bytes).decode_without_bom_handling(bytes).0.into_owned()
}

/// The encoding of text that has no byte order mark.
pub(crate) fn encoding_of(bytes: &[u8]) -> &'static Encoding {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if let Some(encoding) = wide(sample) {
        return encoding;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, sample.len() == bytes.len());
    detector.guess(None, Utf8Detection::Allow)
}

/// UTF-16 without a mark shows by the zeros of its ASCII characters, all on one side.
pub(crate) fn wide(sample: &[u8]) -> Option<&'static Encoding> {
    let zeros = |odd: usize| sample.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, pairs) = (zeros(0), zeros(1), sample.len() / 2);
    if pairs < 2 {
        return None;
    }
    match (even * 100 / pairs, odd * 100 / pairs) {
        (0..=2, 40..) => Some(UTF_16LE),
        (40.., 0..=2) => Some(UTF_16BE),
        _ => None,
    }
}

/// The encoding that a document names, unless that is nonsense.
pub(crate) fn named(label: &str) -> Option<&'static Encoding> {
    // A label was read as ASCII, so the text cannot be UTF-16 whatever the label says.
    Encoding::for_label(label.trim().as_bytes())
        .map(|encoding| if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}
