//! What the model sees of each word.

use super::lexicon::{Lexicon, MAX_WORDS, TermKind};
use super::tokens::Token;

/// Words that announce a skill; the last one before a word is a feature of it.
const CUES: [&str; 34] = [
    "ability",
    "able",
    "background",
    "capable",
    "comfortable",
    "degree",
    "experience",
    "experienced",
    "expertise",
    "familiar",
    "familiarity",
    "fluent",
    "interest",
    "interested",
    "knowledge",
    "knowledgeable",
    "must",
    "passion",
    "passionate",
    "plus",
    "proficiency",
    "proficient",
    "required",
    "responsibilities",
    "responsible",
    "skilled",
    "skills",
    "strong",
    "track",
    "understanding",
    "using",
    "will",
    "willing",
    "years",
];

/// Function words that are their own class.
const FUNCTION_WORDS: [&str; 74] = [
    "a",
    "about",
    "across",
    "all",
    "also",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "between",
    "but",
    "by",
    "can",
    "do",
    "etc",
    "for",
    "from",
    "has",
    "have",
    "how",
    "if",
    "in",
    "including",
    "into",
    "is",
    "it",
    "its",
    "like",
    "more",
    "most",
    "new",
    "not",
    "of",
    "on",
    "one",
    "or",
    "other",
    "others",
    "our",
    "out",
    "over",
    "own",
    "similar",
    "so",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "up",
    "us",
    "we",
    "well",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "with",
    "within",
    "you",
];

const NOUN_ENDINGS: [&str; 12] =
    ["tion", "sion", "ment", "ness", "ity", "ance", "ence", "ship", "ology", "ics", "ism", "ure"];
const ADJECTIVE_ENDINGS: [&str; 11] =
    ["al", "ive", "ous", "ful", "able", "ible", "ic", "ary", "ent", "ant", "less"];

/// The words of a sentence with their classes.
pub struct Sentence<'a> {
    text: &'a str,
    pub tokens: Vec<Token>,
    words: Vec<String>,
    classes: Vec<&'static str>,
    shapes: Vec<&'static str>,
    lists: Vec<&'static str>,
    begins: Vec<&'static str>,
    found: Vec<(usize, usize, TermKind)>,
}

impl<'a> Sentence<'a> {
    /// Classifies the words of a sentence.
    pub fn new(text: &'a str, tokens: Vec<Token>) -> Self {
        let lexicon = Lexicon::shipped();
        let raw = |token: &Token| &text[token.start..token.end];
        let words: Vec<String> = tokens.iter().map(|token| raw(token).to_lowercase()).collect();
        let classes = words.iter().map(|word| class(lexicon, word)).collect();
        let shapes = tokens.iter().map(|token| shape(raw(token))).collect();
        let mut sentence = Self {
            text,
            classes,
            shapes,
            lists: vec!["-"; tokens.len()],
            begins: vec!["-"; tokens.len()],
            found: Vec::new(),
            tokens,
            words,
        };
        sentence.match_lists(lexicon);
        sentence
    }

    fn match_lists(&mut self, lexicon: &Lexicon) {
        let mut at = 0;
        while at < self.words.len() {
            let until_comma = self.tokens[at + 1..]
                .iter()
                .take(MAX_WORDS)
                .take_while(|token| !token.after_comma)
                .count();
            let Some((count, kind)) = lexicon
                .longest(&self.words[at..=at + until_comma])
                .or_else(|| joined(lexicon, &self.words[at]))
            else {
                at += 1;
                continue;
            };
            self.found.push((at, at + count, kind));
            for index in at..at + count {
                self.lists[index] = match kind {
                    TermKind::Knowledge => "T",
                    TermKind::Trait => "R",
                    TermKind::Esco => "E",
                };
                self.begins[index] = if index == at { "B" } else { "I" };
            }
            at += count;
        }
    }

    /// The terms of the lists, in bytes.
    pub fn listed(&self) -> impl Iterator<Item = (usize, usize, TermKind)> {
        self.found
            .iter()
            .map(|(from, to, kind)| (self.tokens[*from].start, self.tokens[*to - 1].end, *kind))
    }

    /// Whether a comma separates each token from the one before it.
    pub fn breaks(&self) -> Vec<bool> {
        self.tokens.iter().map(|token| token.after_comma).collect()
    }

    /// The features of each token, as hashes.
    pub fn features(&self) -> Vec<Vec<u32>> {
        let listed = self.lists.iter().filter(|list| **list == "T").count() * 10;
        let density = match listed / self.tokens.len().max(1) {
            0..=1 => "low",
            2..=4 => "mid",
            _ => "high",
        };
        let first = self.classes.iter().find(|class| **class != ".").copied().unwrap_or("");
        let mut cue = Cue { word: "", distance: 0 };
        let mut features = Vec::with_capacity(self.tokens.len());
        for at in 0..self.tokens.len() {
            features.push(self.features_at(at, &cue, density, first));
            cue.pass(&self.words[at]);
        }
        features
    }

