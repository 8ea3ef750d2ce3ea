//! Where pages begin in a text that was cleaned.

use proto::clean;

/// With more pages the header of an answer could become too large.
const MOST_PAGES: usize = 50_000;

/// Where pages begin in the cleaned text; `pages` says where they begin in the original. Empty if there are too many, or if
/// it cannot be found out.
pub(crate) fn page_starts(original: &str, cleaned: &str, pages: Vec<usize>) -> Vec<usize> {
    if pages.len() > MOST_PAGES {
        return Vec::new();
    }
    if original.len() == cleaned.len() {
        return pages;
    }
    find_again(original, cleaned, &pages).unwrap_or_default()
}

/// Cleans the text page by page. Where that gives another result than cleaning all of it, something that is removed, such as
/// an HTML comment, goes on over the end of a page, and that page is cleaned together with those after it.
fn find_again(original: &str, cleaned: &str, pages: &[usize]) -> Option<Vec<usize>> {
    // A comment over very many pages would be cleaned again for each of them.
    let mut budget = original.len().saturating_mul(4);
    let mut starts = Vec::with_capacity(pages.len());
    let (mut from, mut rest) = (0, cleaned);
    for page in pages {
        budget = budget.checked_sub(page - from)?;
        let (piece, _) = clean::text(&original[from..*page]);
        let known = cleaned.len() - rest.len();
        let start = known + common_start(&piece, rest);
        if start == known + piece.len() {
            (from, rest) = (*page, &cleaned[start..]);
        }
        starts.push(starts.last().copied().unwrap_or(0).max(start));
    }
    (clean::text(&original[from..]).0 == rest).then_some(starts)
}

/// The bytes of the characters with which both texts begin.
fn common_start(one: &str, other: &str) -> usize {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    same.map(|(character, _)| character.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

    use super::{MOST_PAGES, clean, page_starts};

    /// The cleaned text of each page.
    fn pages_of(pages: &[&str]) -> Vec<String> {
        let (text, starts) = joined(pages);
        let (cleaned, _) = clean::text(&text);
        let mut starts = page_starts(&text, &cleaned, starts);
        assert_eq!(starts.len(), pages.len());
        starts.push(cleaned.len());
        starts.windows(2).map(|pair| cleaned[pair[0]..pair[1]].trim_end().to_owned()).collect()
    }

    fn joined<S: AsRef<str>>(pages: &[S]) -> (String, Vec<usize>) {
        let mut text = String::new();
        let mut starts = Vec::new();
        for page in pages {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            starts.push(text.len());
            text.push_str(page.as_ref());
        }
        (text, starts)
    }

    #[test]
    fn characters_that_are_removed_move_the_pages_after_them() {
        assert_eq!(pages_of(&["One", "Two", "Three"]), ["One", "Two", "Three"]);
        assert_eq!(
            pages_of(&["O\u{200b}ne", "\u{202e}Two \u{1b}[1m", "Three"]),
            ["One", "Two", "Three"]
        );
        assert_eq!(pages_of(&["One <!-- x -->", "Two"]), ["One", "Two"]);
    }

    #[test]
    fn a_comment_may_go_on_over_the_end_of_a_page() {
        assert_eq!(
            pages_of(&["One <!-- x", "y", "z --> three", "Fo\u{ad}ur"]),
            ["One", "", " three", "Four"]
        );
        assert_eq!(pages_of(&["O\u{ad}ne <!-- x", "Two"]), ["One <!-- x", "Two"]);
    }

    #[test]
    fn a_comment_over_very_many_pages_hides_where_they_begin() {
        let mut pages = vec!["<!--"; 1_000];
        pages.push("-->");
        let (text, starts) = joined(&pages);
        let (cleaned, _) = clean::text(&text);
        assert!(page_starts(&text, &cleaned, starts).is_empty());
        let starts = vec![0; MOST_PAGES + 1];
        assert!(page_starts("same", "same", starts).is_empty());
    }

    proptest! {
        #[test]
        fn starts_are_in_order_and_between_characters(
            pages in prop::collection::vec(any::<String>(), 1..8),
            piece in prop::sample::select(vec!["", "<!--", "-->", "\u{1b}]", "\u{7}", "\u{200b}", "é"]),
        ) {
            let pages: Vec<String> = pages.iter().map(|page| format!("{piece}{page}{piece}")).collect();
            let (text, starts) = joined(&pages);
            let (cleaned, _) = clean::text(&text);
            let starts = page_starts(&text, &cleaned, starts);
            prop_assert!(starts.is_empty() || starts.len() == pages.len());
            prop_assert!(starts.is_sorted());
            for start in starts {
                prop_assert_eq!(cleaned.floor_char_boundary(start), start);
            }
        }
    }
}
