//! The parts of a text that are written in different languages.

use std::ops::Range;

use language::prose::Language;

use super::case::Case;
use super::tokens::Token;

/// How many words a part has at least. Of fewer the language is a guess.
const FEWEST: usize = 120;

/// The parts of a text, each with how it uses capitals. Parts end where lines do.
pub(super) fn parts(text: &str, tokens: &[Token], case: Case) -> Vec<(Range<usize>, Case)> {
    let mut parts: Vec<(Range<usize>, Case)> = Vec::new();
    let mut start = 0;
    let mut words = 0;
    for (at, token) in tokens.iter().enumerate() {
        words += usize::from(token.is_word());
        if token.is_break() && words >= FEWEST {
            add(text, tokens, start..at + 1, case, &mut parts);
            start = at + 1;
            words = 0;
        }
    }
    match parts.last_mut() {
        // The rest is too short to be a part of its own.
        Some((last, _)) if words < FEWEST => last.end = tokens.len(),
        Some(_) => add(text, tokens, start..tokens.len(), case, &mut parts),
        None => parts.push((0..tokens.len(), case)),
    }
    parts
}

fn add(
    text: &str,
    tokens: &[Token],
    part: Range<usize>,
    whole: Case,
    parts: &mut Vec<(Range<usize>, Case)>,
) {
    let written = &text[tokens[part.start].start..tokens[part.end - 1].end];
    let case = match Language::detect(written) {
        Some(Language::ENGLISH) => Case::Usual,
        None => whole,
        language => Case::Foreign(language),
    };
    match parts.last_mut() {
        Some((last, before)) if *before == case => last.end = part.end,
        _ => parts.push((part, case)),
    }
}
