//! The context tier: names, places, organisations, addresses, titles and ages.

use super::surroundings::Surroundings;
use super::tokens::{Token, tokens};
use super::{Finding, addresses, ages, entities, titles};

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
    fn of(tokens: &[Token]) -> Self {
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

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    let tokens = tokens(around.text);
    let case = Case::of(&tokens);
    ages::find(around, found);
    titles::find(&tokens, found);
    let streets = addresses::find(&tokens, case, found);
    entities::find(&tokens, case, &streets, found);
}
