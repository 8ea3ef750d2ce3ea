//! The context tier: names, places, organisations, addresses, titles and ages.

use std::ops::Range;

use super::case::Case;
use super::parts::{Part, parts, parts_by_sentence};
use super::surroundings::Surroundings;
use super::tokens::{Token, tokens};
use super::{Finding, addresses, ages, entities, titles};

/// The words of a text, and the findings that do not depend on the languages of its parts.
pub(super) struct Context<'t> {
    around: &'t Surroundings<'t>,
    tokens: Vec<Token>,
    case: Case,
    /// The tokens of addresses.
    streets: Vec<Range<usize>>,
    found: Vec<Finding>,
}

impl<'t> Context<'t> {
    pub(super) fn of(around: &'t Surroundings<'t>) -> Self {
        let tokens = tokens(around.text);
        let case = Case::of(around.text, &tokens);
        let mut found = Vec::new();
        ages::find(around, &mut found);
        titles::find(&tokens, &mut found);
        let streets = addresses::find(&tokens, case, &mut found);
        Self { around, tokens, case, streets, found }
    }

    /// Parts that are long enough for their language to be sure.
    pub(super) fn long_parts(&self) -> Vec<Part> {
        parts(self.around.text, &self.tokens, self.case)
    }

    /// Parts that may be as short as a sentence.
    pub(super) fn short_parts(&self) -> Vec<Part> {
        parts_by_sentence(self.around.text, &self.tokens, self.case)
    }

    /// Finds names in a text of these parts, and adds the findings that do not depend on them.
    pub(super) fn find(&self, parts: &[Part]) -> Vec<Finding> {
        let mut found = self.found.clone();
        entities::find(self.around.text, &self.tokens, parts, &self.streets, &mut found);
        ages::after_names(self.around, &mut found);
        found
    }
}
