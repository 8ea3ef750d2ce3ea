//! Plain text in any encoding.

use extraction::encoding::decode_as;
use extraction::{Extracted, Limits};

/// Reads plain text; `charset` is what the sender declared.
pub(crate) fn read(bytes: &[u8], charset: Option<&str>, limits: &Limits) -> Extracted {
    // One byte of any encoding becomes at most three bytes of UTF-8, so bytes cut here would be cut below anyway.
    let whole = bytes.len() <= limits.text.saturating_mul(4);
    let bytes = if whole { bytes } else { &bytes[..limits.text.saturating_mul(4)] };
    let mut text = decode_as(bytes, charset);
    let truncated = !whole || text.len() > limits.text;
    text.truncate(text.floor_char_boundary(limits.text));
    Extracted { text, parts: 1, truncated, ..Extracted::default() }
}
