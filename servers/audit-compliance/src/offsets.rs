//! Bytes as code points and back: callers count code points, our functions bytes.

/// Bytes between two counts.
const STEP: usize = 256;

/// Counts code points of a text in constant time.
pub(crate) struct Offsets<'t> {
    text: &'t str,
    /// How many code points begin before each multiple of [`STEP`].
    counts: Vec<usize>,
}

impl<'t> Offsets<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let mut counts = vec![0];
        let mut count = 0;
        for block in text.as_bytes().chunks(STEP) {
            count += begun(block);
            counts.push(count);
        }
        Self { text, counts }
    }

    /// The number of code points before a byte.
    pub(crate) fn code_points(&self, byte: usize) -> usize {
        let block = byte / STEP;
        self.counts[block] + begun(&self.text.as_bytes()[block * STEP..byte])
    }

    /// The byte at which a code point begins; `None` beyond the end.
    pub(crate) fn byte(&self, code_point: usize) -> Option<usize> {
        let block = self.counts.partition_point(|count| *count <= code_point).saturating_sub(1);
        let mut left = code_point - self.counts[block];
        let rest = self.text.as_bytes().get(block * STEP..).unwrap_or_default();
        for (offset, byte) in rest.iter().enumerate() {
            if is_begin(*byte) {
                if left == 0 {
                    return Some(block * STEP + offset);
                }
                left -= 1;
            }
        }
        (left == 0).then_some(self.text.len())
    }
}

fn begun(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| is_begin(**byte)).count()
}

/// Whether a byte of UTF-8 begins a code point.
fn is_begin(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::Offsets;

    proptest! {
        #[test]
        fn offsets_count_code_points(text in any::<String>(), times in 1usize..200) {
            let text = text.repeat(times);
            let offsets = Offsets::of(&text);
            for (count, (byte, _)) in text.char_indices().enumerate().step_by(7) {
                assert_eq!(offsets.code_points(byte), count);
                assert_eq!(offsets.byte(count), Some(byte));
            }
            let all = text.chars().count();
            assert_eq!((offsets.code_points(text.len()), offsets.byte(all)), (all, Some(text.len())));
            assert_eq!(offsets.byte(all + 1), None);
        }
    }
}
