/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) text: String,
    /// Where it begins, in bytes: after the character that the requested offset is within.
    pub(super) offset: u64,
    /// Where the next part begins; none at the end.
    pub(super) next_offset: Option<u64>,
    /// The size of the whole text.
    pub(super) size: u64,
}

/// The text from `offset` on with at most `max_bytes` bytes, cut between characters. `bytes` begin at `start`, at or
/// before the offset, and reach at least three bytes beyond the part, or to the end of the text.
pub(super) fn slice(bytes: &[u8], start: u64, offset: u64, max_bytes: u64, size: u64) -> Slice {
    let at = |position: u64| {
        usize::try_from(position.saturating_sub(start)).unwrap_or(usize::MAX).min(bytes.len())
    };
    let from = next_boundary(bytes, at(offset));
    let most = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    let mut to = from.saturating_add(most).min(bytes.len());
    if to < bytes.len() {
        to = previous_boundary(bytes, to).max(next_boundary(bytes, from + 1).min(bytes.len()));
    }
    let end = start + to as u64;
    Slice {
        text: String::from_utf8_lossy(&bytes[from..to]).into_owned(),
        offset: start + from as u64,
        next_offset: (end < size).then_some(end),
        size,
    }
}

/// Whether a character may begin at a position: no byte within a character.
fn is_boundary(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)
}

/// The first boundary at or after a position. In bytes that are no text, three bytes on.
fn next_boundary(bytes: &[u8], at: usize) -> usize {
    (at..at + 3).find(|at| is_boundary(bytes, *at)).unwrap_or(at + 3).min(bytes.len())
}

/// The last boundary at or before a position. In bytes that are no text, the position itself.
fn previous_boundary(bytes: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|at| is_boundary(bytes, *at)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::*;

    fn read(text: &[u8], offset: u64, max_bytes: u64) -> Slice {
        let start = offset.saturating_sub(3);
        let end = (offset + max_bytes + 3).min(text.len() as u64);
        let part = &text[start as usize..end as usize];
        slice(part, start, offset, max_bytes, text.len() as u64)
    }

    #[test]
    fn parts_are_cut_between_characters() {
        let text = "aé漢🙂z";
        let part = read(text.as_bytes(), 0, 4);
        assert_eq!((part.text.as_str(), part.next_offset), ("aé", Some(3)));
        // Within a character: the next one.
        let part = read(text.as_bytes(), 4, 100);
        assert_eq!((part.text.as_str(), part.offset, part.next_offset), ("🙂z", 6, None));
        assert_eq!(read(text.as_bytes(), text.len() as u64, 4).text, "");
    }

    proptest! {
        #[test]
        fn all_parts_together_are_the_text(text in "(\\PC|🙂|漢){0,200}", max in 4_u64..50) {
            let (mut whole, mut next) = (String::new(), Some(0));
            while let Some(offset) = next {
                let part = read(text.as_bytes(), offset, max);
                assert_eq!(part.offset, offset);
                assert!(part.text.len() as u64 <= max);
                assert!(!part.text.is_empty() || part.next_offset.is_none());
                whole.push_str(&part.text);
                next = part.next_offset;
            }
            assert_eq!(whole, text);
        }

        #[test]
        fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..300), max in 4_u64..50) {
            let mut next = Some(0);
            while let Some(offset) = next {
                let part = read(&bytes, offset, max);
                assert!(part.next_offset.is_none_or(|next| next > offset));
                next = part.next_offset;
            }
        }
    }
}
