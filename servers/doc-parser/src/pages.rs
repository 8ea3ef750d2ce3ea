//! Which pages of a document are asked for: `1-3,7`.

use kit::Fault;

/// Pages beyond this are not read.
pub(crate) const MOST_PAGES: usize = 2_000;

/// The most ranges of one call.
const MOST_RANGES: usize = 200;

/// Ranges of pages, first and last; an empty list is all pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pages(Vec<(usize, usize)>);

impl Pages {
    pub(crate) fn parse(text: Option<&str>) -> Result<Self, Fault> {
        let Some(text) = text else { return Ok(Self::default()) };
        let wrong = |part: &str| {
            let part = proto::clean::line(part);
            Fault::invalid_input(format!("/pages: `{part}` is no range of pages; write `1-3,7`"))
        };
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > MOST_RANGES {
            return Err(Fault::invalid_input(format!("/pages: at most {MOST_RANGES} ranges")));
        }
        let ranges = parts.into_iter().map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<usize>().ok().filter(|page| *page > 0);
            match (number(first), number(last)) {
                (Some(first), Some(last)) if first <= last => Ok((first, last)),
                _ => Err(wrong(part)),
            }
        });
        Ok(Self(ranges.collect::<Result<_, _>>()?))
    }

    pub(crate) fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, page: usize) -> bool {
        self.is_all() || self.0.iter().any(|(first, last)| (*first..=*last).contains(&page))
    }

    /// Refuses ranges that begin after the last page.
    pub(crate) fn check(&self, count: usize) -> Result<(), Fault> {
        match self.0.iter().find(|(first, _)| *first > count) {
            Some((first, _)) => Err(Fault::invalid_input(format!(
                "/pages: there is no page {first}; the document has {count}"
            ))),
            None => Ok(()),
        }
    }

    pub(crate) fn ranges(&self) -> &[(usize, usize)] {
        &self.0
    }

    pub(crate) fn of_ranges(ranges: Vec<(usize, usize)>) -> Self {
        Self(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        let pages = Pages::parse(Some("1-3, 7")).expect("ranges");
        let chosen: Vec<usize> = (1..10).filter(|page| pages.contains(*page)).collect();
        assert_eq!(chosen, [1, 2, 3, 7]);
        assert!(pages.check(7).is_ok() && pages.check(6).is_err());
        assert!(Pages::parse(None).expect("all").contains(12));
    }

    #[test]
    fn bad_page_ranges_are_refused() {
        for text in ["", "0", "3-1", "a", "1-", "1,,2", "-1"] {
            assert!(Pages::parse(Some(text)).is_err(), "{text}");
        }
        assert!(Pages::parse(Some(&"1,".repeat(500))).is_err());
    }
}
