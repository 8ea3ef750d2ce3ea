//! Which pages of a PDF are asked for: `1-3,7`.

use kit::Fault;

/// The most ranges of one file.
const MOST_RANGES: usize = 200;

/// Ranges of pages, first and last, in the order in which they are written; none is all pages.
pub(crate) fn parse(text: &str, at: usize) -> Result<Vec<(usize, usize)>, Fault> {
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > MOST_RANGES {
        return Err(Fault::invalid_input(format!("/pages/{at}: at most {MOST_RANGES} ranges")));
    }
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|page| *page > 0);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Ok((first, last)),
            _ => {
                let part = proto::clean::line(part);
                let part: String = part.chars().take(40).collect();
                Err(Fault::invalid_input(format!(
                    "/pages/{at}: `{part}` is no range of pages; write `1-3,7`"
                )))
            }
        }
    };
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    parts.into_iter().map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_in_order() {
        assert_eq!(parse("7, 1-3", 0).expect("ranges"), [(7, 7), (1, 3)]);
        assert_eq!(parse(" ", 0).expect("all"), []);
        for text in ["0", "3-1", "a", "1-", "1,,2", "-1"] {
            assert!(parse(text, 0).is_err(), "{text}");
        }
        assert!(parse(&"1,".repeat(500), 0).is_err());
    }
}
