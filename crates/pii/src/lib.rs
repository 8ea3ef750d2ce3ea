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

use context::Context;
use surroundings::Surroundings;

pub use network::regex as compiled;

/// Finds personal data, in the order of the text and without overlaps.
pub fn find(text: &str, options: &Options) -> Vec<Finding> {
    let around = Surroundings::of(text);
    let context = Context::of(&around);
    let found = context.find(&context.long_parts());
    settle(by_pattern(&around, options), found, options)
}

/// Finds personal data to be redacted, in the order of the text. Sentences that may be in another language than those around
/// them are read in both, and what is found in either is returned: findings may overlap.
pub fn find_for_redaction(text: &str, options: &Options) -> Vec<Finding> {
    let around = Surroundings::of(text);
    let context = Context::of(&around);
    let patterns = by_pattern(&around, options);
    let (long, short) = (context.long_parts(), context.short_parts());
    if long == short {
        return settle(patterns, context.find(&long), options);
    }
    let mut found = settle(patterns.clone(), context.find(&long), options);
    found.extend(settle(patterns, context.find(&short), options));
    found.sort_by_key(|finding| (finding.start, finding.end, finding.kind));
    found.dedup_by_key(|finding| (finding.start, finding.end, finding.kind));
    found
}

/// The findings of patterns and check digits.
fn by_pattern(around: &Surroundings<'_>, options: &Options) -> Vec<Finding> {
    let mut found = Vec::new();
    network::find(around, &mut found);
    identifiers::find(around, &mut found);
    cards::find(around, &mut found);
    phones::find(around, options.region.as_deref(), &mut found);
    wallets::find(around, &mut found);
    secrets::find(around, &mut found);
    postcodes::find(around, &mut found);
    dates::find(around, &mut found);
    found
}

/// The surest findings that are asked for.
fn settle(mut found: Vec<Finding>, more: Vec<Finding>, options: &Options) -> Vec<Finding> {
    found.extend(more);
    // Findings of other types still block their position: the digits of a card are no phone number.
    let mut settled = overlaps::settle(found);
    settled.retain(|finding| {
        options.includes(finding.kind) && finding.confidence >= options.min_confidence
    });
    settled
}

#[cfg(test)]
mod tests;
