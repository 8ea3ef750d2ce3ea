//! Encodings: which one bytes are in, and their text.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

/// The bytes from which an encoding is detected.
const SAMPLE: usize = 1 << 20;

/// Decodes by byte order mark, as UTF-8 if valid, as UTF-16 by its zeros, or by detection.
pub fn decode(bytes: &[u8]) -> String {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned();
    }
    // UTF-16 of plain English is also valid UTF-8, with a zero in every other byte.
    if let Ok(text) = std::str::from_utf8(bytes)
        && wide(&bytes[..bytes.len().min(SAMPLE)]).is_none()
    {
        return text.to_owned();
    }
    encoding_of(bytes).decode_without_bom_handling(bytes).0.into_owned()
}

/// Decodes as [`decode`] does, but by the declared charset where that would detect one.
pub fn decode_as(bytes: &[u8], charset: Option<&str>) -> String {
    let declared = charset.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    match declared {
        Some(encoding) if applies(encoding, bytes) => {
            encoding.decode_without_bom_handling(bytes).0.into_owned()
        }
        _ => decode(bytes),
    }
}

/// Whether a declared encoding decides: bytes with a byte order mark and valid UTF-8 say themselves what they are, but
/// ISO-2022-JP is ASCII with escapes, so that it is always valid UTF-8.
pub fn applies(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    const ESCAPE: u8 = 0x1b;
    Encoding::for_bom(bytes).is_none()
        && (std::str::from_utf8(bytes).is_err()
            || encoding == ISO_2022_JP && bytes.contains(&ESCAPE))
}

/// The encoding of text that has no byte order mark.
pub fn encoding_of(bytes: &[u8]) -> &'static Encoding {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if let Some(encoding) = wide(sample) {
        return encoding;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, sample.len() == bytes.len());
    detector.guess(None, Utf8Detection::Allow)
}

/// Detects UTF-16 without a byte order mark by the zeros of its ASCII characters.
pub fn wide(sample: &[u8]) -> Option<&'static Encoding> {
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

/// The encoding of a label, if it is known.
pub fn named(label: &str) -> Option<&'static Encoding> {
    // The label was read as ASCII, so the text is not UTF-16 even if the label says so.
    Encoding::for_label(label.trim().as_bytes())
        .map(|encoding| if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}
