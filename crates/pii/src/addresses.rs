//! Postal addresses: numbers and street names, units, towns, postal codes and countries, in the order of an address.

mod letterheads;
mod post_boxes;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::case::Case;
use super::lists;
use super::tokens::{Token, hyphenated_code};
use super::{Finding, Kind};
use post_boxes::post_box;

/// Words that name a street, in many languages.
static TYPES: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("street"));

/// Endings of street names that are written as one word.
static ENDINGS: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("street-ending"));

/// Words before an address.
static CUES: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("before-address"));

static UNITS: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("unit"));

static CONNECTORS: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("within-address"));

/// The most tokens of one address.
const LONGEST: usize = 40;

/// Finds addresses, and returns the tokens that they take.
pub(super) fn find(tokens: &[Token], case: Case, found: &mut Vec<Finding>) -> Vec<Range<usize>> {
    let mut taken: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(end) = letterheads::find(tokens, at, case, found, &mut taken) {
            at = end;
            continue;
        }
        let Some(address) = post_box(tokens, at)
            .or_else(|| corner(tokens, at))
            .or_else(|| street_address(tokens, at, case))
        else {
            at += 1;
            continue;
        };
        let place = tokens[at].start..tokens[address.end - 1].end;
        found.push(Finding::new(Kind::StreetAddress, place, address.confidence, address.reason));
        taken.push(at..address.end);
        let mut next = address.end;
        if let Some(town) = address.town {
            let place = tokens[town.start].start..tokens[town.end - 1].end;
            found.push(Finding::new(Kind::Gpe, place, 0.75, "town after a street"));
            next = town.end;
            taken.push(town);
        }
        at = next;
    }
    taken
}

struct Address {
    end: usize,
    town: Option<Range<usize>>,
    confidence: f32,
    reason: &'static str,
}

/// `the corner of A and B`.
fn corner(tokens: &[Token], at: usize) -> Option<Address> {
    let from = at + usize::from(tokens[at].lower == "the");
    if tokens.get(from)?.lower != "corner" || tokens.get(from + 1)?.lower != "of" {
        return None;
    }
    let inside = |token: &Token| token.is_word() || token.is_number() || token.is_mark('.');
    let and = (from + 2..(from + 11).min(tokens.len()))
        .take_while(|index| inside(&tokens[*index]))
        .find(|index| tokens[*index].lower == "and" || tokens[*index].is_mark('&'))?;
    let end = (and + 1..(and + 7).min(tokens.len()))
        .take_while(|index| {
            tokens[*index].is_number()
                || tokens[*index].capital
                || is_type(&tokens[*index].lower)
                || is_connector(&tokens[*index])
        })
        .last()?;
    Some(Address { end: end + 1, town: None, confidence: 0.8, reason: "corner of two streets" })
}

fn street_address(tokens: &[Token], at: usize, case: Case) -> Option<Address> {
    let (start, unit) = match unit(tokens, at) {
        Some(end) => (end, true),
        None => (at, false),
    };
    let Some(street) = street(tokens, start, case) else {
        let flat =
            ["apt", "apartment", "suite", "ste", "flat"].contains(&tokens[at].lower.as_str());
        return (unit && flat).then_some(Address {
            end: start,
            town: None,
            confidence: 0.6,
            reason: "number of a flat",
        });
    };
    let cued = is_cued(tokens, at);
    let (confidence, reason) = judge(tokens, &street, cued || unit)?;
    let (tail, town) = tail(tokens, street.end);
    let confidence = if tail.is_some() { confidence.max(0.8) } else { confidence };
    let town = if tail.is_some() { None } else { town };
    Some(Address { end: tail.unwrap_or(street.end), town, confidence, reason })
}

struct Street {
    name: Range<usize>,
    end: usize,
    before: bool,
    after: bool,
    typed: bool,
}

fn street(tokens: &[Token], at: usize, case: Case) -> Option<Street> {
    let mut next = at;
    while next < at + 2 && tokens.get(next).is_some_and(is_house_number) {
        next += 1;
    }
    let before = next > at;
    if !before
        && !tokens.get(at).is_some_and(|token| {
            token.is_word()
                && (token.capital
                    || is_type(&token.lower)
                    || case == Case::Lower && has_ending(&token.lower))
        })
    {
        return None;
    }
    let name_start = next;
    let mut typed = false;
    while let Some(token) = tokens.get(next) {
        if next - name_start > 7 || !is_street_word(tokens, next, name_start, case) {
            break;
        }
        typed |= token.is_word() && (is_type(&token.lower) || has_ending(&token.lower));
        next += 1;
        // A unit or a state begins the rest of the address.
        if tokens.get(next).is_some_and(|token| UNITS.contains(token.lower.as_str())) {
            break;
        }
    }
    while next > name_start
        && tokens[next - 1].is_word()
        && is_connector(&tokens[next - 1])
        && !tokens[next - 1].capital
    {
        next -= 1;
    }
    if next == name_start {
        return None;
    }
    let name = name_start..next;
    let after = tokens.get(next).is_some_and(is_house_number) && !tokens[next - 1].is_break();
    let end = if after { next + 1 } else { next };
    // The dot of `13.` after a house number belongs to it in some countries.
    Some(Street { name, end, before, after, typed })
}

