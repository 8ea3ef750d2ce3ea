//! Prohibitions in other languages than English. What they forbid is left out, also where no tool would be found for it.

mod filters;
mod lists;

use std::ops::Range;

use super::Token;
use lists::{
    AFTER_NE, ANYWHERE, ARTICLES, CHINESE, CHINESE_HARMLESS, FAIL_TO, HARMLESS_AFTER,
    HARMLESS_BEFORE, JAPANESE, JAPANESE_HARMLESS, KOREAN, KOREAN_HARMLESS, MORE, OBJECTS, ONLY,
    SPANISH, SPANISH_PRONOUNS, THAN, TURNS,
};

/// What a negation forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Negation {
    /// The whole clause.
    Clause,
    /// All text from this byte on.
    From(usize),
}

/// How many words before and after `no` say which language it is.
const NEAR: usize = 12;
/// How far a verb can be from its negation: `não se esqueça`.
const REACH: usize = 3;

/// A request and its words.
struct Sentence<'a> {
    text: &'a str,
    tokens: &'a [Token<'a>],
}

impl Sentence<'_> {
    /// The word at a place in lower case, empty after the last one.
    fn word(&self, place: usize) -> &str {
        self.tokens.get(place).map_or("", |token| token.lower.as_str())
    }

    /// The verb of an elided word: `oublie` of `n'oublie`.
    fn verb(&self, place: usize) -> &str {
        let word = self.word(place);
        word.rsplit_once('\'').map_or(word, |(_, verb)| verb)
    }

    /// Whether `aber` or `maar` only stresses the negation after it: `sende sie aber nicht ab`.
    fn is_particle(&self, place: usize) -> bool {
        let token = &self.tokens[place];
        let stresses = matches!(self.word(place), "aber" | "maar")
            && place > 0
            && !token.after_comma
            && !token.after_value
            && ANYWHERE.contains(&self.word(place + 1));
        // A noun or an infinitive after the negation belongs to a clause of its own: `aber nicht die Mail`.
        let opens = |next: &Token<'_>| {
            next.after_value
                || next.text.starts_with(char::is_uppercase)
                || next.lower.ends_with("en")
                || ARTICLES.contains(&next.lower.as_str())
        };
        stresses
            && (OBJECTS.contains(&self.word(place - 1))
                || !self.tokens.get(place + 2).is_some_and(opens))
    }

    /// The words of the clause around a word. Commas and words such as `and` and `but` separate clauses.
    fn clause(&self, place: usize) -> Range<usize> {
        let starts = |at: usize| {
            let token = &self.tokens[at];
            at == 0
                || token.after_stop
                || token.after_comma
                || TURNS.contains(&token.lower.as_str()) && !self.is_particle(at)
        };
        let first = (0..=place).rev().find(|&at| starts(at)).unwrap_or_default();
        let after = (place + 1..self.tokens.len()).find(|&at| starts(at));
        first..after.unwrap_or(self.tokens.len())
    }
}

