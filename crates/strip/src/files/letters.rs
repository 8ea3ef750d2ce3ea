//! Base64 as it is met in answers: how it is told from other texts, and how it is read without being copied.

use base64::Engine as _;
use base64::alphabet as letters;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use futures_util::{Stream, stream};
use proto::{Blame, Code};

use super::carve::Carved;
use crate::Failure;

/// As much is decoded at a time; a multiple of four.
const STEP: usize = 64 * 1024;

/// So many different letters a long base64 has at least.
const MIN_LETTERS: u32 = 10;

/// Some encoders leave bits behind that mean nothing.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
static STANDARD: GeneralPurpose = GeneralPurpose::new(&letters::STANDARD, LENIENT);
static URL_SAFE: GeneralPurpose = GeneralPurpose::new(&letters::URL_SAFE, LENIENT);

/// Whether a text is what stands before the base64 of a data URL.
pub(super) fn is_data_url(before: &str) -> bool {
    before.len() < 200 && before.starts_with("data:") && before.ends_with(";base64,")
}

/// With which letters a long text is base64, of whole groups; none if it is none.
pub(super) fn alphabet(
    length: usize,
    bytes: impl Iterator<Item = u8>,
) -> Option<&'static GeneralPurpose> {
    let (mut plain, mut url_safe, mut padding) = (false, false, 0);
    let mut seen = 0_u128;
    for byte in bytes {
        seen |= 1_u128.checked_shl(u32::from(byte)).unwrap_or(0);
        match byte {
            b'=' => padding += 1,
            _ if padding > 0 => return None,
            b'+' | b'/' => plain = true,
            b'-' | b'_' => url_safe = true,
            byte if byte.is_ascii_alphanumeric() => {}
            _ => return None,
        }
    }
    let engine = if url_safe { &URL_SAFE } else { &STANDARD };
    // The bytes of a file use many letters; a text that repeats itself does not.
    let varied = seen.count_ones() >= MIN_LETTERS;
    (varied && length.is_multiple_of(4) && padding < 3 && !(plain && url_safe)).then_some(engine)
}

/// The bytes of a text that is to be base64, which may have been set aside.
pub(super) fn in_bytes(
    carved: Option<&Carved>,
    text: &str,
) -> impl Stream<Item = Result<Bytes, Failure>> + use<> {
    let pieces = match carved.and_then(|carved| carved.run(text)) {
        Some(("", run)) => run.pieces.clone(),
        _ => {
            let whole = carved.map_or_else(|| text.to_owned(), |carved| carved.restored(text));
            vec![Bytes::from(whole)]
        }
    };
    let url_safe = pieces.iter().flatten().any(|byte| matches!(byte, b'-' | b'_'));
    decoded(pieces, if url_safe { &URL_SAFE } else { &STANDARD })
}

/// The bytes of base64, a step at a time.
pub(super) fn decoded(
    pieces: Vec<Bytes>,
    engine: &'static GeneralPurpose,
) -> impl Stream<Item = Result<Bytes, Failure>> {
    let mut pieces = pieces.into_iter();
    let mut current = Bytes::new();
    let mut waiting: Vec<u8> = Vec::with_capacity(STEP);
    stream::iter(std::iter::from_fn(move || {
        while waiting.len() < STEP {
            if current.is_empty() {
                let Some(next) = pieces.next() else { break };
                current = next;
            }
            let part = current.split_to(current.len().min(STEP - waiting.len()));
            waiting.extend_from_slice(&part);
        }
        if waiting.is_empty() {
            return None;
        }
        let bytes = engine.decode(&waiting).map(Bytes::from).map_err(|error| {
            Failure::new(Code::Internal, "the tool answered with base64 that cannot be read")
                .blame(Blame::Tool)
                .caused_by(error)
        });
        waiting.clear();
        Some(bytes)
    }))
}
