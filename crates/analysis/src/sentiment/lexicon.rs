//! The word lists.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The shortest beginning of a word that a `*` of a list follows.
const SHORTEST: usize = 3;

/// Longer words are in no list.
const LONGEST: usize = 48;

static ENGLISH: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::read(include_str!("../../data/sentiment/en.txt"), false));
static GERMAN: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::read(include_str!("../../data/sentiment/de.txt"), true));
static FRENCH: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::read(include_str!("../../data/sentiment/fr.txt"), false));
static SPANISH: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::read(include_str!("../../data/sentiment/es.txt"), false));
static EMOJI: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::read(include_str!("../../data/sentiment/emoji.txt"), false));

/// The words of a language.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    words: HashMap<&'static str, f64>,
    beginnings: HashMap<&'static str, f64>,
    negations: HashSet<&'static str>,
    /// 1 for those that strengthen, -1 for those that weaken.
    boosters: HashMap<&'static str, f64>,
    backwards: bool,
}

impl Lexicon {
    pub(super) fn of(language: &str) -> Option<&'static Self> {
        match language {
            "en" => Some(&ENGLISH),
            "de" => Some(&GERMAN),
            "fr" => Some(&FRENCH),
            "es" => Some(&SPANISH),
            _ => None,
        }
    }

    /// Reads lines of a valence, `not`, `more` or `less`, and words.
    fn read(list: &'static str, backwards: bool) -> Self {
        let mut lexicon = Self { backwards, ..Self::default() };
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            let Some((key, words)) = line.split_once(' ') else { continue };
            for word in words.split(' ') {
                lexicon.add(key, word);
            }
        }
        lexicon
    }

    fn add(&mut self, key: &str, word: &'static str) {
        match (key, key.parse::<f64>(), word.strip_suffix('*')) {
            ("not", ..) => {
                self.negations.insert(word);
            }
            ("more", ..) => {
                self.boosters.insert(word, 1.0);
            }
            ("less", ..) => {
                self.boosters.insert(word, -1.0);
            }
            (_, Ok(valence), Some(beginning)) => {
                self.beginnings.insert(beginning, valence);
            }
            (_, Ok(valence), None) => {
                self.words.insert(word, valence);
            }
            (_, Err(_), _) => {}
        }
    }

    /// Whether negations may come after the word.
    pub(super) fn negates_backwards(&self) -> bool {
        self.backwards
    }

    /// The valence of a word in lower case.
    pub(super) fn valence(&self, word: &str) -> Option<f64> {
        if word.len() > LONGEST || self.negations.contains(word) {
            return None;
        }
        if let Some(valence) = self.words.get(word) {
            return Some(*valence);
        }
        // The longest beginning is the most exact one.
        let ends = word.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
        ends.filter(|end| *end >= SHORTEST)
            .find_map(|end| self.beginnings.get(&word[..end]).copied())
    }

    /// 1 if the word strengthens what follows, -1 if it weakens it.
    pub(super) fn boost(&self, word: &str) -> f64 {
        self.boosters.get(word).copied().unwrap_or(0.0)
    }

    pub(super) fn negates(&self, word: &str) -> bool {
        self.negations.contains(word)
    }
}

/// The valence of an emoji, without its colour.
pub(super) fn emoji(text: &str) -> Option<f64> {
    EMOJI.words.get(text).copied()
}

/// Whether a character is in the list of emoji.
pub(super) fn is_emoji(c: char) -> bool {
    EMOJI.words.contains_key(&*c.encode_utf8(&mut [0; 4]))
}
