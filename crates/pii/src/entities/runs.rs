//! Candidates: runs of words that may be one name.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::cues::{is_function_word, is_person_verb};
use crate::case::Case;
use crate::lists::{self, is_company_word};
use crate::titles::ADDRESSES;
use crate::tokens::Token;

/// Small words inside names.
static PARTICLES: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("particle"));

/// The most words of a run.
const LONGEST: usize = 8;

/// Words that may be one name.
pub(super) struct Run {
    pub(super) tokens: Range<usize>,
    /// Whether it begins a sentence.
    pub(super) first: bool,
    /// Whether it has the form of a company: `A & B`, `A, B and C`.
    pub(super) company: bool,
}

pub(super) fn runs(tokens: &[Token], case: Case, taken: &[Range<usize>]) -> Vec<Run> {
    let mut found = Vec::new();
    let mut taken = taken.iter().peekable();
    let mut at = 0;
    while at < tokens.len() {
        while taken.peek().is_some_and(|range| range.end <= at) {
            taken.next();
        }
        let limit = taken.peek().map_or(tokens.len(), |range| range.start.max(at));
        if taken.peek().is_some_and(|range| range.contains(&at)) {
            at = taken.peek().map_or(at + 1, |range| range.end);
            continue;
        }
        let run = match case {
            Case::Usual | Case::Foreign(_) => capitals(&tokens[..limit], at),
            Case::Lower | Case::Upper => listed(&tokens[..limit], at),
        };
        match run {
            Some(run) => {
                at = run.tokens.end;
                found.push(run);
            }
            None => at += 1,
        }
    }
    found
}

/// Whether a capitalised word may begin or continue a name. Words with several digits are codes.
fn is_proper(token: &Token) -> bool {
    token.is_word()
        && token.capital
        && !is_function_word(&token.lower)
        && token.lower.chars().filter(char::is_ascii_digit).count() < 3
}

/// `PO` of `PO-1234`.
fn is_code(tokens: &[Token], at: usize) -> bool {
    let (Some(dash), Some(number)) = (tokens.get(at + 1), tokens.get(at + 2)) else { return false };
    dash.is_mark('-')
        && dash.start == tokens[at].end
        && number.is_number()
        && number.start == dash.end
}

fn capitals(tokens: &[Token], at: usize) -> Option<Run> {
    let token = tokens.get(at)?;
    if let Some(length) = token
        .capital
        .then(|| country_length(tokens, at).or_else(|| city_length(tokens, at)))
        .flatten()
    {
        return Some(Run { tokens: at..at + length, first: token.first, company: false });
    }
    let bank = token.lower == "bank"
        && token.capital
        && tokens.get(at + 1).is_some_and(|next| next.lower == "of")
        && tokens.get(at + 2).is_some_and(is_proper);
    if bank {
        let end =
            at + 2 + tokens[at + 2..].iter().take(4).take_while(|next| is_proper(next)).count();
        return Some(Run { tokens: at..end, first: token.first, company: true });
    }
    if !is_proper(token)
        || is_code(tokens, at)
        || ADDRESSES.contains(token.lower.as_str()) && followed_by_name(tokens, at)
    {
        return None;
    }
    // The first word of a sentence is capitalised anyway.
    if token.first && lists::is_word(&token.lower) && !opens_name(tokens, at) {
        return None;
    }
    let mut end = at + 1;
    let mut company = false;
    while end < tokens.len() && end - at < LONGEST * 2 {
        let Some((next, joined)) = extend(tokens, at, end) else { break };
        end = next;
        company |= joined;
    }
    if let Some(list) = partners(tokens, at, end) {
        return Some(Run { tokens: at..list, first: token.first, company: true });
    }
    Some(Run { tokens: at..end, first: token.first, company })
}

/// Whether a word at the beginning of a sentence, English though it is, begins a name: `Mark Smith`, `Will said`.
fn opens_name(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    let listed = lists::name(&token.lower) & lists::GIVEN != 0;
    let next = tokens.get(at + 1);
    let proper_next = next.is_some_and(|next| is_proper(next) && !next.first);
    let company_ahead = tokens[at..]
        .iter()
        .take(5)
        .take_while(|token| is_proper(token))
        .any(|token| is_company_word(&token.lower));
    let subject = next
        .is_some_and(|next| next.is_mark(',') || next.is_mark(':') || is_person_verb(&next.lower));
    if partners(tokens, at, at + 1).is_some()
        || listed && subject && lists::name(&token.lower) & lists::GIVEN != 0
    {
        return true;
    }
    proper_next && (listed || company_ahead)
}

fn followed_by_name(tokens: &[Token], at: usize) -> bool {
    let next = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|token| token.is_mark('.')));
    tokens.get(next).is_some_and(is_proper)
}