/// What the word at a place negates, if it is a negation that forbids something.
pub(super) fn negation(text: &str, tokens: &[Token<'_>], place: usize) -> Option<Negation> {
    let sentence = &Sentence { text, tokens };
    let word = sentence.word(place);
    let next = sentence.word(place + 1);
    let token = &tokens[place];
    let is_prefix = text[token.end..].starts_with('-');
    let ne = (1..=4).filter_map(|count| place.checked_sub(count)).find(|&at| is_ne(sentence, at));
    let follows_ne = ne.is_some() && AFTER_NE.contains(&word);
    let opens = || starts_clause(sentence, place);
    let is_negation = ANYWHERE.contains(&word) && !is_prefix
        || follows_ne
        || word == "non" && opens() && is_italian_verb(next)
        || word == "no" && opens() && is_spanish(sentence, place);
    if is_negation {
        let first = ne.filter(|_| follows_ne || word == "jamais").unwrap_or(place);
        let is_limit = ONLY.contains(&next)
            || MORE.contains(&next) && THAN.contains(&sentence.word(place + 2));
        let forbids =
            !is_limit && !is_harmless(sentence, first, place) && !sentence.is_filter(first, place);
        let start = sentence.own_start(first, place);
        let clause = start.map_or(Negation::Clause, |at| Negation::From(tokens[at].start));
        return forbids.then_some(clause);
    }
    // Without spaces, a word can have several.
    let forbids = |(at, negation): &(usize, &str)| {
        let rest = &token.text[at + negation.len()..];
        !CHINESE_HARMLESS.iter().any(|verb| rest.starts_with(verb))
    };
    let chinese = CHINESE.iter().flat_map(|negation| token.text.match_indices(negation));
    if let Some(at) = chinese.filter(forbids).map(|(at, _)| at).min() {
        return Some(Negation::From(token.start + at));
    }
    let forbids_at_end = |text: &str, negations: &[&str], harmless: &[&str]| {
        let mut found = negations.iter().flat_map(|negation| text.match_indices(negation));
        found.any(|(at, _)| !harmless.iter().any(|verb| text[..at].ends_with(verb)))
    };
    // A space may be between the verb and the Korean negation.
    let at_end = forbids_at_end(token.text, JAPANESE, JAPANESE_HARMLESS)
        || !word.is_ascii() && forbids_at_end(&format!("{word}{next}"), KOREAN, KOREAN_HARMLESS);
    at_end.then_some(Negation::Clause)
}

/// The part of a request that a negation at a place forbids, in bytes: its clause, with the clauses that describe its
/// nouns.
pub(super) fn forbidden_clause(text: &str, tokens: &[Token<'_>], place: usize) -> Range<usize> {
    let sentence = &Sentence { text, tokens };
    let clause = sentence.clause(place);
    let mut after = clause.end;
    while after < tokens.len() && sentence.opens_relative(after) {
        after = sentence.clause(after).end;
    }
    let from = if clause.start == 0 { 0 } else { tokens[clause.start].start };
    from..tokens.get(after).map_or(text.len(), |token| token.start)
}

/// Whether a negation belongs to a verb such as `forget`, with which it asks for what follows. It goes from `first`, the
/// `ne` of French, to `last`.
fn is_harmless(sentence: &Sentence<'_>, first: usize, last: usize) -> bool {
    let clause = sentence.clause(last);
    let is_before = |at: usize| HARMLESS_BEFORE.contains(&sentence.word(at));
    // Nothing but a short word such as `bitte` and `Sie` is between the verb and its negation.
    let from = clause.start.max(first.saturating_sub(2));
    if (from..first).any(is_before) {
        return true;
    }
    let is_after = |at: usize| {
        let verb = sentence.verb(at);
        let next = sentence.word(if at < last { last + 1 } else { at + 1 });
        let asks = matches!(next, "de" | "di" | "d") || next.starts_with("d'");
        HARMLESS_AFTER.contains(&verb) || FAIL_TO.contains(&verb) && asks
    };
    if first < last {
        return (first..last).any(is_after);
    }
    let end = clause.end.min(last + 1 + REACH);
    let is_short = |at: &usize| sentence.word(*at).chars().count() <= 3;
    let between = (last + 1..end).take_while(is_short).count();
    (last + 1..end.min(last + 2 + between)).any(is_after)
}

/// Whether the word at a place is `ne` or begins with `n'`. A typographic apostrophe ends a word.
fn is_ne(sentence: &Sentence<'_>, place: usize) -> bool {
    let word = sentence.word(place);
    let cut = word == "n" && sentence.text[sentence.tokens[place].end..].starts_with('’');
    word == "ne" || word.starts_with("n'") || cut
}

fn starts_clause(sentence: &Sentence<'_>, place: usize) -> bool {
    let token = &sentence.tokens[place];
    let before = place.checked_sub(1).map_or("", |at| sentence.word(at));
    place == 0 || token.after_stop || token.after_comma || TURNS.contains(&before) || before == "e"
}

/// `non cancellare` and `non cancellarli`, but not `non fiction`.
fn is_italian_verb(word: &str) -> bool {
    let pronoun = ["lo", "la", "li", "le"].iter().find_map(|end| word.strip_suffix(end));
    ["are", "ere", "ire"].iter().any(|end| word.ends_with(end))
        || pronoun.is_some_and(|verb| ["ar", "er", "ir"].iter().any(|end| verb.ends_with(end)))
}

/// Whether the word after `no` is Spanish, or others near it are.
fn is_spanish(sentence: &Sentence<'_>, place: usize) -> bool {
    let next = sentence.word(place + 1);
    let end = sentence.tokens.len().min(place + NEAR);
    let near = &sentence.tokens[place.saturating_sub(NEAR)..end];
    !next.is_empty()
        && (!next.is_ascii()
            || SPANISH_PRONOUNS.contains(&next)
            || near.iter().any(|token| SPANISH.contains(&token.lower.as_str())))
}

#[cfg(test)]
mod tests;
