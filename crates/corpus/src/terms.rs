//! The terms of chunks and queries, as they are stored and indexed.

use std::collections::BTreeSet;

use language::prose::Language;
use language::stems;

/// A query has at most so many different terms.
pub(super) const MAX_QUERY_TERMS: usize = 64;

/// The longest stored term, in bytes.
const MAX_TERM_BYTES: usize = 120;

/// The prefix of a term that is written as the numbers of its characters.
const NUMBERED: &str = "0u";

/// The stems of a chunk's text, by its own language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChunkStems {
    /// With spaces between them.
    pub(super) terms: String,
    pub(super) length: u64,
    /// The code of the language.
    pub(super) language: &'static str,
}

/// The stems of a chunk.
pub(super) fn of_chunk(text: &str) -> ChunkStems {
    let language = stems::language_of(text);
    let stems = stems::terms(text, language);
    let terms: Vec<_> = stems.iter().map(|term| stored(term)).collect();
    ChunkStems { length: terms.len() as u64, terms: terms.join(" "), language: language.code() }
}

/// The different stems of a query by each of these languages, in order. Beyond a number, the last ones are left out.
pub(super) fn of_query<'a>(query: &str, languages: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut known: Vec<_> = languages.filter_map(Language::named).collect();
    if known.is_empty() {
        known.push(stems::language_of(query));
    }
    let mut terms = BTreeSet::new();
    // By position, so that what is left out is the end of the query in every language.
    let by_language: Vec<_> = known.iter().map(|known| stems::terms(query, *known)).collect();
    let longest = by_language.iter().map(Vec::len).max().unwrap_or_default();
    for at in 0..longest {
        for term in by_language.iter().filter_map(|terms| terms.get(at)) {
            if terms.len() < MAX_QUERY_TERMS {
                terms.insert(stored(term));
            }
        }
    }
    terms.into_iter().collect()
}

/// A stem in `a` to `z` and digits only, which both engines take for one word. Characters outside of ASCII are
/// written by their numbers: the engines do not agree on which of them belong to words.
fn stored(stem: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if stem.bytes().all(plain) && !stem.starts_with(NUMBERED) {
        return stem.chars().take(MAX_TERM_BYTES).collect();
    }
    let mut text = NUMBERED.to_owned();
    for character in stem.chars() {
        let number = u32::from(character);
        // Four digits, or a letter that is no digit and six: no two stems are written alike.
        let digits =
            if number > 0xffff { format!("z{number:06x}") } else { format!("{number:04x}") };
        if text.len() + digits.len() > MAX_TERM_BYTES {
            break;
        }
        text.push_str(&digits);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_query_matches_chunks_of_each_language() {
        let english = of_chunk("The islands of heat are in the cities of the north.");
        let german = of_chunk("Die Inseln der Hitze liegen in den Städten und auf dem Land.");
        assert_eq!((english.language, german.language), ("en", "de"));
        let terms = of_query("heat island Insel Stadt", ["de", "en"].into_iter());
        let shared = |chunk: &ChunkStems| {
            terms.iter().filter(|term| chunk.terms.split(' ').any(|own| own == *term)).count()
        };
        assert!(shared(&english) >= 2, "{terms:?} {english:?}");
        assert!(shared(&german) >= 1, "{terms:?} {german:?}");
    }

    #[test]
    fn a_query_of_operators_is_just_words() {
        let operators = "\"a\" AND NOT (b* OR c) NEAR(d, 5) ^e : {f} -g + h' | & ! <-> ".repeat(8);
        let terms = of_query(&operators, ["en"].into_iter());
        assert!(terms.len() <= MAX_QUERY_TERMS);
        let plain = |term: &String| {
            term.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        assert!(terms.iter().all(plain), "{terms:?}");
    }

    proptest! {
        #[test]
        fn terms_are_single_words_of_few_characters(text in ".{0,400}") {
            let chunk = of_chunk(&text);
            let words: Vec<_> = chunk.terms.split(' ').filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(words.len() as u64, chunk.length);
            for word in words {
                prop_assert!(word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
                prop_assert!(word.len() <= MAX_TERM_BYTES);
            }
        }

        #[test]
        fn different_stems_are_stored_differently(a in "[a-z0-9u0é水😀]{1,12}", b in "[a-z0-9u0é水😀]{1,12}") {
            prop_assert_eq!(stored(&a) == stored(&b), a == b);
        }
    }
}