    fn features_at(&self, at: usize, cue: &Cue, density: &str, first: &str) -> Vec<u32> {
        let word = |offset: isize| near(&self.words, at, offset).map_or("_", String::as_str);
        let class = |offset: isize| near(&self.classes, at, offset).copied().unwrap_or("_");
        let shape = |offset: isize| near(&self.shapes, at, offset).copied().unwrap_or("_");
        let list = |offset: isize| near(&self.lists, at, offset).copied().unwrap_or("_");
        let begin = |offset: isize| near(&self.begins, at, offset).copied().unwrap_or("_");
        let length = small(self.tokens.len() / 4, 8);
        let place = small(at, 3);
        let mut features = Features { hashes: Vec::with_capacity(TEMPLATES) };
        let mut add = |parts: &[&str]| features.add(parts);
        add(&[]);
        for parts in [
            [word(0)].as_slice(),
            &[word(-1)],
            &[word(1)],
            &[word(-2)],
            &[word(2)],
            &[word(-1), word(0)],
            &[word(0), word(1)],
            &[ending(word(0), 2)],
            &[ending(word(0), 3)],
            &[ending(word(0), 4)],
            &[beginning(word(0), 4)],
            &[shape(0)],
            &[shape(-1)],
            &[shape(1)],
            &[shape(-1), shape(0), shape(1)],
            &[begin(0), list(0)],
            &[list(0)],
            &[list(-1)],
            &[list(1)],
            &[list(-1), list(0), list(1)],
            &[list(-1), begin(0), begin(1), list(1)],
            &[class(0)],
            &[class(-1)],
            &[class(1)],
            &[class(-1), class(0)],
            &[class(0), class(1)],
            &[class(-2), class(-1), class(0)],
            &[class(-1), class(0), class(1)],
            &[class(0), class(1), class(2)],
            &[cue.word],
            &[cue.word, small(cue.distance, 6)],
            &[cue.word, class(0)],
            &[cue.word, list(0)],
            &[density],
            &[density, shape(0)],
            &[length],
            &[first],
            &[first, class(0), place],
            &[word(-1), class(0)],
            &[list(0), class(0), class(-1)],
            &[place],
        ] {
            add(parts);
        }
        features.hashes
    }

    /// The text of the sentence's tokens from one to another.
    pub fn text(&self, from: usize, to: usize) -> &'a str {
        &self.text[self.tokens[from].start..self.tokens[to].end]
    }
}

/// The last word that announced a skill, and how many words ago.
struct Cue {
    word: &'static str,
    distance: usize,
}

impl Cue {
    fn pass(&mut self, word: &str) {
        self.distance += 1;
        if let Ok(index) = CUES.binary_search(&word) {
            *self = Self { word: CUES[index], distance: 0 };
        } else if matches!(word, "." | ";") {
            *self = Self { word: "", distance: 0 };
        }
    }
}

/// The features of a word.
const TEMPLATES: usize = 42;

/// Hashes of features; the place in the list of templates is a part of the hash.
struct Features {
    hashes: Vec<u32>,
}

impl Features {
    fn add(&mut self, parts: &[&str]) {
        let mut hash = 0x811c_9dc5_u32;
        let mut eat = |byte: u8| hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        eat(self.hashes.len() as u8);
        for part in parts {
            part.bytes().for_each(&mut eat);
            eat(0x1f);
        }
        // FNV alone mixes its low bits badly, and the table is indexed by the whole hash.
        hash ^= hash >> 15;
        self.hashes.push(hash.wrapping_mul(0x2c1b_3c6d));
    }
}

fn near<T>(items: &[T], at: usize, offset: isize) -> Option<&T> {
    items.get(at.checked_add_signed(offset)?)
}

fn small(number: usize, most: usize) -> &'static str {
    const NUMBERS: [&str; 9] = ["0", "1", "2", "3", "4", "5", "6", "7", "8"];
    NUMBERS[number.min(most).min(8)]
}

fn ending(word: &str, characters: usize) -> &str {
    match word.char_indices().rev().nth(characters - 1) {
        Some((at, _)) => &word[at..],
        None => word,
    }
}

fn beginning(word: &str, characters: usize) -> &str {
    match word.char_indices().nth(characters) {
        Some((at, _)) => &word[..at],
        None => word,
    }
}

/// Terms that are written as one word: `html/css`.
fn joined(lexicon: &Lexicon, word: &str) -> Option<(usize, TermKind)> {
    if !word.contains('/') {
        return None;
    }
    word.split('/')
        .all(|part| lexicon.kind(part) == Some(TermKind::Knowledge))
        .then_some((1, TermKind::Knowledge))
}

/// The class of a word by its lists and its ending.
fn class(lexicon: &Lexicon, word: &str) -> &'static str {
    if !word.contains(char::is_alphanumeric) {
        return ".";
    }
    if let Ok(index) = FUNCTION_WORDS.binary_search(&word) {
        return FUNCTION_WORDS[index];
    }
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    let plural = word.strip_suffix('s').unwrap_or(word);
    match word {
        _ if lexicon.is_verb(word) => "V",
        _ if lexicon.is_gerund(word) => "G",
        _ if word.ends_with("ing") => "-ing",
        _ if word.ends_with("ed") => "-ed",
        _ if word.ends_with("ly") => "-ly",
        _ if NOUN_ENDINGS.iter().any(|ending| plural.ends_with(ending)) => "N",
        _ if ends(&ADJECTIVE_ENDINGS) => "A",
        _ if word.ends_with('s') => "-s",
        _ => "w",
    }
}

/// How a word is written.
fn shape(word: &str) -> &'static str {
    let mut characters = word.chars();
    let first = characters.next().is_some_and(char::is_uppercase);
    let rest = characters.any(char::is_uppercase);
    let lower = word.contains(char::is_lowercase);
    match (first, rest) {
        (true, true) if lower => "Mixed",
        (true, true) => "UPPER",
        (true, false) => "Title",
        (false, _) if word.contains(|digit: char| digit.is_ascii_digit()) => "digit",
        (false, true) => "camel",
        (false, false) if lower => "lower",
        (false, false) => "sign",
    }
}
