//! Words that stand for one another when somebody asks for a tool.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stem;

const CONCEPTS: &str = include_str!("concepts.txt");

/// For each stem, the stems that share a concept with it.
static NEIGHBOURS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut neighbours: HashMap<String, Vec<String>> = HashMap::new();
    for concept in concepts(CONCEPTS) {
        for stem in &concept {
            let known = neighbours.entry(stem.clone()).or_default();
            for other in concept.iter().filter(|other| *other != stem) {
                if !known.contains(other) {
                    known.push(other.clone());
                }
            }
        }
    }
    neighbours
});

/// The stems that may stand for this one.
pub(crate) fn neighbours(stem: &str) -> &'static [String] {
    NEIGHBOURS.get(stem).map_or(&[], Vec::as_slice)
}

fn concepts(text: &str) -> impl Iterator<Item = Vec<String>> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| line.split_whitespace().map(stem).collect())
}

#[cfg(test)]
mod tests {
    use super::{CONCEPTS, concepts, neighbours};
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
    fn neighbours_go_both_ways() {
        let (movie, film) = (stem("movies"), stem("film"));
        assert!(neighbours(&movie).contains(&film));
        assert!(neighbours(&film).contains(&movie));
        assert!(!neighbours(&film).contains(&film));
        assert!(neighbours("xyzzy").is_empty());
    }
}
