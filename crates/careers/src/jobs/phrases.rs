//! What is named outside of the head of a description: a title within a sentence, and the company under "About …".

use super::header::names_role;
use super::lines::Line;
use super::sentences::sentences;

/// The most words of a title that is no line of its own.
const MAX_TITLE_WORDS: usize = 4;

/// The most words of a company's name.
const MAX_NAME_WORDS: usize = 4;

/// The title that begins a sentence of the first lines: "No experience needed! Data entry clerk, flexible hours."
pub(super) fn title(lines: &[Line]) -> Option<String> {
    let first = lines.iter().take(6).filter(|line| line.field.is_none() && !line.bullet);
    let mut phrases = first
        .flat_map(|line| sentences(&line.text))
        .filter_map(|sentence| sentence.split([',', '.', '!', '(', '–', ':']).next())
        .map(str::trim);
    let title = phrases.find(|phrase| {
        (1..=MAX_TITLE_WORDS).contains(&phrase.split_whitespace().count())
            && phrase.starts_with(char::is_uppercase)
            && names_role(phrase)
    })?;
    Some(title.to_owned())
}

/// The company of a heading "About Fernleaf" that a sentence begins with.
pub(super) fn company(text: &str) -> Option<String> {
    let mut lines = text.lines().map(|line| line.trim().trim_matches(['#', '*', ':', ' ', '?']));
    lines.find_map(|line| {
        let name = ["About ", "Über ", "À propos de ", "Sobre "]
            .iter()
            .find_map(|lead| line.strip_prefix(lead))?;
        let words = name.split_whitespace().count();
        let named = name.starts_with(char::is_uppercase) && (1..=MAX_NAME_WORDS).contains(&words);
        (named && lines_begin_with(text, name)).then(|| name.to_owned())
    })
}

fn lines_begin_with(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        line.trim().strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '\'', '’', ',']))
    })
}
