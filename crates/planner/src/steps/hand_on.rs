//! Requests that put something somewhere: `save a summary of it to a.txt`.

use language::words::words;

use super::{Step, Token, tokens};
use crate::mention::{Mention, Written};

/// Verbs that put a result somewhere.
const HANDS_ON: [&str; 12] = [
    "save", "write", "store", "send", "post", "email", "append", "put", "upload", "share",
    "publish", "record",
];

/// Whether a verb asks to keep something.
pub(super) fn keeps(verb: &str) -> bool {
    HANDS_ON.contains(&verb) || matches!(verb, "remember" | "memorize" | "note")
}

/// `save a summary of it to a.txt` as two steps: `a summary of it`, and `save it to a.txt`.
pub(super) fn without_product(
    tokens: &[Token<'_>],
    range: (usize, usize),
) -> Vec<Vec<(usize, usize)>> {
    let whole = vec![vec![range]];
    let own: Vec<&Token<'_>> =
        tokens.iter().filter(|token| token.start >= range.0 && token.end <= range.1).collect();
    let Some(verb) = own.iter().position(|token| HANDS_ON.contains(&token.lower.as_str())) else {
        return whole;
    };
    let is = |place: usize, words: &[&str]| {
        own.get(place).is_some_and(|token| words.contains(&token.lower.as_str()))
    };
    let Some(of) = (verb + 3..verb + 6).find(|&place| is(place, &["of"])) else { return whole };
    let is_plain = own[verb + 1..=of].iter().all(|token| !token.after_value);
    if !is_plain || !is(verb + 1, &["a", "an", "the"]) || !is(of + 1, &["it", "them", "this"]) {
        return whole;
    }
    let (product, pronoun) = (own[verb + 1].start, own[of + 1]);
    vec![vec![(product, pronoun.end)], vec![(range.0, product), (pronoun.start, range.1)]]
}

/// `write the log of /repo to a.txt` as two steps: `the log of /repo`, and `write it to a.txt`. `None` if nothing but
/// a value or a pronoun is put there.
pub(crate) fn with_product(step: &Step, text: &str, mentions: &[Mention]) -> Option<(Step, Step)> {
    let &[(from, to)] = step.ranges.as_slice() else { return None };
    let all = tokens(text, mentions);
    let own: Vec<&Token<'_>> =
        all.iter().filter(|token| token.start >= from && token.end <= to).collect();
    let verb = own.iter().take(4).position(|token| HANDS_ON.contains(&token.lower.as_str()))?;
    let object = own.get(verb + 1).filter(|token| !token.after_value)?;
    if !matches!(object.lower.as_str(), "the" | "a" | "an" | "my" | "our" | "all" | "what") {
        return None;
    }
    let is_place = |mention: &Mention| matches!(mention.value, Written::Path | Written::Email);
    let place = step.mentions.iter().rev().map(|&place| &mentions[place]).find(|m| is_place(m))?;
    let preposition = own.iter().rfind(|token| token.end <= place.start)?;
    let is_near = text[preposition.end..place.start].trim().is_empty()
        && matches!(preposition.lower.as_str(), "to" | "into" | "in" | "as");
    if !is_near || preposition.start <= object.end {
        return None;
    }
    let product = Step::new(text, &[(object.start, preposition.start)], mentions);
    let ranges = [(from, object.start), (preposition.start, to)];
    let mut rest = Step::new(text, &ranges, mentions);
    rest.has_pronoun = true;
    rest.product = words(&product.query);
    Some((product, rest))
}
