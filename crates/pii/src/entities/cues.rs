//! Words around a name that say what it names.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::runs::Run;
use crate::Kind;
use crate::lists::{self, is_company_word};
use crate::titles::{ADDRESSES, is_job};
use crate::tokens::Token;

/// Words that are never part of a name, however they are written.
static FUNCTION: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("function"));

static GPE_BEFORE: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("before-place"));

static ORG_BEFORE: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("before-company"));

static PERSON_BEFORE: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("before-person"));

static PERSON_AFTER: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("after-person"));

static ORG_AFTER: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("after-company"));

pub(super) fn is_function_word(word: &str) -> bool {
    FUNCTION.contains(word)
}

pub(super) fn is_person_verb(word: &str) -> bool {
    PERSON_AFTER.contains(word)
}

/// A word for a company after another word, or before `of`.
pub(super) fn is_company(words: &[&Token]) -> bool {
    words.len() > 1 && words[1..].iter().any(|token| is_company_word(&token.lower) && token.capital)
        || words.len() > 1
            && ["bank", "university", "institute", "ministry", "department", "hospital"]
                .contains(&words[0].lower.as_str())
}

/// The word so many places before a token on the same line; marks count as words.
fn word(tokens: &[Token], at: usize, back: usize) -> &str {
    at.checked_sub(back).map_or("", |index| tokens[index].lower.as_str())
}

fn after(tokens: &[Token], at: usize, on: usize) -> &str {
    tokens.get(at + on).map_or("", |token| token.lower.as_str())
}

/// A country used as an adjective: `a Brazil company`.
pub(super) fn is_adjective(tokens: &[Token], run: &Run) -> bool {
    let before = word(tokens, run.tokens.start, 1);
    let next = tokens.get(run.tokens.end);
    (before == "a" || before == "an") && next.is_some_and(|next| next.is_word() && !next.capital)
}

/// Phrases that leave no doubt.
pub(super) fn sure(tokens: &[Token], run: &Run) -> Option<Kind> {
    let at = run.tokens.start;
    let (one, two, three) = (word(tokens, at, 1), word(tokens, at, 2), word(tokens, at, 3));
    let dotted = if one == "." { two } else { one };
    if ADDRESSES.contains(dotted) {
        return Some(Kind::Person);
    }
    match (three, two, one) {
        (_, "name", "is" | ":") | (_, "names", "are") | (_, "named", "him" | "her") => {
            Some(Kind::Person)
        }
        (
            _,
            "live" | "lives" | "lived" | "living" | "born" | "based" | "located" | "grew"
            | "arrived" | "resides" | "stay" | "staying",
            "in",
        ) => Some(Kind::Gpe),
        (
            _,
            "city" | "town" | "village" | "state" | "country" | "university" | "capital"
            | "province" | "county",
            "of",
        ) => Some(Kind::Gpe),
        (
            _,
            "moved" | "move" | "moving" | "travel" | "traveled" | "travelled" | "traveling" | "fly"
            | "flew" | "flying" | "coming" | "going" | "trip" | "go" | "went" | "back",
            "to",
        ) => Some(Kind::Gpe),
        (_, "originally" | "visiting" | "arriving" | "down", "from") | (_, _, "city") => {
            Some(Kind::Gpe)
        }
        (_, "city" | "country" | "location" | "town" | "state", ":") => Some(Kind::Gpe),
        (_, "name", "ist" | "lautet") | (_, _, "heiße" | "heisse" | "heißt") => {
            Some(Kind::Person)
        }
        (_, _, "m'appelle" | "m’appelle" | "s'appelle" | "s’appelle") => Some(Kind::Person),
        (_, "me" | "se", "llamo" | "llama") | (_, "mi" | "si", "chiamo" | "chiama") => {
            Some(Kind::Person)
        }
        (
            _,
            "wohne" | "wohnt" | "wohnen" | "lebe" | "lebt" | "geboren" | "woon" | "woont",
            "in",
        )
        | (
            _,
            "habite" | "j'habite" | "j’habite" | "habitons" | "vis" | "vit" | "né" | "née"
            | "réside",
            "à",
        )
        | (_, "vivo" | "vive" | "viven" | "resido" | "reside" | "nací" | "nació", "en")
        | (_, "vivo" | "vive" | "abito" | "abita" | "nato" | "nata", "a")
        | (_, "moro" | "mora" | "nasci" | "nasceu", "em") => Some(Kind::Gpe),
        (_, "arbeite" | "arbeitet" | "arbeiten", "bei")
        | (_, "travaille" | "travaillons", "chez")
        | (_, "trabajo" | "trabaja", "en" | "para")
        | (_, "lavoro" | "lavora", "per" | "presso") => Some(Kind::Organization),
        (_, "company" | "employer" | "organization" | "organisation" | "firm", ":") => {
            Some(Kind::Organization)
        }
        (
            _,
            "work" | "works" | "worked" | "working" | "job" | "employed" | "position" | "intern"
            | "interned" | "year" | "years",
            "at" | "for",
        ) => Some(Kind::Organization),
        (
            _,
            "ceo" | "cfo" | "cto" | "founder" | "employee" | "director" | "chairman"
            | "shareholder" | "subsidiary",
            "of" | "at",
        ) => Some(Kind::Organization),
        _ => None,
    }
}

