//! How a text uses capitals.

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
}

impl Case {
    pub(super) fn of(tokens: &[Token]) -> Self {
        let words = || tokens.iter().filter(|token| token.is_word());
        if words().all(|token| !token.capital) {
            Self::Lower
        } else if words().count() > 3
            && words().all(|token| token.upper || token.lower.chars().count() == 1)
        {
            Self::Upper
        } else {
            Self::Usual
        }
    }
}
