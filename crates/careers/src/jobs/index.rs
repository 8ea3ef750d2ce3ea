//! Finds which of many phrases a text has, without a search for each of them.

use std::collections::HashMap;

/// Phrases in groups, by their first word.
pub(super) struct PhraseIndex {
    by_word: HashMap<&'static str, Vec<Phrase>>,
}

struct Phrase {
    group: usize,
    text: &'static str,
}

impl PhraseIndex {
    /// Groups of phrases separated by `|`, in lower case.
    pub(super) fn new(groups: impl Iterator<Item = &'static str>) -> Self {
        let mut by_word: HashMap<&'static str, Vec<Phrase>> = HashMap::new();
        for (group, phrases) in groups.enumerate() {
            for text in phrases.split('|') {
                by_word.entry(first_word(text)).or_default().push(Phrase { group, text });
            }
        }
        Self { by_word }
    }

    /// The first group that has a phrase of a text at borders of words; the text is in lower case.
    pub(super) fn first_group(&self, text: &str) -> Option<usize> {
        let found = word_starts(text).flat_map(|start| {
            let rest = &text[start..];
            let phrases = self.by_word.get(first_word(rest)).into_iter().flatten();
            phrases.filter(move |phrase| starts_with_phrase(rest, phrase.text))
        });
        found.map(|phrase| phrase.group).min()
    }
}

fn starts_with_phrase(text: &str, phrase: &str) -> bool {
    text.strip_prefix(phrase).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

fn first_word(text: &str) -> &str {
    let end = text.find(|sign: char| !sign.is_alphanumeric()).unwrap_or(text.len());
    &text[..end]
}

/// Where the words of a text start, in bytes.
fn word_starts(text: &str) -> impl Iterator<Item = usize> {
    let mut inside = false;
    text.char_indices().filter_map(move |(at, sign)| {
        let before = std::mem::replace(&mut inside, sign.is_alphanumeric());
        (inside && !before).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::PhraseIndex;
    use crate::jobs::words::has_phrase;
    use proptest::prelude::*;

    const GROUPS: [&str; 3] =
        ["nice to have|we'd love|das wäre", "the role|what you'll do", "we|role|you"];

    proptest! {
        #[test]
        fn finds_what_a_search_for_each_phrase_finds(words in prop::collection::vec(
            prop::sample::select(vec!["nice", "to", "have", "we", "'d", "love", "das", "wäre", "the", "role", "s", "-", "you", "'ll", "what", "do"]), 0..8,
        ), glue in prop::sample::select(vec![" ", "", "  "])) {
            let text = words.join(glue);
            let each = GROUPS.iter().position(|group| group.split('|').any(|phrase| has_phrase(&text, phrase)));
            prop_assert_eq!(PhraseIndex::new(GROUPS.into_iter()).first_group(&text), each);
        }
    }
}
