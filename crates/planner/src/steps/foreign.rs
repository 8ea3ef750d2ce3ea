//! Prohibitions in other languages than English. What they forbid is left out, also where no tool would be found for it.

use super::Token;

/// What a negation forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Negation {
    /// The whole clause.
    Clause,
    /// What follows from this byte on.
    From(usize),
}

/// Words that start a clause.
pub(super) const TURNS: [&str; 23] = [
    "und",
    "aber",
    "sondern",
    "oder",
    "dann",
    "et",
    "mais",
    "puis",
    "y",
    "pero",
    "luego",
    "ma",
    "poi",
    "mas",
    "depois",
    "maar",
    "och",
    "men",
    "ale",
    "и",
    "но",
    "а",
    "потом",
];
/// Negations that can be anywhere in their clause: German, Dutch, Scandinavian, Romance, Slavic and others.
const ANYWHERE: [&str; 26] = [
    "nicht",
    "niemals",
    "nie",
    "kein",
    "keine",
    "keinen",
    "keinem",
    "keiner",
    "keines",
    "niet",
    "geen",
    "nooit",
    "inte",
    "aldrig",
    "ikke",
    "ingen",
    "jamais",
    "nunca",
    "jamás",
    "não",
    "не",
    "никогда",
    "нельзя",
    "đừng",
    "jangan",
    "لا",
];
/// What follows them where nothing is forbidden: `nicht nur`.
const HARMLESS: [&str; 5] = ["nur", "mehr", "alleen", "bara", "solo"];
/// French words that negate together with `ne`.
const AFTER_NE: [&str; 5] = ["pas", "rien", "aucun", "aucune", "personne"];
/// Spanish words after a `no` that forbids: pronouns, and marks of a Spanish sentence.
const SPANISH_PRONOUNS: [&str; 8] = ["lo", "la", "los", "las", "le", "les", "me", "se"];
const SPANISH: [&str; 12] = [
    "del", "al", "por", "para", "que", "pero", "archivo", "archivos", "correo", "mensaje", "nada",
    "una",
];
/// How many words before and after `no` say which language it is.
const NEAR: usize = 12;
/// Chinese negations, which stand before what they forbid.
const CHINESE: [&str; 9] =
    ["不要", "请勿", "請勿", "切勿", "不得", "不准", "不可以", "禁止", "请别"];
/// Japanese and Korean ones, which end the clause.
const JAPANESE: [&str; 5] = ["しないで", "しないこと", "さないで", "かないで", "ないでくだ"];
const KOREAN: [&str; 2] = ["지마", "지말"];

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
}

/// What the word at a place negates, if it is a negation.
pub(super) fn negation(text: &str, tokens: &[Token<'_>], place: usize) -> Option<Negation> {
    let sentence = &Sentence { text, tokens };
    let word = sentence.word(place);
    let next = sentence.word(place + 1);
    let token = &sentence.tokens[place];
    let is_prefix = sentence.text[token.end..].starts_with('-');
    if ANYWHERE.contains(&word) && !HARMLESS.contains(&next) && !is_prefix {
        return Some(Negation::Clause);
    }
    let follows_ne = || (1..=4).any(|count| count <= place && is_ne(sentence, place - count));
    if AFTER_NE.contains(&word) && follows_ne() {
        return Some(Negation::Clause);
    }
    if word == "non" && starts_clause(sentence, place) && is_italian_verb(next) {
        return Some(Negation::Clause);
    }
    if word == "no" && starts_clause(sentence, place) && is_spanish(sentence, place) {
        return Some(Negation::Clause);
    }
    if let Some(at) = CHINESE.iter().find_map(|negation| token.text.find(negation)) {
        return Some(Negation::From(token.start + at));
    }
    // A space may be between the verb and the Korean negation.
    let joined = || format!("{word}{next}");
    let at_end = JAPANESE.iter().any(|negation| token.text.contains(negation))
        || !word.is_ascii() && KOREAN.iter().any(|negation| joined().contains(negation));
    at_end.then_some(Negation::Clause)
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
    place == 0 || token.after_stop || token.after_comma || TURNS.contains(&before)
}

/// `non cancellare`, but not `non fiction`.
fn is_italian_verb(word: &str) -> bool {
    ["are", "ere", "ire"].iter().any(|end| word.ends_with(end))
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
