//! Words that are equivalent in requests for tools.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stem;

const CONCEPTS: &str = include_str!("concepts.txt");

/// For each stem, the stems that share a concept with it.
static RELATED: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut related: HashMap<String, Vec<String>> = HashMap::new();
    for concept in concepts(CONCEPTS) {
        for stem in &concept {
            let known = related.entry(stem.clone()).or_default();
            for other in concept.iter().filter(|other| *other != stem) {
                if !known.contains(other) {
                    known.push(other.clone());
                }
            }
        }
    }
    related
});

/// The stems that are equivalent to this one.
pub fn related_stems(stem: &str) -> &'static [String] {
    RELATED.get(stem).map_or(&[], Vec::as_slice)
}

fn concepts(text: &str) -> impl Iterator<Item = Vec<String>> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| line.split_whitespace().map(stem).collect())
}

#[cfg(test)]
mod tests {
    use super::{CONCEPTS, concepts, related_stems};
    use crate::words::{is_stop_word, stem, words};

    #[test]
    fn every_line_is_a_concept_of_plain_words() {
        for concept in concepts(CONCEPTS) {
            assert!(concept.len() > 1, "{concept:?} says nothing");
        }
        let written = CONCEPTS.lines().filter(|line| !line.starts_with('#'));
        for word in written.flat_map(str::split_whitespace) {
            assert!(!is_stop_word(word), "`{word}` is never looked up");
            assert_eq!(
                words(word).last().map(String::as_str),
                Some(word),
                "`{word}` is not folded"
            );
        }
    }

    #[test]
    fn relations_are_symmetric() {
        let (movie, film) = (stem("movies"), stem("film"));
        assert!(related_stems(&movie).contains(&film));
        assert!(related_stems(&film).contains(&movie));
        assert!(!related_stems(&film).contains(&film));
        assert!(related_stems("xyzzy").is_empty());
    }
}
