//! Events without data, with which the library begins each stream of a session, so that a client has an id to resume it
//! by. Clients before 2025-11-25 parse the empty data as a message, and report an error.

use bytes::Bytes;

/// The largest part of a stream that can be such an event: id, retry time and an empty line of data.
const MAX_BYTES: usize = 256;

/// Whether a part of a stream is an event without data. The library writes each event and each comment as one part.
pub(super) fn is_priming(part: &Bytes) -> bool {
    let mut has_data = false;
    part.len() <= MAX_BYTES
        && part.split(|byte| *byte == b'\n').all(|line| match line.strip_prefix(b"data:") {
            Some(data) => {
                has_data = true;
                data.trim_ascii().is_empty()
            }
            None => true,
        })
        && has_data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_with_empty_data_are_priming() {
        for (part, expected) in [
            ("data: \nid: 0/0\nretry: 3000\n\n", true),
            ("id: 0\nretry: 3000\ndata:\n\n", true),
            (":\n\n", false),
            ("data: {}\nid: 0/1\n\n", false),
            ("event: message\ndata: {}\n\n", false),
            ("", false),
        ] {
            assert_eq!(is_priming(&Bytes::from(part)), expected, "{part:?}");
        }
    }
}
