//! Spelling by Hunspell dictionaries.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The entries of the English dictionary that ships.
pub(crate) const ENGLISH_WORDS: &str = include_str!("../data/en/en_US.dic");

const ENGLISH_RULES: &str = include_str!("../data/en/en_US.aff");

/// Suggestions are searched for this many words of a text: each search takes milliseconds.
const MOST_SUGGESTIONS: usize = 40;

/// Suggestions per word.
const SUGGESTIONS: usize = 3;

/// Longer words get no suggestions.
const LONGEST: usize = 24;

static ENGLISH: LazyLock<Option<Dictionary>> =
    LazyLock::new(|| Dictionary::new(ENGLISH_RULES, ENGLISH_WORDS).ok());

/// The words of a language.
pub struct Dictionary {
    words: spellbook::Dictionary,
}

impl Dictionary {
    /// A dictionary of a Hunspell `.aff` and `.dic` file; the error says what is wrong with them.
    pub fn new(rules: &str, words: &str) -> Result<Self, String> {
        let words = spellbook::Dictionary::new(rules, words).map_err(|error| error.to_string())?;
        Ok(Self { words })
    }

    /// The English dictionary that ships.
    pub fn english() -> Option<&'static Self> {
        ENGLISH.as_ref()
    }

    pub(crate) fn speller(&self) -> Speller<'_> {
        Speller { dictionary: self, known: HashMap::new(), searches: 0 }
    }
}

/// Checks the words of one text, each different word once.
pub(crate) struct Speller<'d> {
    dictionary: &'d Dictionary,
    known: HashMap<String, bool>,
    searches: usize,
}

impl Speller<'_> {
    pub(crate) fn knows(&mut self, word: &str) -> bool {
        if let Some(known) = self.known.get(word) {
            return *known;
        }
        let straight = word.replace('’', "'");
        let plain = straight.trim_end_matches("'s");
        let known = self.dictionary.words.check(&straight) || self.dictionary.words.check(plain);
        self.known.insert(word.to_owned(), known);
        known
    }

    /// Words of the dictionary that are similar, best first.
    pub(crate) fn suggestions(&mut self, word: &str) -> Vec<String> {
        if self.searches >= MOST_SUGGESTIONS || word.chars().count() > LONGEST {
            return Vec::new();
        }
        self.searches += 1;
        let mut found = Vec::new();
        self.dictionary.words.suggest(word, &mut found);
        found.truncate(SUGGESTIONS);
        found
    }
}
