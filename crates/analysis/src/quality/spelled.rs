//! The spelling check.

use std::collections::HashMap;

use super::issue::{Check, Issue, Outcome, Severity};
use super::text::{Text, Word};
use crate::spelling::Dictionary;

/// The share of misspelt words at which the value is 0.
const WORST_SHARE: f64 = 0.05;

pub(super) fn check(text: &Text<'_>, dictionary: &Dictionary) -> Outcome {
    let mut speller = dictionary.speller();
    let mut suggested: HashMap<&str, Vec<String>> = HashMap::new();
    let (mut read, mut issues) = (0usize, Vec::new());
    for word in text.prose().filter(|word| is_checked(word)) {
        read += 1;
        if speller.knows(word.text) || is_compound(word.text, |part| speller.knows(part)) {
            continue;
        }
        let suggestions =
            suggested.entry(word.text).or_insert_with(|| speller.suggestions(word.text)).clone();
        issues.push(Issue {
            check: Check::Spelling,
            severity: Severity::Warning,
            message: format!("`{}` is not in the dictionary.", word.text),
            start: word.start,
            end: word.end(),
            suggestions,
        });
    }
    let share = issues.len() as f64 / read.max(1) as f64;
    let evidence = vec![format!("{} of {read} words are not in the dictionary", issues.len())];
    Outcome { value: 1.0 - share / WORST_SHARE, evidence, issues }
}

/// Names, abbreviations and numbers are not checked: a capital inside a sentence marks a name.
fn is_checked(word: &Word<'_>) -> bool {
    let mut chars = word.text.chars();
    let capital = chars.next().is_some_and(char::is_uppercase);
    let rest_upper = chars.any(char::is_uppercase);
    word.text.chars().count() > 1
        && !word.text.chars().any(char::is_numeric)
        && !rest_upper
        && (!capital || word.first)
}

/// Words joined by hyphens, each of which is known.
fn is_compound(word: &str, mut knows: impl FnMut(&str) -> bool) -> bool {
    word.contains('-') && word.split('-').all(|part| part.is_empty() || knows(part))
}
