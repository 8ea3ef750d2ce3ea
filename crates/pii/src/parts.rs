//! The parts of a text that are written in different languages.

mod sentences;

use std::ops::Range;

use language::prose::Language;

use super::case::Case;
use super::tokens::Token;

/// How many words a part has at least. Of fewer the language is a guess.
const FEWEST: usize = 120;

/// Tokens of a text, and how they use capitals.
pub(super) type Part = (Range<usize>, Case);

/// The parts of a text, each with how it uses capitals. Parts end where lines do.
pub(super) fn parts(text: &str, tokens: &[Token], case: Case) -> Vec<Part> {
    if matches!(case, Case::Lower | Case::Upper) {
        return whole(tokens, case);
    }
    let (mut parts, rest) = cut(text, tokens, case, |at| tokens[at].is_break());
    // The rest is too short to be a part of its own, unless no line ends in it.
    let words = tokens[rest.clone()].iter().filter(|token| token.is_word()).count();
    match parts.last_mut() {
        Some((last, _)) if words < FEWEST => last.end = rest.end,
        Some(_) => add(text, tokens, rest, case, &mut parts),
        None => parts.push((rest, case)),
    }
    parts
}

/// The parts of a text if they may also end where sentences do. Sentences that may be English are read as English, and a short
/// rest in its own language: this finds more names, and takes more other words for names.
pub(super) fn parts_by_sentence(text: &str, tokens: &[Token], case: Case) -> Vec<Part> {
    if matches!(case, Case::Lower | Case::Upper) {
        return whole(tokens, case);
    }
    let begins_next = |at: usize| tokens.get(at + 1).is_none_or(|next| next.first);
    let (mut parts, rest) = cut(text, tokens, case, begins_next);
    if !rest.is_empty() {
        let language = Language::detect(written(text, tokens, &rest));
        // A few words of English may be words of other languages too; the sentences tell.
        let foreign = language.filter(|language| *language != Language::ENGLISH);
        let before = parts.last().map_or(case, |(_, before)| *before);
        push(rest, foreign.map_or(before, |language| Case::Foreign(Some(language))), &mut parts);
    }
    let mut split = Vec::with_capacity(parts.len());
    for (part, case) in parts {
        match case {
            Case::Foreign(language) => sentences::split(tokens, part, language, &mut split),
            case => push(part, case, &mut split),
        }
    }
    split
}

fn whole(tokens: &[Token], case: Case) -> Vec<Part> {
    std::iter::once((0..tokens.len(), case)).collect()
}

/// Parts with enough words, each up to a token at which a part may end, and the rest.
fn cut(
    text: &str,
    tokens: &[Token],
    case: Case,
    may_end: impl Fn(usize) -> bool,
) -> (Vec<Part>, Range<usize>) {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut words = 0;
    for (at, token) in tokens.iter().enumerate() {
        words += usize::from(token.is_word());
        if words >= FEWEST && may_end(at) {
            add(text, tokens, start..at + 1, case, &mut parts);
            start = at + 1;
            words = 0;
        }
    }
    (parts, start..tokens.len())
}

fn add(text: &str, tokens: &[Token], part: Range<usize>, whole: Case, parts: &mut Vec<Part>) {
    let case = match Language::detect(written(text, tokens, &part)) {
        Some(Language::ENGLISH) => Case::Usual,
        None => whole,
        language => Case::Foreign(language),
    };
    push(part, case, parts);
}

fn written<'t>(text: &'t str, tokens: &[Token], part: &Range<usize>) -> &'t str {
    &text[tokens[part.start].start..tokens[part.end - 1].end]
}

/// Adds a part to the one before if both use capitals in the same way.
fn push(part: Range<usize>, case: Case, parts: &mut Vec<Part>) {
    match parts.last_mut() {
        Some((last, before)) if *before == case => last.end = part.end,
        _ => parts.push((part, case)),
    }
}

#[cfg(test)]
mod tests;
