//! The context tier: names, places, organisations, addresses, titles and ages.

use super::case::Case;
use super::surroundings::Surroundings;
use super::tokens::tokens;
use super::{Finding, addresses, ages, entities, titles};

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    let tokens = tokens(around.text);
    let case = Case::of(around.text, &tokens);
    ages::find(around, found);
    titles::find(&tokens, found);
    let streets = addresses::find(&tokens, case, found);
    entities::find(around.text, &tokens, case, &streets, found);
    ages::after_names(around, found);
}