/// What the nearest words suggest.
pub(super) fn hint(tokens: &[Token], run: &Run) -> Option<Kind> {
    let (start, end) = (run.tokens.start, run.tokens.end);
    let (one, two) = (word(tokens, start, 1), word(tokens, start, 2));
    let (next, second) = (after(tokens, end, 0), after(tokens, end, 1));
    let possessive = matches!(next, "'" | "’") && second == "s";
    if is_described_company(tokens, end) || ORG_AFTER.contains(next) {
        return Some(Kind::Organization);
    }
    if possessive {
        return Some(if ORG_AFTER.contains(after(tokens, end, 2)) {
            Kind::Organization
        } else {
            Kind::Person
        });
    }
    if GPE_BEFORE.contains(one) || one == "from" && two != "," && !is_person_before(tokens, start) {
        return Some(Kind::Gpe);
    }
    if one == "from" && says_own_name(tokens, start) {
        return Some(Kind::Gpe);
    }
    if one == "from"
        || one == "for" && !PERSON_AFTER.contains(next)
        || ORG_BEFORE.contains(one) && two != "him"
    {
        return Some(Kind::Organization);
    }
    if one == "to"
        && !matches!(
            two,
            "speak"
                | "talk"
                | "spoke"
                | "talked"
                | "assistant"
                | "belongs"
                | "belong"
                | "married"
                | "wrote"
                | "write"
                | "send"
                | "listen"
                | "given"
                | "listening"
                | "according"
                | "said"
                | "thanks"
        )
    {
        return Some(Kind::Gpe);
    }
    if PERSON_BEFORE.contains(one)
        || is_job(one)
        || one == "to"
        || PERSON_AFTER.contains(next)
        || next == ":" && run.first
        || run.first && next == ","
    {
        return Some(Kind::Person);
    }
    None
}

/// Languages are spoken, studied and taught; peoples are not.
pub(super) fn is_language(tokens: &[Token], run: &Run) -> bool {
    is_language_at(tokens, run.tokens.start)
}

pub(super) fn is_language_at(tokens: &[Token], at: usize) -> bool {
    static VERBS: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("before-language"));
    let next = tokens.get(at + 1);
    let noun = next.is_some_and(|next| next.is_word() && !is_function_word(&next.lower));
    VERBS.contains(word(tokens, at, 1)) && !noun
}

/// `hear from Torben`, `the letter from Torben`.
pub(super) fn is_sender(tokens: &[Token], run: &Run, given: bool) -> bool {
    static SENT: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("sent"));
    let at = run.tokens.start;
    let sent = word(tokens, at, 2);
    // Only people answer; what is sent may come from a town.
    let answers = sent.starts_with("hear") && sent.len() < 8 && sent != "heart";
    word(tokens, at, 1) == "from" && (answers || given && SENT.contains(sent))
}

/// `I am Ana Reyes from Ballum`: people say where they live, and seldom where they work.
fn says_own_name(tokens: &[Token], start: usize) -> bool {
    let name = tokens[..start.saturating_sub(1)]
        .iter()
        .rev()
        .take(4)
        .take_while(|token| token.capital || token.is_mark('.'))
        .count();
    let at = start.saturating_sub(1 + name);
    let (one, two) = (word(tokens, at, 1), word(tokens, at, 2));
    matches!((two, one), ("i", "am") | ("name", "is") | (_, "i'm" | "i’m"))
}

/// `Ana Reyes from Leeds`.
pub(super) fn is_origin(tokens: &[Token], run: &Run) -> bool {
    word(tokens, run.tokens.start, 1) == "from" && is_person_before(tokens, run.tokens.start)
}

