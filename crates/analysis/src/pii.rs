//! Personal data in text: identifiers by their pattern and check digits, names and places by lists and context.
//!
//! Every recogniser reads the text once, and looks at a bounded window around what it finds, so the work grows with
//! the length of the text and not faster.

mod addresses;
mod ages;
mod calling_codes;
mod cards;
mod case;
mod context;
mod dates;
mod entities;
mod finding;
mod identifiers;
mod kind;
mod languages;
mod lists;
mod network;
mod overlaps;
mod parts;
mod phones;
mod postcodes;
mod secrets;
mod surroundings;
mod titles;
mod tokens;
mod wallets;

pub use finding::{Finding, Options};
pub use kind::{Kind, Tier};

use surroundings::Surroundings;

pub(crate) use network::regex as compiled;

/// Finds personal data, in the order of the text and without overlaps.
pub fn find(text: &str, options: &Options) -> Vec<Finding> {
    let around = Surroundings::of(text);
    let mut found = Vec::new();
    network::find(&around, &mut found);
    identifiers::find(&around, &mut found);
    cards::find(&around, &mut found);
    phones::find(&around, options.region.as_deref(), &mut found);
    wallets::find(&around, &mut found);
    secrets::find(&around, &mut found);
    postcodes::find(&around, &mut found);
    dates::find(&around, &mut found);
    context::find(&around, &mut found);
    // What is not asked for still blocks its place: the digits of a card are no phone number.
    let mut settled = overlaps::settle(found);
    settled.retain(|finding| {
        options.includes(finding.kind) && finding.confidence >= options.min_confidence
    });
    settled
}

#[cfg(test)]
mod tests;
