//! Texts as sets of stems, for comparing many of them.

use std::collections::HashMap;

use language::prose::Language;

use super::intent::content_stems;

/// Numbers for the stems of a language.
#[derive(Debug)]
pub struct Vocabulary {
    language: Language,
    numbers: HashMap<String, u32>,
}

/// The different content stems of a text as numbers, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stems(Vec<u32>);

impl Vocabulary {
    pub fn new(language: Language) -> Self {
        Self { language, numbers: HashMap::new() }
    }

    pub fn language(&self) -> Language {
        self.language
    }

    pub fn read(&mut self, text: &str) -> Stems {
        self.number(&content_stems(text, self.language))
    }

    pub fn number(&mut self, stems: &[String]) -> Stems {
        let mut numbers: Vec<u32> = stems
            .iter()
            .map(|stem| {
                let next = self.numbers.len() as u32;
                *self.numbers.entry(stem.clone()).or_insert(next)
            })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        Stems(numbers)
    }
}

impl Stems {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many stems both have.
    pub fn shared(&self, other: &Self) -> usize {
        let (mut a, mut b, mut shared) = (0, 0, 0);
        while let (Some(one), Some(two)) = (self.0.get(a), other.0.get(b)) {
            shared += usize::from(one == two);
            let (next_a, next_b) = (usize::from(one <= two), usize::from(two <= one));
            a += next_a;
            b += next_b;
        }
        shared
    }

    /// The share of all stems that both have, from 0 to 1.
    pub fn likeness(&self, other: &Self) -> f64 {
        let shared = self.shared(other);
        let all = self.len() + other.len() - shared;
        if all == 0 { 0.0 } else { shared as f64 / all as f64 }
    }

    /// Whether both have nearly the same words. A different word on either side (`air` and `ground`) makes two sentences
    /// of it, unless they are long.
    pub fn repeats(&self, other: &Self) -> bool {
        let shared = self.shared(other);
        let (short, long) = (self.len().min(other.len()), self.len().max(other.len()));
        let contained = short >= 4 && 10 * shared >= 9 * short && 2 * short >= long;
        let likeness = self.likeness(other);
        contained || (short >= 3 && likeness >= if shared == short { CONTAINED } else { SAME })
    }
}

/// The share of equal stems from which on two texts say the same.
const SAME: f64 = 0.85;

/// The share of equal stems that is enough if all stems of one text are in the other.
const CONTAINED: f64 = 0.6;
