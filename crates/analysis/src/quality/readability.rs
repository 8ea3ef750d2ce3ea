//! Flesch reading ease, Flesch–Kincaid grade and LIX.

use serde::Serialize;

use super::issue::{Check, Issue, Outcome, Severity};
use super::text::Text;

/// Sentences with more words are hard to follow.
const LONG_SENTENCE: usize = 35;
const VERY_LONG_SENTENCE: usize = 60;

/// How easy a text is to read; what no formula fits is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Readability {
    /// Flesch reading ease: English, and by the formulas of Amstad for German, Kandel and Moles for French, Fernández
    /// Huerta for Spanish.
    pub flesch: Option<f64>,
    /// Flesch–Kincaid grade, English only.
    pub grade: Option<f64>,
    /// Björnsson's LIX, for any language with spaces.
    pub lix: Option<f64>,
}

impl Readability {
    /// The readability of a text in a language, given as an ISO 639-1 code.
    pub fn measure(source: &str, language: Option<&str>) -> Self {
        Self::of(&Text::read(source), language)
    }

    pub(super) fn of(text: &Text<'_>, language: Option<&str>) -> Self {
        let words: Vec<&str> = text
            .prose()
            .map(|word| word.text)
            .filter(|word| word.chars().any(char::is_alphabetic))
            .collect();
        let sentences = text
            .sentences
            .iter()
            .filter(|range| text.source[(*range).clone()].chars().any(char::is_alphabetic))
            .count();
        if words.is_empty() || sentences == 0 {
            return Self { flesch: None, grade: None, lix: None };
        }
        let count = words.len() as f64;
        let length = count / sentences as f64;
        let syllables: usize =
            words.iter().map(|word| syllables(word, language.unwrap_or_default())).sum();
        let per_word = syllables as f64 / count;
        let long = words.iter().filter(|word| word.chars().count() > 6).count() as f64;
        let flesch = match language {
            Some("en") => Some(206.835 - 1.015 * length - 84.6 * per_word),
            Some("de") => Some(180.0 - length - 58.5 * per_word),
            Some("fr") => Some(207.0 - 1.015 * length - 73.6 * per_word),
            Some("es") => Some(206.84 - 1.02 * length - 60.0 * per_word),
            _ => None,
        };
        let grade = (language == Some("en")).then_some(0.39 * length + 11.8 * per_word - 15.59);
        let round = |value: f64| super::issue::rounded(value, 1);
        Self {
            flesch: flesch.map(round),
            grade: grade.map(round),
            lix: Some(round(length + 100.0 * long / count)),
        }
    }

    /// Full marks from a Flesch ease of 60, or a LIX of 40, on.
    pub(super) fn check(&self, text: &Text<'_>) -> Outcome {
        let value = match (self.flesch, self.lix) {
            (Some(flesch), _) => flesch / 60.0,
            (None, Some(lix)) => (80.0 - lix) / 40.0,
            (None, None) => 0.0,
        };
        let issues: Vec<Issue> = long_sentences(text);
        let mut evidence = Vec::new();
        if let Some(flesch) = self.flesch {
            evidence.push(format!("Flesch reading ease {flesch}; 60 and more is plain"));
        }
        if let Some(lix) = self.lix {
            evidence.push(format!("LIX {lix}; 40 and less is plain"));
        }
        if !issues.is_empty() {
            evidence.push(format!("{} sentences of more than {LONG_SENTENCE} words", issues.len()));
        }
        Outcome { value, evidence, issues }
    }
}

fn long_sentences(text: &Text<'_>) -> Vec<Issue> {
    let mut words = text.words.iter().peekable();
    let mut found = Vec::new();
    for sentence in &text.sentences {
        let mut count = 0;
        while let Some(word) = words.next_if(|word| word.start < sentence.end) {
            count += usize::from(!word.code);
        }
        if count > LONG_SENTENCE && !has_table(&text.source[sentence.clone()]) {
            let severity =
                if count > VERY_LONG_SENTENCE { Severity::Warning } else { Severity::Info };
            found.push(Issue {
                check: Check::Readability,
                severity,
                message: format!("This sentence has {count} words. Split it."),
                start: sentence.start,
                end: sentence.end,
                suggestions: Vec::new(),
            });
        }
    }
    found
}

/// Whether a text has rows of a Markdown table, which are no sentences.
fn has_table(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with('|'))
}

/// Groups of vowels. A silent `e` at the end of English and French words counts for none; two strong vowels of Spanish
/// are two syllables.
fn syllables(word: &str, language: &str) -> usize {
    let lower = word.to_lowercase();
    let is_vowel = |c: char| "aeiouyäöüáàâãåæéèêëíìîïóòôõøœúùûýаеёиоуыэюяαεηιουω".contains(c);
    let is_strong = |c: char| language == "es" && "aeoáéíóú".contains(c);
    let mut groups = 0;
    let mut last = None;
    for c in lower.chars() {
        let joins =
            last.is_some_and(|last: char| is_vowel(last) && !(is_strong(last) && is_strong(c)));
        groups += usize::from(is_vowel(c) && !joins);
        last = Some(c);
    }
    let ends = |endings: &[&str]| endings.iter().any(|ending| lower.ends_with(ending));
    let silent = groups > 1
        && match language {
            "en" => {
                ends(&["e"]) && !ends(&["le"])
                    || ends(&["es"]) && !ends(&["ses", "ces"])
                    || ends(&["ed"]) && !ends(&["ted", "ded"])
            }
            "fr" => ends(&["e", "es"]) && !ends(&["ee", "ie", "ue", "ies", "ues"]),
            _ => false,
        };
    (groups - usize::from(silent)).max(1)
}
