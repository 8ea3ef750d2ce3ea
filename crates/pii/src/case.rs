//! How a text uses capitals.

use language::prose::Language;

use super::languages::Words;
use super::lists;
use super::tokens::Token;

/// How many words a language is guessed by.
const GUESSED_BY: usize = 200;

/// How a text uses capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// Capitals mark names and the beginnings of sentences.
    Usual,
    /// No capitals, so only lists and cues are left.
    Lower,
    /// Capitals only.
    Upper,
    /// Capitals as usual, in another language, which may be unknown: a capital alone says little.
    Foreign(Option<Language>),
}

impl Case {
    pub(super) fn of(text: &str, tokens: &[Token]) -> Self {
        let words = || tokens.iter().filter(|token| token.is_word());
        if words().all(|token| !token.capital) {
            Self::Lower
        } else if words().count() > 3
            && words().all(|token| token.upper || token.lower.chars().count() == 1)
        {
            Self::Upper
        } else {
            match Language::detect(text) {
                None | Some(Language::ENGLISH) => Self::guess(tokens),
                language => Self::Foreign(language),
            }
        }
    }

    /// Of a text that is English by its function words, or has too few: most of its words may still be none of English.
    fn guess(tokens: &[Token]) -> Self {
        let small = tokens.iter().filter(|token| token.is_word() && !token.capital);
        let small: Vec<&str> = small
            .map(|token| token.lower.as_str())
            .filter(|word| word.chars().nth(1).is_some())
            .take(GUESSED_BY)
            .collect();
        let english = small.iter().filter(|word| lists::is_word(word)).count();
        if small.len() < 2 || english * 2 >= small.len() {
            Self::Usual
        } else {
            Self::Foreign(Words::likely(&small))
        }
    }
}
