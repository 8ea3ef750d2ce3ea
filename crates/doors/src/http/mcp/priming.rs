//! Events without data, with which the library begins each stream of a session, so that a client has an id to resume it
//! by. Clients before 2025-11-25 parse the empty data as a message, and report an error. Some of them take the empty line
//! after a comment for the end of such an event as well, once they have an id.

use bytes::Bytes;

/// A part of a stream as clients before 2025-11-25 can read it, if anything is left of it.
pub(super) fn without_empty_events(part: Bytes) -> Option<Bytes> {
    if is_comment(&part) {
        return Some(part.slice(..part.len() - 1));
    }
    (!is_priming(&part)).then_some(part)
}

/// Whether a part of a stream is one comment and the empty line after it.
fn is_comment(part: &[u8]) -> bool {
    let line = part.strip_suffix(b"\n\n");
    line.is_some_and(|line| line.starts_with(b":") && !line.contains(&b'\n'))
}

/// The largest part of a stream that can be such an event: id, retry time and an empty line of data.
const MAX_BYTES: usize = 256;

/// Whether a part of a stream is an event without data. The library writes each event and each comment as one part.
fn is_priming(part: &Bytes) -> bool {
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

    #[test]
    fn comments_lose_the_empty_line_that_ends_an_event() {
        for (part, expected) in [
            (":\n\n", Some(":\n")),
            (": still here\n\n", Some(": still here\n")),
            (":\n", Some(":\n")),
            (": a\ndata: {}\n\n", Some(": a\ndata: {}\n\n")),
            ("data: {}\nid: 0/1\n\n", Some("data: {}\nid: 0/1\n\n")),
            ("data: \nid: 0/0\n\n", None),
        ] {
            let left = without_empty_events(Bytes::from(part));
            assert_eq!(left, expected.map(Bytes::from), "{part:?}");
        }
    }
}