fn is_house_number(token: &Token) -> bool {
    token.is_number()
        && token.lower.len() <= 6
        && token.lower.chars().filter(|c| c.is_alphabetic()).count() <= 1
}

fn is_street_word(tokens: &[Token], at: usize, start: usize, case: Case) -> bool {
    let token = &tokens[at];
    if token.is_mark('.') {
        return at > start
            && tokens[at - 1].is_word()
            && (tokens[at - 1].lower.chars().count() <= 4 || has_ending(&tokens[at - 1].lower))
            && tokens[at - 1].end == token.start;
    }
    if !token.is_word() {
        return false;
    }
    let typed = is_type(&token.lower) || has_ending(&token.lower);
    if typed && token.lower.chars().count() == 1 {
        return tokens.get(at + 1).is_some_and(|next| next.is_mark('.'));
    }
    match case {
        Case::Lower => typed || !lists::is_word(&token.lower) || is_connector(token) && at > start,
        _ => token.capital || typed && token.lower.len() > 1 || is_connector(token) && at > start,
    }
}

fn is_connector(token: &Token) -> bool {
    CONNECTORS.contains(token.lower.as_str())
}

fn is_type(word: &str) -> bool {
    TYPES.contains(word)
}

fn has_ending(word: &str) -> bool {
    ENDINGS.iter().any(|ending| word.len() > ending.len() + 2 && word.ends_with(ending))
        && !lists::is_word(word)
}

fn is_cue(word: &str) -> bool {
    CUES.contains(word)
}

fn is_cued(tokens: &[Token], at: usize) -> bool {
    tokens[at.saturating_sub(5)..at].iter().any(|token| is_cue(&token.lower))
}

fn judge(tokens: &[Token], street: &Street, cued: bool) -> Option<(f32, &'static str)> {
    let words: Vec<&Token> =
        tokens[street.name.clone()].iter().filter(|token| token.is_word()).collect();
    let named = words.iter().any(|token| {
        !is_type(&token.lower) && token.lower.chars().count() > 1 && !is_connector(token)
    });
    // `Quay Road`: the name is a word for a street itself.
    let named = named || street.before && words.len() > 1 && words.iter().all(|it| it.capital);
    let plain = words.iter().all(|token| lists::is_word(&token.lower) && !is_type(&token.lower));
    let month = words.iter().any(|token| {
        MONTHS.contains(&token.lower.get(..3).unwrap_or_default()) && words.len() == 1
    });
    let first = words
        .first()
        .is_some_and(|token| token.first && lists::is_word(&token.lower) && !is_type(&token.lower));
    let numbered = street.before || street.after;
    if !named || month || is_state_and_code(tokens, street, &words) {
        return None;
    }
    match (street.typed, numbered, cued) {
        (true, true, _) => Some((0.85, "number and street name")),
        (false, true, true) if !plain || street.before && !first => {
            Some((0.78, "number and name after words for an address"))
        }
        (true, false, true) if words.len() > 1 => {
            Some((0.7, "street name after words for an address"))
        }
        (true, false, false) if words.len() > 1 && !first && is_strict(words.last()?) => {
            Some((0.6, "street name"))
        }
        (false, true, false)
            if street.after
                && is_foreign(tokens, street, &words)
                && !is_town_and_code(tokens, street) =>
        {
            Some((0.55, "name and house number"))
        }
        _ => None,
    }
}

/// Names that no list explains otherwise, with a short number.
fn is_foreign(tokens: &[Token], street: &Street, words: &[&Token]) -> bool {
    let phrase = phrase(&tokens[street.name.clone()]);
    let explained = |token: &&Token| {
        lists::is_word(&token.lower)
            || lists::is_country(&token.lower)
            || token.upper && token.lower.chars().count() <= 6
            || token.lower.chars().any(|c| c.is_ascii_digit())
    };
    !words.iter().any(explained)
        && tokens[street.end - 1].lower.len() <= 4
        && !lists::is_country(&phrase)
}

/// `in Ballum 6261`: what people are in is a town, and what follows a town is its postal code.
fn is_town_and_code(tokens: &[Token], street: &Street) -> bool {
    let before = street.name.start.checked_sub(1).map(|at| tokens[at].lower.as_str());
    before == Some("in") && is_code(&tokens[street.end - 1])
}

fn is_code(token: &Token) -> bool {
    (3..=6).contains(&token.lower.len())
}

/// `TX 75201`: no street is named by two capitals.
fn is_state_and_code(tokens: &[Token], street: &Street, words: &[&Token]) -> bool {
    let [state] = words else { return false };
    !street.before && state.upper && state.lower.len() == 2 && is_code(&tokens[street.end - 1])
}

static MONTHS: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("month"));

static STRICT: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("strict-street"));

/// Words that end the name of a street and seldom another name.
fn is_strict(token: &Token) -> bool {
    token.capital && STRICT.contains(token.lower.as_str())
}

