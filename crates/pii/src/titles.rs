//! Forms of address and job titles.

use super::lists;
use super::tokens::Token;
use super::{Finding, Kind};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Forms of address before a name.
pub(super) static ADDRESSES: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("address"));

/// Only these are titles in the sense of the type; a senator's office is not.
static MARKED: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("title"));

/// The last words of job titles.
static JOBS: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("job"));

pub(super) fn is_job(word: &str) -> bool {
    JOBS.contains(word) || word.strip_suffix('s').is_some_and(|one| JOBS.contains(one))
}

pub(super) fn find(tokens: &[Token], found: &mut Vec<Finding>) {
    for (index, token) in tokens.iter().enumerate() {
        if !token.is_word() {
            continue;
        }
        if MARKED.contains(token.lower.as_str()) {
            form_of_address(tokens, index, found);
        } else if is_job(&token.lower) {
            job(tokens, index, found);
        }
    }
}

fn form_of_address(tokens: &[Token], index: usize, found: &mut Vec<Finding>) {
    let token = &tokens[index];
    let dot = tokens.get(index + 1).filter(|next| next.is_mark('.') && next.start == token.end);
    let next = tokens.get(index + 1 + usize::from(dot.is_some()));
    let named = next.is_some_and(|next| next.is_word() && next.capital);
    // `la señora Ibarra`, and a text without capitals.
    let foreign = named && token.lower.len() > 3 && !lists::is_word(&token.lower);
    let small = next.is_some_and(|next| {
        next.is_word()
            && !next.capital
            && lists::name(&next.lower) != 0
            && !lists::is_word(&next.lower)
    });
    if token.capital && named || !token.capital && (foreign || small) {
        let place = token.start..dot.map_or(token.end, |dot| dot.end);
        found.push(Finding::new(Kind::Title, place, 0.8, "form of address before a name"));
    }
}

/// A job on a line of its own, or after words that introduce one.
fn job(tokens: &[Token], index: usize, found: &mut Vec<Finding>) {
    let mut from = index;
    while from > 0
        && index - from < 7
        && (tokens[from - 1].is_word()
            || tokens[from - 1].is_mark(',')
            || tokens[from - 1].is_mark('/'))
    {
        from -= 1;
    }
    let own_line = (from == 0 || tokens[from - 1].is_break())
        && tokens.get(index + 1).is_none_or(Token::is_break)
        && from + 8 > index
        && tokens[from].is_word();
    if own_line {
        let place = tokens[from].start..tokens[index].end;
        found.push(Finding::new(Kind::Title, place, 0.8, "job title on a line of its own"));
        return;
    }
    if opens_sentence(tokens, from, index) {
        let place = tokens[from].start..tokens[index].end;
        found.push(Finding::new(Kind::Title, place, 0.72, "job title before a name"));
        return;
    }
    let article = (index.saturating_sub(6)..index).rev().find(|at| {
        ["a", "an", "the", "as", "our", "my", "is", "job", "title", "position", "role"]
            .contains(&tokens[*at].lower.as_str())
            || tokens[*at].is_mark(':')
    });
    let Some(article) = article else { return };
    let plain = tokens[article + 1..=index]
        .iter()
        .all(|token| token.is_word() && !STOPS.contains(&token.lower.as_str()));
    let before = article.checked_sub(1).map(|at| tokens[at].lower.as_str());
    let capital = tokens[article + 1].capital;
    let introduced = matches!(tokens[article].lower.as_str(), "a" | "an" | "the" | "as")
        && before.is_some_and(|word| {
            [
                "as", "is", "was", "am", "i'm", "a", "become", "became", "hired", "he's", "she's",
                "being",
            ]
            .contains(&word)
        });
    let labelled = tokens[article].is_mark(':')
        && before.is_some_and(|word| {
            ["title", "position", "role", "occupation", "job", "profession"].contains(&word)
        });
    if plain && (introduced || labelled || capital && tokens[index].capital) {
        let place = tokens[article + 1].start..tokens[index].end;
        found.push(Finding::new(Kind::Title, place, 0.7, "job title"));
    }
}

/// `Marine biologist Ana Reyes said`: English words in lower case between the beginning of a sentence and a name.
fn opens_sentence(tokens: &[Token], from: usize, index: usize) -> bool {
    let name = tokens.get(index + 1).filter(|name| name.is_word() && name.capital && !name.first);
    let named = name.is_some_and(|name| {
        lists::name(&name.lower) & lists::GIVEN != 0
            || !lists::is_word(&name.lower) && name.lower.chars().all(char::is_alphabetic)
    });
    named
        && tokens[from].first
        && tokens[from].capital
        && tokens[from + 1..=index].iter().all(|token| token.is_word() && !token.capital)
        && tokens[from..=index].iter().all(|token| {
            lists::is_word(&token.lower)
                && !STOPS.contains(&token.lower.as_str())
                && !BEFORE_JOBS.contains(&token.lower.as_str())
        })
}

/// Words before a job that are no part of it.
static BEFORE_JOBS: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("before-job"));

static STOPS: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("within-sentence"));
