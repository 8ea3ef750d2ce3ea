//! What is looked for, and what is found.

use std::ops::Range;

use super::kind::Kind;

/// The types of personal data to look for.
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
    pub(super) fn includes(&self, kind: Kind) -> bool {
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
    pub(super) fn new(
        kind: Kind,
        place: Range<usize>,
        confidence: f32,
        reason: &'static str,
    ) -> Self {
        Self { kind, start: place.start, end: place.end, confidence, reason }
    }
}
