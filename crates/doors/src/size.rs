//! The size limit of messages.

use strip::Strip;

/// The largest message that is read, unless a tool takes a larger input.
pub(crate) const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// The bytes that a message may have in addition to the input.
const OVERHEAD: usize = 64 * 1024;

/// The largest message that a door reads now: `least` bytes, or more if a tool takes a larger input.
pub(crate) fn message_limit(strip: &Strip, least: usize) -> usize {
    let input = strip.catalog().snapshot().largest_input();
    // White space and escapes make an input longer on the wire.
    least.max(input.saturating_add(input / 10).saturating_add(OVERHEAD))
}
