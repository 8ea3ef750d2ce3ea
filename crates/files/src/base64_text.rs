//! Base64 in answers: recognizing it, and decoding it without copying it whole.

use base64::Engine as _;
use base64::alphabet as characters;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use futures_util::{Stream, stream};
use proto::{Blame, Code, Failure};

use super::blobs::Blobs;

/// How much is decoded at a time; a multiple of four.
const STEP: usize = 64 * 1024;

/// Long base64 of a file uses at least this many different characters.
const MIN_CHARACTERS: u32 = 10;

/// Some encoders leave unused bits at the end.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
static STANDARD: GeneralPurpose = GeneralPurpose::new(&characters::STANDARD, LENIENT);
static URL_SAFE: GeneralPurpose = GeneralPurpose::new(&characters::URL_SAFE, LENIENT);

/// Whether a text is the part of a data URL before its base64.
pub(crate) fn is_data_url(before: &str) -> bool {
    before.len() < 200 && before.starts_with("data:") && before.ends_with(";base64,")
}

/// The alphabet of a long text if it is base64 of whole groups.
pub(crate) fn alphabet(
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
    // The bytes of a file use many characters; a repetitive text does not.
    let varied = seen.count_ones() >= MIN_CHARACTERS;
    (varied && length.is_multiple_of(4) && padding < 3 && !(plain && url_safe)).then_some(engine)
}

/// Decodes a text that should be base64, which may have been extracted.
pub fn decode_text(
    blobs: Option<&Blobs>,
    text: &str,
) -> impl Stream<Item = Result<Bytes, Failure>> + use<> {
    let pieces = match blobs.and_then(|blobs| blobs.find(text)) {
        Some(("", blob)) => blob.pieces.clone(),
        _ => {
            let whole = blobs.map_or_else(|| text.to_owned(), |blobs| blobs.restore(text));
            vec![Bytes::from(whole)]
        }
    };
    let url_safe = pieces.iter().flatten().any(|byte| matches!(byte, b'-' | b'_'));
    decode_pieces(pieces, if url_safe { &URL_SAFE } else { &STANDARD })
}

/// Decodes base64 step by step.
pub(crate) fn decode_pieces(
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
