//! The sentences of a part in another language that may be English.

use std::ops::Range;

use language::prose::Language;
use language::words::fold;

use super::{Part, push};
use crate::case::Case;
use crate::languages::Words;
use crate::lists;
use crate::tokens::Token;

/// Sentences with so many function words of English together are English, and so are those next to them that have none of
/// any language, such as the name below a letter.
const SURE: usize = 3;

/// The language of a sentence by its function words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vote {
    /// With how many of English.
    English(usize),
    Other,
    /// It has none.
    Open,
}

/// Splits a part into those that may be English and those that are in its own language.
pub(super) fn split(
    tokens: &[Token],
    part: Range<usize>,
    language: Option<Language>,
    parts: &mut Vec<Part>,
) {
    let sentences = sentences(tokens, part);
    let votes: Vec<Vote> =
        sentences.iter().map(|sentence| vote(&tokens[sentence.clone()], language)).collect();
    let mut stretches = sentences.into_iter().zip(&votes).peekable();
    let mut at = 0;
    while at < votes.len() {
        let length = votes[at..].iter().take_while(|vote| **vote != Vote::Other).count();
        let stretch = &votes[at..at + length];
        let english: usize = stretch.iter().map(|vote| vote.words()).sum();
        // The sentence after the stretch votes for the other language.
        for (sentence, vote) in stretches.by_ref().take(length + 1) {
            let is_english = match vote {
                Vote::English(_) => true,
                Vote::Other => false,
                Vote::Open => english >= SURE,
            };
            push(sentence, if is_english { Case::Usual } else { Case::Foreign(language) }, parts);
        }
        at += length + 1;
    }
}

impl Vote {
    fn words(self) -> usize {
        match self {
            Self::English(words) => words,
            Self::Other | Self::Open => 0,
        }
    }
}

/// The sentences and lines of a part.
fn sentences(tokens: &[Token], part: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = part.start;
    for at in part.clone() {
        if at > start && tokens[at].first && !tokens[at - 1].first {
            found.push(start..at);
            start = at;
        }
    }
    found.push(start..part.end);
    found
}

/// The language that a sentence may be in. Function words that both languages have do not count.
fn vote(sentence: &[Token], language: Option<Language>) -> Vote {
    let words = language.and_then(Words::of);
    let (mut english, mut other) = (0, 0);
    let (mut small, mut known) = (0_usize, 0);
    for token in sentence.iter().filter(|token| token.is_word()) {
        let folded = fold(&token.lower);
        let is_english = Language::ENGLISH.has(&folded);
        let is_other = language.is_some_and(|language| language.has(&folded))
            || words.is_some_and(|words| words.is_function(&token.lower));
        english += usize::from(is_english && !is_other);
        other += usize::from(is_other && !is_english);
        if !token.capital {
            small += 1;
            known += usize::from(is_english || lists::is_word(&token.lower));
        }
    }
    if english > 0 && english >= other && known * 2 >= small {
        Vote::English(english)
    } else if english + other > 0 || small > 2 && known * 2 < small {
        Vote::Other
    } else {
        Vote::Open
    }
}