/// Whether a run is a line of its own below a line that ends in a job.
pub(super) fn is_employer_line(tokens: &[Token], run: &Run) -> bool {
    let (start, end) = (run.tokens.start, run.tokens.end);
    let alone = start >= 3 && tokens[start - 1].is_break();
    if !alone || !tokens.get(end).is_none_or(Token::is_break) {
        return false;
    }
    let above = &tokens[..start - 1];
    let line = above.iter().rev().take(8).take_while(|token| !token.is_break()).count();
    line < 8
        && above.len() > line
        && above[above.len() - line..].iter().all(|token| token.is_word() || token.is_mark(','))
        && above.last().is_some_and(|last| is_job(&last.lower))
}

/// `Name from Company`: the word before `from` ends a person's name.
fn is_person_before(tokens: &[Token], start: usize) -> bool {
    start >= 2
        && tokens[start - 2].is_word()
        && tokens[start - 2].capital
        && !is_function_word(&tokens[start - 2].lower)
}

static DESCRIBED: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("described-company"));

/// `is a … company` within a few words.
fn is_described_company(tokens: &[Token], end: usize) -> bool {
    let verb =
        tokens.get(end).is_some_and(|token| ["is", "was", "are"].contains(&token.lower.as_str()));
    verb && tokens[end..]
        .iter()
        .take(10)
        .take_while(|token| !token.is_mark('.'))
        .any(|token| DESCRIBED.contains(token.lower.as_str()))
}

/// The most line breaks and marks of quoting between two lines of a block.
const LONGEST_GAP: usize = 40;

/// What a run is that follows another in a list (`A, B and C`) or in a block of lines.
pub(super) fn continues(
    tokens: &[Token],
    before: &Range<usize>,
    kind: Kind,
    run: &Run,
) -> Option<Kind> {
    let between = &tokens[before.end..run.tokens.start];
    let listed = !between.is_empty()
        && between.len() <= 2
        && between.iter().all(|token| {
            token.is_mark(',') || token.is_mark('&') || token.lower == "and" || token.lower == "or"
        });
    if listed && matches!(kind, Kind::Person | Kind::Organization) {
        return Some(kind);
    }
    if listed && kind == Kind::Gpe {
        return Some(Kind::Gpe);
    }
    let own_line = tokens.get(run.tokens.end).is_none_or(Token::is_break)
        && (1..=LONGEST_GAP).contains(&between.len())
        && between.iter().all(|token| token.is_break() || token.is_mark('>'));
    let alone = before.start == 0
        || tokens[before.start - 1].is_break()
        || tokens[before.start - 1].is_mark('>');
    // A block of lines begins with a name; the line below it is where the person works.
    (own_line
        && alone
        && kind == Kind::Person
        && between.iter().filter(|token| token.is_break()).all(|token| token.end - token.start < 2))
    .then_some(Kind::Organization)
}

/// Whether a run is a line of its own above a line that begins with a country, or below one with a house or flat.
pub(super) fn is_place_line(tokens: &[Token], run: &Run) -> bool {
    let (start, end) = (run.tokens.start, run.tokens.end);
    let quote = |at: usize| usize::from(tokens.get(at).is_some_and(|token| token.is_mark('>')));
    let line_start = start - start.checked_sub(1).map_or(0, quote);
    let begins = line_start == 0 || tokens[line_start - 1].is_break();
    if !begins || !tokens.get(end).is_none_or(Token::is_break) {
        return false;
    }
    let next = end + 1 + quote(end + 1);
    let above_country = (1..=3).any(|length| {
        tokens.get(next..next + length).is_some_and(|words| {
            let phrase: Vec<&str> = words.iter().map(|token| token.lower.as_str()).collect();
            lists::is_country(&phrase.join(" "))
        })
    });
    let below_address = line_start >= 2
        && tokens[line_start - 2].is_number()
        && tokens[..line_start - 1].iter().rev().take(4).any(|token| {
            ["apt", "suite", "apartment", "flat", "unit"].contains(&token.lower.as_str())
        });
    above_country || below_address
}

/// Whether the words before a place introduce a name, also in a text without capitals.
pub(super) fn names_next(tokens: &[Token], at: usize) -> bool {
    let (one, two) = (word(tokens, at, 1), word(tokens, at, 2));
    matches!(
        (two, one),
        ("name", "is")
            | ("name", ":")
            | ("lives" | "live" | "born", "in")
            | ("originally", "from")
            | ("named", "him" | "her")
    ) || ["mr", "mrs", "ms", "dr", "dear", "i'm"].contains(&one)
        || one == "." && ["mr", "mrs", "ms", "dr"].contains(&two)
}