/// The end of the run with one more word; and whether what joins it is a company's.
fn extend(tokens: &[Token], start: usize, end: usize) -> Option<(usize, bool)> {
    let token = &tokens[end];
    if is_proper(token) && !token.first && !is_code(tokens, end) {
        return Some((end + 1, false));
    }
    if token.is_word() && token.capital && token.lower.chars().count() == 1 {
        let next = end + 1 + usize::from(tokens.get(end + 1).is_some_and(|next| next.is_mark('.')));
        return tokens.get(next).filter(|next| is_proper(next)).map(|_| (next + 1, false));
    }
    let before = &tokens[end - 1];
    if token.is_mark('.') && before.is_word() && before.end == token.start {
        let initial = before.lower.chars().count() == 1;
        if initial && tokens.get(end + 1).is_some_and(is_proper) {
            return Some((end + 2, false));
        }
        return is_company_word(&before.lower)
            .then_some((end + 1, false))
            .filter(|_| before.lower.len() <= 4);
    }
    if token.is_mark('&') && tokens.get(end + 1).is_some_and(is_proper) {
        return Some((end + 2, true));
    }
    if token.is_word()
        && token.lower == "and"
        && tokens.get(end + 1).is_some_and(|next| {
            ["sons", "partners", "associates", "company", "co", "brothers"]
                .contains(&next.lower.as_str())
                && next.capital
        })
    {
        return Some((end + 2, true));
    }
    if token.is_word()
        && token.lower == "of"
        && is_institution(&tokens[start..end])
        && tokens.get(end + 1).is_some_and(is_proper)
    {
        // The place of `University of Lund` is a name of its own.
        return (before.lower != "university").then_some((end + 2, true));
    }
    if token.is_word() && !token.capital && PARTICLES.contains(token.lower.as_str()) {
        let next = tokens.get(end + 1)?;
        if is_proper(next) && !next.first {
            return Some((end + 2, false));
        }
        let second =
            PARTICLES.contains(next.lower.as_str()) && tokens.get(end + 2).is_some_and(is_proper);
        return second.then_some((end + 3, false));
    }
    None
}

static INSTITUTIONS: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("institution"));

fn is_institution(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| INSTITUTIONS.contains(token.lower.as_str()))
}

/// `White, Willis and Hoffman`: two family names and a third.
fn partners(tokens: &[Token], start: usize, end: usize) -> Option<usize> {
    let family = |token: &Token| is_proper(token) && lists::name(&token.lower) & lists::FAMILY != 0;
    let single = end == start + 1 && family(&tokens[start]);
    let shape = single
        && tokens.get(end)?.is_mark(',')
        && family(tokens.get(end + 1)?)
        && tokens.get(end + 2)?.lower == "and"
        && family(tokens.get(end + 3)?);
    let longer = start >= 2 && tokens[start - 1].is_mark(',');
    let given = [start, end + 1, end + 3].iter().all(|at| {
        tokens
            .get(*at)
            .is_some_and(|token| lists::name(&token.lower) == lists::GIVEN | lists::FAMILY)
    });
    (shape && !longer && !given).then_some(end + 4)
}

/// Names of the lists, in a text whose capitals say nothing.
fn listed(tokens: &[Token], at: usize) -> Option<Run> {
    let fits = |token: &Token| token.is_word() && is_listed(token);
    let cued = super::cues::names_next(tokens, at);
    let candidate = |token: &Token| {
        token.is_word() && !lists::is_word(&token.lower) && !is_function_word(&token.lower)
    };
    let first = tokens.get(at)?;
    let place = first.is_word().then(|| place_length(tokens, at)).flatten();
    if let Some(length) = place {
        return Some(Run { tokens: at..at + length, first: first.first, company: false });
    }
    if !(fits(first) || cued && candidate(first)) {
        return None;
    }
    let mut end = at + 1;
    while end < at + 4 && tokens.get(end).is_some_and(|token| fits(token) || candidate(token)) {
        end += 1;
    }
    // `m.` between two names.
    if tokens.get(end).is_some_and(|token| token.is_word() && token.lower.chars().count() == 1) {
        let next =
            end + 1 + usize::from(tokens.get(end + 1).is_some_and(|token| token.is_mark('.')));
        if tokens.get(next).is_some_and(|token| fits(token) || candidate(token)) {
            end = next + 1;
        }
    }
    Some(Run { tokens: at..end, first: first.first, company: false })
}

fn is_listed(token: &Token) -> bool {
    let mark = lists::name(&token.lower);
    token.lower.chars().count() > 2
        && !lists::is_word(&token.lower)
        && (mark != 0 || lists::is_city(&token.lower) || lists::is_country(&token.lower))
        || lists::is_people(&token.lower)
}

/// How many words at a place are a country of several words.
fn country_length(tokens: &[Token], at: usize) -> Option<usize> {
    (2..=4).rev().find(|length| {
        tokens.get(at..at + length).is_some_and(|words| {
            words.iter().all(Token::is_word) && lists::is_country(&phrase(words))
        })
    })
}

/// How many words at a place are a city with small words inside, such as `Newcastle upon Tyne`.
fn city_length(tokens: &[Token], at: usize) -> Option<usize> {
    let small = tokens.get(at + 1).is_some_and(|next| next.is_word() && !next.capital);
    if !small || is_function_word(&tokens[at].lower) {
        return None;
    }
    (3..=4).rev().find(|length| {
        tokens.get(at..at + length).is_some_and(|words| {
            words.iter().all(Token::is_word)
                && words.last().is_some_and(|last| last.capital)
                && !tokens.get(at + length).is_some_and(is_proper)
                && lists::is_city(&phrase(words))
        })
    })
}

pub(super) fn phrase(words: &[Token]) -> String {
    words.iter().map(|token| token.lower.as_str()).collect::<Vec<_>>().join(" ")
}

/// How many words at a place are a country or a city of several words.
fn place_length(tokens: &[Token], at: usize) -> Option<usize> {
    (2..=4).rev().find(|length| {
        tokens.get(at..at + length).is_some_and(|words| {
            words.iter().all(Token::is_word) && {
                let phrase = phrase(words);
                lists::is_country(&phrase) || lists::is_city(&phrase)
            }
        })
    })
}
