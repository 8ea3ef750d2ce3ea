use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::words::{fold, runs};

const TABLE: &str = include_str!("function_words.txt");

type Words = HashSet<&'static str>;

static LANGUAGES: LazyLock<Vec<(&'static str, Words)>> = LazyLock::new(|| {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let (code, words) = line.split_once(' ')?;
            Some((code, words.split(' ').collect()))
        })
        .collect()
});

/// The languages of each word.
static LANGUAGES_OF_WORD: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut languages: HashMap<_, Vec<_>> = HashMap::new();
    for (index, (_, words)) in LANGUAGES.iter().enumerate() {
        for word in words {
            languages.entry(*word).or_default().push(index);
        }
    }
    languages
});

/// The least share of function words that identifies a language.
const ENOUGH: f64 = 0.12;
/// How many different function words that English does not have identify another language.
const OWN_WORDS: usize = 2;
/// How many words of a text [`Language::detect`] reads.
const DETECTED_WORDS: usize = 2_000;

/// A language whose function words are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language(usize);

impl Language {
    /// The first language of the table.
    pub const ENGLISH: Self = Self(0);

    /// The language of a text by the function words of its beginning.
    pub fn detect(text: &str) -> Option<Self> {
        let words: Vec<String> = runs(text).take(DETECTED_WORDS).map(fold).collect();
        Self::of(words.iter().map(String::as_str))
    }

    /// The language of most of the words. Many words of short English texts are function words of other languages, too, such
    /// as `of` and `one`: of equal votes English wins, and another language needs [`OWN_WORDS`].
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut votes = vec![0.0; LANGUAGES.len()];
        let mut own: Vec<Words> = vec![Words::new(); LANGUAGES.len()];
        let mut count = 0.0;
        for word in words {
            count += 1.0;
            let Some((word, languages)) = LANGUAGES_OF_WORD.get_key_value(word) else { continue };
            let english = languages.contains(&Self::ENGLISH.0);
            for language in languages {
                // A word of several languages is divided between them.
                votes[*language] += 1.0 / languages.len() as f64;
                if !english && own[*language].len() < OWN_WORDS {
                    own[*language].insert(word);
                }
            }
        }
        let english = Self::ENGLISH.0;
        let mut best = english;
        for (language, share) in votes.iter().enumerate() {
            if *share > votes[english] && *share >= votes[best] {
                best = language;
            }
        }
        // English has no word of another script.
        let is_foreign = |word: &&str| !word.is_ascii();
        let certain =
            best == english || own[best].len() >= OWN_WORDS || own[best].iter().any(is_foreign);
        let enough: f64 = if count < 12.0 { ENOUGH / 2.0 } else { ENOUGH };
        (certain && votes[best] > 0.0 && votes[best] >= enough * count).then_some(Self(best))
    }

    /// The language of this code, such as `en`.
    pub fn named(code: &str) -> Option<Self> {
        LANGUAGES.iter().position(|(known, _)| *known == code).map(Self)
    }

    /// Its code, such as `en`.
    pub fn code(self) -> &'static str {
        LANGUAGES[self.0].0
    }

    /// Whether a folded word is a function word of this language.
    pub fn has(self, word: &str) -> bool {
        LANGUAGES[self.0].1.contains(word)
    }
}
