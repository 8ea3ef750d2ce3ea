//! Addresses below a name: the street, the town, the state, the postal code and the country are parts of their own.

use std::ops::Range;

use super::{Street, is_connector, postcode, separators, street, town_words, unit};
use crate::case::Case;
use crate::lists;
use crate::lists::is_company_word;
use crate::titles::ADDRESSES;
use crate::tokens::Token;
use crate::{Finding, Kind};

/// The parts of an address that begins here below or after a name, and where it ends.
///
/// `Mrs. Ana Reyes\n12 Oak Road\nHull HU1 2AB`. An address in a sentence is one value instead.
pub(super) fn find(
    tokens: &[Token],
    at: usize,
    case: Case,
    found: &mut Vec<Finding>,
    taken: &mut Vec<Range<usize>>,
) -> Option<usize> {
    if case == Case::Lower || !is_below_name(tokens, at) {
        return None;
    }
    let begin = unit(tokens, at).unwrap_or(at);
    let line = street(tokens, begin, case).filter(|line| has_form(tokens, line))?;
    let mut street_end = line.end;
    while let Some(end) = unit(tokens, separators(tokens, street_end)) {
        street_end = end;
    }
    let parts = parts(tokens, street_end);
    // Without a town it is a street in a sentence.
    if !parts.iter().any(|part| part.kind == Kind::Gpe) {
        return None;
    }
    let mut report = |kind, range: Range<usize>| {
        let place = tokens[range.start].start..tokens[range.end - 1].end;
        found.push(Finding::new(kind, place, 0.86, "part of an address below a name"));
        taken.push(range);
    };
    report(Kind::StreetAddress, at..street_end);
    let mut end = street_end;
    for part in parts {
        end = part.tokens.end;
        report(part.kind, part.tokens);
    }
    Some(end)
}

struct Part {
    kind: Kind,
    tokens: Range<usize>,
}

/// A number on one side of the name of a street.
fn has_form(tokens: &[Token], line: &Street) -> bool {
    let named = tokens[line.name.clone()]
        .iter()
        .any(|token| token.is_word() && !is_connector(token) && token.lower.chars().count() > 1);
    named && (line.after || line.before && line.typed)
}

/// The town, the state, the postal code and the country after a street, if the last line break is among them.
fn parts(tokens: &[Token], from: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut next, mut towns) = (from, 0);
    while parts.len() < 5 {
        let start = separators(tokens, next);
        let gap = start > next;
        if parts.is_empty() && !gap {
            break;
        }
        let (kind, end) = if let Some(end) = postcode(tokens, start) {
            (Kind::ZipCode, end)
        } else if let Some(end) = town_words(tokens, start).filter(|_| towns < 3) {
            if !fits(tokens, start..end) {
                break;
            }
            towns += 1;
            (Kind::Gpe, end)
        } else {
            break;
        };
        let state = split_state(tokens, start, end).filter(|_| kind == Kind::Gpe);
        parts.push(Part { kind, tokens: start..state.unwrap_or(end) });
        if let Some(state) = state {
            parts.push(Part { kind: Kind::Gpe, tokens: state..end });
        }
        next = end;
    }
    parts
}

/// A town or a country takes the rest of its line, or a comma or a postal code follows it.
fn fits(tokens: &[Token], words: Range<usize>) -> bool {
    let next = tokens.get(words.end);
    let country = lists::is_country(&super::phrase(&tokens[words]));
    country
        || next.is_none_or(|next| {
            next.is_break() || next.is_mark(',') || next.is_mark('.') || next.is_number()
        })
}

/// `Lund SE`: where the abbreviation of the state begins.
fn split_state(tokens: &[Token], start: usize, end: usize) -> Option<usize> {
    let last = &tokens[end - 1];
    let mixed = last.upper && !tokens[start..end - 1].iter().all(|token| token.upper);
    let before_code =
        tokens.get(end).is_some_and(Token::is_number) && (last.upper || last.lower == "nan");
    let short = end - start > 1 && last.lower.chars().count() <= 3;
    (short && (mixed || before_code)).then_some(end - 1)
}

/// Whether a line with only a name ends here, or a form of address and a name are directly before.
fn is_below_name(tokens: &[Token], at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    if at < 2 || !(token.is_number() || token.is_word() && token.capital) {
        return false;
    }
    let own_line = tokens[at - 1].is_break();
    let end = if own_line { at - 1 } else { at };
    let mut from = end;
    while from > 0 && end - from < 9 && is_name_part(&tokens[from - 1]) {
        from -= 1;
    }
    let words = || tokens[from..end].iter().filter(|token| token.is_word());
    if !(2..=6).contains(&words().count()) {
        return false;
    }
    let label = from.checked_sub(1).map(|label| &tokens[label]);
    let titled = words().next().is_some_and(|word| ADDRESSES.contains(word.lower.as_str()));
    let named = (titled || words().any(|word| lists::name(&word.lower) != 0))
        && label.is_none_or(|label| label.is_break() || label.is_mark(':') || label.is_mark('>'))
        && !words()
            .any(|word| super::is_cue(&word.lower) || word.capital && is_company_word(&word.lower));
    named && (own_line || titled)
}

fn is_name_part(token: &Token) -> bool {
    token.is_word() && (token.capital || is_connector(token)) || token.is_mark('.')
}
