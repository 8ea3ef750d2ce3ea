//! The pages of a document that a call asks for.

use kit::Fault;
use serde_json::json;

/// The most pages of one call.
pub(crate) const MOST: usize = 50;

/// The pages of one call, from 0, and the first one that is left for the next call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) pages: Vec<usize>,
    pub(crate) next: Option<usize>,
}

/// Pages as `1-3,7`, counted from 1; all without a list.
pub(crate) fn choose(list: Option<&str>, count: usize) -> Result<Chosen, Fault> {
    let Some(list) = list else {
        let next = (count > MOST).then_some(MOST);
        return Ok(Chosen { pages: (0..count.min(MOST)).collect(), next });
    };
    let mut asked = vec![false; count];
    for part in list.split(',') {
        let (first, last) = range(part.trim(), count)?;
        asked[first - 1..last].fill(true);
    }
    let mut pages = asked.iter().enumerate().filter(|(_, asked)| **asked).map(|(page, _)| page);
    let chosen: Vec<usize> = pages.by_ref().take(MOST).collect();
    Ok(Chosen { pages: chosen, next: pages.next() })
}

/// One page or a range of pages, both ends inclusive, counted from 1.
fn range(part: &str, count: usize) -> Result<(usize, usize), Fault> {
    let refuse = |reason: String| {
        let errors = json!([{"path": "/pages", "reason": reason}]);
        Fault::invalid_input(format!("/pages: {reason}")).details(json!({"errors": errors}))
    };
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|page| *page > 0);
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (Some(first), Some(last)) = (number(first), number(last)) else {
        return Err(refuse("write pages like `1-3,7`".to_owned()));
    };
    if first > last {
        return Err(refuse(format!("the range {first}-{last} is empty")));
    }
    if last > count {
        return Err(refuse(format!("there is no page {last}: the document has {count}")));
    }
    Ok((first, last))
}

#[cfg(test)]
mod tests {
    use super::{Chosen, MOST, choose};

    #[test]
    fn lists_name_pages_from_one() {
        let chosen = choose(Some("1-3, 7"), 9).unwrap();
        assert_eq!(chosen, Chosen { pages: vec![0, 1, 2, 6], next: None });
        assert_eq!(choose(Some("2,2,1-2"), 2).unwrap().pages, [0, 1]);
    }

    #[test]
    fn a_call_ends_after_fifty_pages() {
        let chosen = choose(None, 120).unwrap();
        assert_eq!((chosen.pages.len(), chosen.next), (MOST, Some(50)));
        let rest = choose(Some("51-120"), 120).unwrap();
        assert_eq!((rest.pages[0], rest.next), (50, Some(100)));
        assert_eq!(choose(None, 50).unwrap().next, None);
    }

    #[test]
    fn lists_that_make_no_sense_are_refused() {
        for list in ["", "0", "x", "3-2", "1-", "8", "1-99999999999999999999", "-1"] {
            let fault = choose(Some(list), 7).unwrap_err();
            assert!(fault.to_string().contains("/pages"), "{list}: {fault}");
        }
    }
}
