//! Bytes to text.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    pub text: String,
    /// Says so if the encoding is a guess.
    pub warning: Option<String>,
}

/// Reads UTF-8, UTF-16 with a byte order mark or with obvious zero bytes, and anything else as Windows-1252, of which
/// Latin-1 is a part.
pub fn decode(bytes: &[u8]) -> Decoded {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return with(encoding, &bytes[mark..], None);
    }
    if std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0) {
        return with(UTF_8, bytes, None);
    }
    if let Some(encoding) = utf16_without_mark(bytes) {
        let guess = format!("the file is read as {}, which it does not state", encoding.name());
        return with(encoding, bytes, Some(guess));
    }
    let guess =
        "the file is not UTF-8 and is read as Windows-1252 (Latin-1); check characters such as é";
    with(WINDOWS_1252, bytes, Some(guess.to_owned()))
}

fn with(encoding: &'static Encoding, bytes: &[u8], guess: Option<String>) -> Decoded {
    let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
    let text = text.replace('\0', "");
    let damaged = || format!("some bytes are not {}; they are shown as \u{fffd}", encoding.name());
    Decoded { text, warning: guess.or_else(|| had_errors.then(damaged)) }
}

/// Subtitles are mostly ASCII, in which every second byte of UTF-16 is zero.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(400)];
    let zeros = |offset: usize| head.iter().skip(offset).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let half = head.len() / 2;
    match (even * 10 > half * 6, odd * 10 > half * 6) {
        (true, false) => Some(UTF_16BE),
        (false, true) => Some(UTF_16LE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_found() {
        let utf16 = |text: &str, big: bool| -> Vec<u8> {
            let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
            text.encode_utf16().flat_map(bytes).collect()
        };
        let text = "1\n00:00:01,000 --> 00:00:02,000\nZoë";
        assert_eq!(decode(text.as_bytes()), Decoded { text: text.to_owned(), warning: None });
        assert_eq!(decode(format!("\u{feff}{text}").as_bytes()).text, text);
        for big in [true, false] {
            let marked = utf16(&format!("\u{feff}{text}"), big);
            assert_eq!(decode(&marked), Decoded { text: text.to_owned(), warning: None });
            let bare = decode(&utf16(text, big));
            assert_eq!(bare.text, text);
            assert!(bare.warning.is_some());
        }
        let latin = decode(b"Zo\xeb");
        assert_eq!(latin.text, "Zoë");
        assert!(latin.warning.is_some_and(|warning| warning.contains("Latin-1")));
    }
}
