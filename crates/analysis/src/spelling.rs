//! Spelling by Hunspell dictionaries.

use std::collections::HashMap;
use std::sync::LazyLock;

use language::english;

/// Suggestions are searched for this many words of a text: each search takes milliseconds.
const MOST_SUGGESTIONS: usize = 40;

/// Suggestions per word.
const SUGGESTIONS: usize = 3;

/// Longer words get no suggestions.
const LONGEST: usize = 24;

/// Longer words are not in a dictionary, but for their parts between hyphens. Dictionaries with compounds try all ways to
/// divide a word, whose number grows with each character.
const LONGEST_KNOWN: usize = 64;

static ENGLISH: LazyLock<Option<Dictionary>> = LazyLock::new(|| {
    let dictionary = Dictionary::new(english::RULES, english::DICTIONARY).ok()?;
    Some(Dictionary { american: true, ..dictionary })
});

/// The words of a language.
pub struct Dictionary {
    words: spellbook::Dictionary,
    /// Whether it has American spellings only; British ones are right too.
    american: bool,
}

impl Dictionary {
    /// A dictionary of a Hunspell `.aff` and `.dic` file; the error says what is wrong with them.
    pub fn new(rules: &str, words: &str) -> Result<Self, String> {
        let words = spellbook::Dictionary::new(rules, words).map_err(|error| error.to_string())?;
        Ok(Self { words, american: false })
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
        let words = &self.dictionary.words;
        let known = plain.chars().nth(LONGEST_KNOWN).is_none()
            && (words.check(&straight)
                || words.check(plain)
                || self.dictionary.american && is_british(plain, |word| words.check(word)));
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

/// British endings and the American ones.
const ENDINGS: [(&str, &str); 24] = [
    ("ise", "ize"),
    ("ised", "ized"),
    ("ises", "izes"),
    ("iser", "izer"),
    ("ising", "izing"),
    ("isation", "ization"),
    ("isations", "izations"),
    ("yse", "yze"),
    ("ysed", "yzed"),
    ("yses", "yzes"),
    ("ysing", "yzing"),
    ("our", "or"),
    ("ours", "ors"),
    ("oured", "ored"),
    ("ouring", "oring"),
    ("ourable", "orable"),
    ("ourite", "orite"),
    ("ourites", "orites"),
    ("lled", "led"),
    ("lling", "ling"),
    ("entre", "enter"),
    ("entres", "enters"),
    ("itre", "iter"),
    ("itres", "iters"),
];

/// Whether the American spelling of a word is known.
fn is_british(word: &str, knows: impl Fn(&str) -> bool) -> bool {
    ENDINGS.iter().any(|(british, american)| {
        let stem = word.strip_suffix(british).filter(|stem| !stem.is_empty());
        stem.is_some_and(|stem| knows(&format!("{stem}{american}")))
    })
}
