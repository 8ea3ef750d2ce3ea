//! Bytes → code points.

/// Counts code points up to a byte, from the nearest of regular marks.
pub(super) struct Offsets<'a> {
    text: &'a str,
    /// Code points before each multiple of [`STEP`] bytes.
    marks: Vec<usize>,
}

const STEP: usize = 1_024;

impl<'a> Offsets<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut marks = Vec::with_capacity(text.len() / STEP + 1);
        let mut count = 0;
        for (at, byte) in text.bytes().enumerate() {
            if at % STEP == 0 {
                marks.push(count);
            }
            count += usize::from(starts_character(byte));
        }
        Self { text, marks }
    }

    pub(super) fn of(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        let Some(mark) =
            byte.checked_div(STEP).map(|mark| mark.min(self.marks.len().saturating_sub(1)))
        else {
            return 0;
        };
        let counted = self.marks.get(mark).copied().unwrap_or(0);
        let rest = &self.text.as_bytes()[mark * STEP..byte];
        counted + rest.iter().filter(|byte| starts_character(**byte)).count()
    }
}

fn starts_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}
