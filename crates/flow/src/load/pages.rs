//! The page on which a place of a text is.

/// Where the pages of a text begin, in code points.
pub(super) struct Pages(Vec<usize>);

impl Pages {
    /// From where they begin in bytes; what is beyond the end of the text is left out.
    pub(super) fn new(text: &str, starts: &[usize]) -> Self {
        let mut found = Vec::with_capacity(starts.len());
        let (mut bytes, mut points) = (0, 0);
        for start in starts {
            // The text may have been cut.
            let Some(before) = text.get(bytes..*start) else { break };
            points += before.chars().count();
            bytes = *start;
            found.push(points);
        }
        Self(found)
    }

    /// The number of the page, from 1, that has the code point at an offset.
    pub(super) fn at(&self, offset: usize) -> Option<usize> {
        // Pages without text begin where the next one does, which is the one that counts.
        let page = self.0.partition_point(|start| *start <= offset);
        (page > 0).then_some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::Pages;

    fn pages_at(text: &str, starts: &[usize], offsets: &[usize]) -> Vec<Option<usize>> {
        let pages = Pages::new(text, starts);
        offsets.iter().map(|offset| pages.at(*offset)).collect()
    }

    #[test]
    fn pages_are_counted_from_one() {
        assert_eq!(pages_at("one two", &[], &[0, 4]), [None, None]);
        assert_eq!(pages_at("one two", &[0, 4], &[0, 3, 4, 6]), [1, 1, 2, 2].map(Some));
        // Offsets are code points; starts are bytes.
        assert_eq!(pages_at("éé two", &[0, 5], &[2, 3]), [1, 2].map(Some));
    }

    #[test]
    fn a_page_without_text_has_no_chunk() {
        assert_eq!(pages_at("one two", &[0, 4, 4, 7], &[0, 4, 6]), [1, 3, 3].map(Some));
        assert_eq!(pages_at("one two", &[0, 0], &[0]), [Some(2)]);
    }

    #[test]
    fn starts_that_are_not_in_the_text_are_left_out() {
        assert_eq!(pages_at("one", &[0, 4, 9], &[0, 2]), [1, 1].map(Some));
        assert_eq!(pages_at("é", &[0, 1], &[0]), [Some(1)]);
    }
}
