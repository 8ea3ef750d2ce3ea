//! The terms of a text for a word index: stems by language, without function words.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::prose::Language;
use crate::words::{self, fold, is_dense, is_stop_word, runs};

/// Longer terms are cut: nothing that people search for is longer.
const MAX_TERM_BYTES: usize = 64;

/// The terms of a text in order. Each has only letters and digits, in lower case without accents, so that every word
/// index takes it as one word; pairs of characters where a script has no spaces.
pub fn terms(text: &str, language: Language) -> Vec<String> {
    let mut terms = Vec::new();
    for run in runs(text) {
        let mut rest = run;
        while let Some(first) = rest.chars().next() {
            let dense = is_dense(first);
            let end = rest
                .char_indices()
                .find(|(_, c)| is_dense(*c) != dense && !is_combining_mark(*c))
                .map_or(rest.len(), |(at, _)| at);
            let (part, after) = rest.split_at(end);
            rest = after;
            if dense {
                push_pairs(part, &mut terms);
            } else if !is_function_word(&fold(part), language) {
                push(stem(part, language), &mut terms);
            }
        }
    }
    terms
}

/// The language of a text; English if its function words identify none.
pub fn language_of(text: &str) -> Language {
    Language::detect(text).unwrap_or(Language::ENGLISH)
}

/// The folded stem of a written word. English is stemmed as for the search of tools, and languages without a stemmer
/// keep their words.
pub fn stem(word: &str, language: Language) -> String {
    match algorithm(language) {
        None if language == Language::ENGLISH => words::stem(&fold(word)),
        None => fold(word),
        // The stemmers know endings with their accents.
        Some(algorithm) => {
            let word: String = word.nfc().flat_map(char::to_lowercase).collect();
            fold(&Stemmer::create(algorithm).stem(&word))
        }
    }
}

/// Whether a folded word only holds sentences together.
pub fn is_function_word(folded: &str, language: Language) -> bool {
    language.has(folded) || language == Language::ENGLISH && is_stop_word(folded)
}

fn algorithm(language: Language) -> Option<Algorithm> {
    Some(match language.code() {
        "de" => Algorithm::German,
        "fr" => Algorithm::French,
        "es" => Algorithm::Spanish,
        "it" => Algorithm::Italian,
        "pt" => Algorithm::Portuguese,
        "nl" => Algorithm::Dutch,
        "sv" => Algorithm::Swedish,
        "ru" => Algorithm::Russian,
        "tr" => Algorithm::Turkish,
        _ => return None,
    })
}

fn push(term: String, terms: &mut Vec<String>) {
    // An index would split a term at what is no letter and no digit.
    let mut term: String = term.chars().filter(|c| belongs_to_term(*c)).collect();
    term.truncate(term.floor_char_boundary(MAX_TERM_BYTES));
    if !term.is_empty() {
        terms.push(term);
    }
}

fn push_pairs(text: &str, terms: &mut Vec<String>) {
    let folded: Vec<char> = fold(text).chars().filter(|c| belongs_to_term(*c)).collect();
    match folded[..] {
        [one] => terms.push(one.to_string()),
        _ => terms.extend(folded.windows(2).map(|pair| pair.iter().collect::<String>())),
    }
}

fn belongs_to_term(c: char) -> bool {
    c.is_alphanumeric() && !is_combining_mark(c)
}

#[cfg(test)]
mod tests;
