//! Phrases that mark hooks, calls to action, offers and bait, by language.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::pieces::{Piece, PieceKind, fold};

static LANGUAGES: LazyLock<[Cues; 4]> = LazyLock::new(|| {
    [
        Cues::read("en", include_str!("../data/cues/en.txt")),
        Cues::read("de", include_str!("../data/cues/de.txt")),
        Cues::read("fr", include_str!("../data/cues/fr.txt")),
        Cues::read("es", include_str!("../data/cues/es.txt")),
    ]
});

/// A word of a text, ready to be compared.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) folded: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Words with the same number have no mark, emoji, link or line break between them.
    segment: usize,
}

/// The words of a text. A mention is the word `@`.
pub(crate) fn words(pieces: &[Piece<'_>]) -> Vec<Word> {
    let mut segment = 0;
    let mut words = Vec::new();
    for piece in pieces {
        let folded = match piece.kind {
            PieceKind::Word => fold(piece.text),
            PieceKind::Mention => "@".to_owned(),
            PieceKind::Hashtag => continue,
            PieceKind::Link | PieceKind::Email | PieceKind::Emoji | PieceKind::Break => {
                segment += 1;
                continue;
            }
        };
        words.push(Word { folded, start: piece.start, end: piece.end(), segment });
    }
    words
}

/// The words between two marks.
pub(crate) fn segments(words: &[Word]) -> impl Iterator<Item = &[Word]> {
    words.chunk_by(|one, other| one.segment == other.segment)
}

/// What a phrase marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Cue {
    /// Words before an imperative.
    Lead,
    /// Imperatives at the beginning of a clause.
    Action,
    /// Calls to action at any place.
    Anywhere,
    /// German infinitives at the end of a clause.
    Infinitive,
    Bait,
    HowTo,
    Story,
    Offer,
    /// Offers at the beginning of a clause.
    Gift,
    Claim,
    Urgency,
    Question,
    Numbers,
}

impl Cue {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "lead" => Self::Lead,
            "action" => Self::Action,
            "anywhere" => Self::Anywhere,
            "infinitive" => Self::Infinitive,
            "bait" => Self::Bait,
            "how_to" => Self::HowTo,
            "story" => Self::Story,
            "offer" => Self::Offer,
            "gift" => Self::Gift,
            "claim" => Self::Claim,
            "urgency" => Self::Urgency,
            "question" => Self::Question,
            "numbers" => Self::Numbers,
            _ => return None,
        })
    }
}

/// The phrases of a language.
#[derive(Debug)]
pub(crate) struct Cues {
    pub(crate) language: &'static str,
    phrases: HashMap<Cue, Phrases>,
}

/// Phrases by their first word.
#[derive(Debug, Default)]
struct Phrases {
    by_word: HashMap<&'static str, Vec<Vec<Slot>>>,
    /// Those that begin with anything but a fixed word.
    open: Vec<Vec<Slot>>,
}

/// The alternatives for one word.
type Slot = Vec<Form>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Exact(&'static str),
    Beginning(&'static str),
    Number,
    Any,
}

impl Cues {
    /// All languages.
    pub(crate) fn all() -> &'static [Self; 4] {
        &LANGUAGES
    }

    /// The phrases for a text: those of its language, or all if that is not known.
    pub(crate) fn of(language: Option<&str>) -> Vec<&'static Self> {
        let own = LANGUAGES.iter().filter(|cues| Some(cues.language) == language);
        let own: Vec<_> = own.collect();
        if own.is_empty() { LANGUAGES.iter().collect() } else { own }
    }

    fn read(language: &'static str, list: &'static str) -> Self {
        let mut phrases: HashMap<Cue, Phrases> = HashMap::new();
        let mut cue = None;
        for line in list.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                cue = Cue::named(name);
                continue;
            }
            let Some(cue) = cue else { continue };
            for phrase in line.split(',').map(str::trim).filter(|phrase| !phrase.is_empty()) {
                phrases.entry(cue).or_default().add(phrase);
            }
        }
        Self { language, phrases }
    }

    /// How many words a phrase at the beginning of these words has.
    pub(crate) fn match_start(&self, cue: Cue, words: &[Word]) -> Option<usize> {
        self.phrases.get(&cue)?.match_start(words)
    }

    /// The first phrase in a segment: its first word, and how many it has.
    pub(crate) fn find(&self, cue: Cue, words: &[Word]) -> Option<(usize, usize)> {
        let phrases = self.phrases.get(&cue)?;
        (0..words.len()).find_map(|at| Some((at, phrases.match_start(&words[at..])?)))
    }
}

impl Phrases {
    fn add(&mut self, phrase: &'static str) {
        let slots: Vec<Slot> = phrase.split(' ').flat_map(split_elision).map(slot).collect();
        let Some(first) = slots.first() else { return };
        let exact = first.iter().filter_map(|form| match form {
            Form::Exact(word) => Some(*word),
            _ => None,
        });
        let exact: Vec<&'static str> = exact.collect();
        if exact.len() < first.len() {
            self.open.push(slots.clone());
        }
        for word in exact {
            self.by_word.entry(word).or_default().push(slots.clone());
        }
    }

    fn match_start(&self, words: &[Word]) -> Option<usize> {
        let first = words.first()?;
        let listed = self.by_word.get(first.folded.as_str()).into_iter().flatten();
        let fitting = listed.chain(&self.open).filter(|slots| {
            slots.len() <= words.len()
                && slots.iter().zip(words).all(|(slot, word)| fits(slot, &word.folded))
        });
        fitting.map(Vec::len).max()
    }
}

/// `n'attendez` is two words in texts, so it is in phrases.
fn split_elision(word: &'static str) -> impl Iterator<Item = &'static str> {
    let at = word.find('\'').filter(|at| word[..*at].chars().count() <= 2);
    let (first, rest) = match at {
        Some(at) => (&word[..at], Some(&word[at + 1..])),
        None => (word, None),
    };
    std::iter::once(first).chain(rest)
}

fn slot(text: &'static str) -> Slot {
    text.split('/')
        .map(|form| match (form, form.strip_suffix('*')) {
            ("0", _) => Form::Number,
            ("_", _) => Form::Any,
            (_, Some(beginning)) => Form::Beginning(beginning),
            (word, None) => Form::Exact(word),
        })
        .collect()
}

fn fits(slot: &Slot, word: &str) -> bool {
    slot.iter().any(|form| match form {
        Form::Exact(exact) => word == *exact,
        Form::Beginning(beginning) => word.starts_with(beginning),
        Form::Number => word.starts_with(|c: char| c.is_ascii_digit()),
        Form::Any => true,
    })
}
