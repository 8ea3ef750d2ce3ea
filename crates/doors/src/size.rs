use strip::Strip;

/// The largest message that is read, unless a tool takes a larger input.
pub(crate) const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// What a message has around the input: the envelope of its protocol.
const AROUND: usize = 64 * 1024;

/// The largest message that a door reads now: so many bytes, or as many as the tool with the largest input needs.
pub(crate) fn message_limit(strip: &Strip, least: usize) -> usize {
    let input = strip.catalog().snapshot().largest_input();
    // Spaces and escapes make an input longer on its way than it is.
    least.max(input.saturating_add(input / 10).saturating_add(AROUND))
}
