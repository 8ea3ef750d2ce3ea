//! How a text uses capitals.

use language::prose::Language;

use super::tokens::Token;

/// How a text uses capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// Capitals mark names and the beginnings of sentences.
    Usual,
    /// No capitals, so only lists and cues are left.
    Lower,
    /// Capitals only.
    Upper,
    /// Capitals as usual, in a language whose words no list has: a capital alone says nothing.
    Foreign,
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
        } else if Language::detect(text).is_some_and(|language| language != Language::ENGLISH) {
            Self::Foreign
        } else {
            Self::Usual
        }
    }
}
