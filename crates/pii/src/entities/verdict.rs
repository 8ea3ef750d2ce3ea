//! What a run of words was taken for.

use crate::tokens::{Token, hyphenated_code};
use crate::{Finding, Kind};

pub(super) struct Verdict {
    pub(super) kind: Kind,
    pub(super) confidence: f32,
    pub(super) reason: &'static str,
}

pub(super) fn verdict(kind: Kind, confidence: f32, reason: &'static str) -> Option<Verdict> {
    Some(Verdict { kind, confidence, reason })
}

/// Digits directly after a town.
pub(super) fn postcode_after(tokens: &[Token], at: usize, found: &mut Vec<Finding>) {
    let Some(token) = tokens
        .get(at)
        .filter(|token| token.is_number() && token.lower.chars().all(|c| c.is_ascii_digit()))
    else {
        return;
    };
    let second = tokens
        .get(at + 1)
        .filter(|next| next.is_number() && next.start == token.end + 1 && next.lower.len() == 2);
    let end = match (hyphenated_code(tokens, at), token.lower.len(), second) {
        (Some(end), ..) => tokens[end - 1].end,
        (None, 3, Some(next)) => next.end,
        (None, 4..=6, _) => token.end,
        _ => return,
    };
    let year =
        token.lower.len() == 4 && (token.lower.starts_with("19") || token.lower.starts_with("20"));
    let confidence = if year { 0.5 } else { 0.65 };
    found.push(Finding::new(Kind::ZipCode, token.start..end, confidence, "digits after a place"));
}