/// `Apt. 675`, `Suite 503`.
fn unit(tokens: &[Token], at: usize) -> Option<usize> {
    let token = tokens.get(at)?;
    if token.is_mark('#') {
        return tokens.get(at + 1).filter(|next| next.is_number()).map(|_| at + 2);
    }
    if !UNITS.contains(token.lower.as_str()) {
        return None;
    }
    let number = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|next| next.is_mark('.')));
    tokens.get(number).filter(|next| next.is_number()).map(|_| number + 1)
}

/// The rest of an address: its end after the last sure part, and a town that directly follows the street.
fn tail(tokens: &[Token], from: usize) -> (Option<usize>, Option<Range<usize>>) {
    let (mut next, mut sure, mut town) = (from, None, None);
    let mut towns = 0;
    while next < from + LONGEST {
        let start = separators(tokens, next);
        let gap = start > next;
        if let Some(end) = unit(tokens, start) {
            (next, sure) = (end, Some(end));
        } else if let Some(end) =
            postcode(tokens, start).filter(|_| towns > 0 || gap || sure.is_some())
        {
            (next, sure) = (end, Some(end));
        } else if let Some(end) = town_words(tokens, start).filter(|_| towns < 4) {
            let words = phrase(&tokens[start..end]);
            let state = end - start == 1 && tokens[start].upper && tokens[start].lower.len() <= 3
                || words == "nan";
            if ends_in_country(&tokens[start..end]) || state && towns > 0 {
                sure = Some(end);
            } else if towns == 0 && sure.is_none() && gap {
                town = Some(start..end);
            }
            towns += 1;
            next = end;
        } else {
            break;
        }
    }
    (sure, town)
}

/// `Town Country` or `TOWN ST`.
fn ends_in_country(words: &[Token]) -> bool {
    let state = words.len() > 1
        && words.last().is_some_and(|last| last.upper && last.lower.chars().count() <= 3);
    state
        || (1..=words.len().min(4))
            .any(|count| lists::is_country(&phrase(&words[words.len() - count..])))
}

fn separators(tokens: &[Token], from: usize) -> usize {
    let mut next = from;
    while next < from + 3
        && tokens.get(next).is_some_and(|token| {
            token.is_mark(',')
                || token.is_break()
                || token.is_mark('.') && tokens.get(next + 1).is_some_and(Token::is_break)
        })
    {
        next += 1;
    }
    next
}

fn postcode(tokens: &[Token], at: usize) -> Option<usize> {
    let token = tokens.get(at)?;
    if let Some(end) = british_postcode(tokens, at) {
        return Some(end);
    }
    let digits = token.lower.chars().all(|c| c.is_ascii_digit());
    if !token.is_number() || !digits {
        return None;
    }
    if let Some(end) = hyphenated_code(tokens, at).filter(|_| token.lower.len() > 3) {
        return Some(end);
    }
    // `0341 / 555 01 23`: a phone number below the address.
    let slash = tokens.get(at + 1).is_some_and(|next| next.is_mark('/'));
    if slash {
        return None;
    }
    let next_number =
        tokens.get(at + 1).filter(|next| next.is_number() && next.start == token.end + 1);
    match token.lower.len() {
        3 => next_number.filter(|next| next.lower.len() == 2).map(|_| at + 2),
        4..=6 => next_number.is_none().then_some(at + 1),
        _ => None,
    }
}

/// `NW1 6XE`.
fn british_postcode(tokens: &[Token], at: usize) -> Option<usize> {
    let (outward, inward) = (tokens.get(at)?, tokens.get(at + 1)?);
    let area = outward.lower.chars().take_while(char::is_ascii_alphabetic).count();
    let fits = outward.is_word()
        && (1..=2).contains(&area)
        && (area + 1..=4).contains(&outward.lower.len())
        && outward.lower[area..].starts_with(|c: char| c.is_ascii_digit())
        && inward.is_number()
        && inward.lower.len() == 3
        && inward.lower[1..].chars().all(|c| c.is_ascii_alphabetic());
    fits.then_some(at + 2)
}

fn town_words(tokens: &[Token], at: usize) -> Option<usize> {
    // The first word of `New Zealand` is also one of English.
    let country = (1..=4).rev().find(|length| {
        tokens.get(at..at + length).is_some_and(|words| {
            words[0].capital
                && words.iter().all(Token::is_word)
                && lists::is_country(&phrase(words))
        })
    });
    let mut next = at + country.unwrap_or(0);
    while let Some(token) = tokens.get(next)
        && next < at + 5
        && token.is_word()
        && !token.lower.chars().any(|c| c.is_ascii_digit())
        && (token.capital && !is_ordinary(token)
            || token.lower == "nan"
            || next > at && is_connector(token))
    {
        next += 1;
    }
    (next > at).then_some(next)
}

/// A word that begins the next sentence.
fn is_ordinary(token: &Token) -> bool {
    token.first
        && !token.upper
        && lists::is_word(&token.lower)
        && lists::name(&token.lower) == 0
        && !lists::is_city(&token.lower)
}

fn phrase(tokens: &[Token]) -> String {
    tokens.iter().map(|token| token.lower.as_str()).collect::<Vec<_>>().join(" ")
}
