//! Personal data in text: identifiers by their pattern and check digits, names and places by lists and context.
//!
//! Every recogniser reads the text once, and looks at a bounded window around what it finds, so the work grows with
//! the length of the text and not faster.

mod addresses;
mod ages;
mod calling_codes;
mod cards;
mod context;
mod dates;
mod entities;
mod identifiers;
mod kind;
mod lists;
mod network;
mod overlaps;
mod phones;
mod postcodes;
mod secrets;
mod surroundings;
mod titles;
mod tokens;
mod wallets;

pub use kind::{Kind, Tier};

use surroundings::Surroundings;

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The types that are looked for; empty means all.
    pub kinds: Vec<Kind>,
    /// Findings below this are left out.
    pub min_confidence: f32,
    /// The country (ISO 3166, two characters) whose phone numbers are written without a country code.
    pub region: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { kinds: Vec::new(), min_confidence: 0.5, region: None }
    }
}

impl Options {
    fn includes(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// Personal data at a place of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub kind: Kind,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// From 0 to 1.
    pub confidence: f32,
    /// Why it was marked.
    pub reason: &'static str,
}

impl Finding {
    fn new(
        kind: Kind,
        place: std::ops::Range<usize>,
        confidence: f32,
        reason: &'static str,
    ) -> Self {
        Self { kind, start: place.start, end: place.end, confidence, reason }
    }
}

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
