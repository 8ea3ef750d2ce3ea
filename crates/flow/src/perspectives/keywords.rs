//! What the caller's own documents are about, for the wording of questions and the concepts of the map.

use std::collections::HashSet;

use language::keywords::keywords;
use language::prose::{Language, Prose, Term};
use language::words::fold;

use notes::intent::{Intent, content_stems, is_frame};
use notes::{Chunk, is_injection};

/// Text of the chunks that is read.
const MAX_BYTES: usize = 200_000;

/// Phrases that are looked at, and those that are kept.
const LOOKED_AT: usize = 80;
const KEPT: usize = 32;

/// A phrase of the documents and the sentences that have it.
#[derive(Clone, Debug)]
pub(super) struct Keyword {
    pub(super) phrase: String,
    sentences: Vec<String>,
}

impl Keyword {
    /// How well its sentences fit a question.
    pub(super) fn fit(&self, intent: &Intent) -> f64 {
        let all = self.sentences.len().max(1) as f64;
        let fit =
            |sentence: &String| intent.fit(sentence, &content_stems(sentence, intent.language()));
        self.sentences.iter().map(fit).sum::<f64>() / all
    }
}

/// The phrases that the chunks use most, without those of the topic.
pub(super) fn of_chunks(chunks: &[Chunk], topic: &str, language: Language) -> Vec<Keyword> {
    let text = joined(chunks);
    let prose = Prose::read(&text);
    let topic: HashSet<String> = content_stems(topic, language).into_iter().collect();
    let mut kept: Vec<Keyword> = Vec::new();
    for keyword in keywords(&prose, LOOKED_AT, 3) {
        let stems = content_stems(&keyword.phrase, language);
        let new = stems.iter().any(|stem| !topic.contains(stem));
        let phrase = keyword.phrase.as_str();
        let length = phrase.chars().count();
        let words = phrase.split(' ').count();
        let often = keyword.occurrences >= if words == 1 { 3 } else { 2 };
        if !new || !often || !(3..=40).contains(&length) || !is_plain(phrase) || is_part(phrase) {
            continue;
        }
        // `How do studies take account of survey?`
        if words == 1 && (is_frame(phrase, language) || phrase.ends_with("ing")) {
            continue;
        }
        if !is_noun(&prose.terms, phrase) {
            continue;
        }
        kept.push(Keyword { phrase: phrase.to_owned(), sentences: holding(&prose, phrase) });
        if kept.len() == KEPT {
            break;
        }
    }
    kept
}

/// The chunks as plain text without Markdown marks, tables, code and paragraphs that give orders to a model.
fn joined(chunks: &[Chunk]) -> String {
    let mut text = String::new();
    let paragraphs = chunks.iter().flat_map(|chunk| chunk.text.split("\n\n"));
    let trusted = paragraphs.filter(|paragraph| !is_injection(paragraph));
    for line in trusted.flat_map(|paragraph| paragraph.lines().chain([""])) {
        if text.len() + line.len() > MAX_BYTES {
            break;
        }
        let line = line.trim();
        if !line.starts_with(['|', '#', '`']) && !line.contains("://") {
            text.extend(line.chars().filter(|c| !matches!(c, '*' | '`' | '_')));
        }
        text.push('\n');
    }
    text
}

fn is_plain(phrase: &str) -> bool {
    phrase.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'))
        && phrase.chars().any(char::is_alphabetic)
}

/// Whether a phrase needs an article or another word to name something: `first farm`, `eleven farms`, `fish nearby`.
fn is_part(phrase: &str) -> bool {
    const FIRST: [&str; 34] = [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "first",
        "second",
        "third",
        "last",
        "next",
        "previous",
        "same",
        "former",
        "latter",
        "additional",
        "zwei",
        "drei",
        "vier",
        "fünf",
        "sechs",
        "sieben",
        "acht",
        "neun",
        "zehn",
        "elf",
        "zwölf",
        "erste",
    ];
    const LAST: [&str; 8] =
        ["ago", "alone", "away", "nearby", "now", "together", "today", "worldwide"];
    let mut words = phrase.split(' ').map(str::to_lowercase);
    let first = words.next().unwrap_or_default();
    FIRST.contains(&first.as_str())
        || words.next_back().is_some_and(|last| LAST.contains(&last.as_str()))
}

/// Whether a phrase is used as a noun: most often an article, a preposition or a beginning comes before it, and a function
/// word or a mark after it.
fn is_noun(terms: &[Term<'_>], phrase: &str) -> bool {
    const BEFORE: [&str; 22] = [
        "a", "an", "the", "of", "in", "for", "with", "by", "and", "from", "on", "to", "or",
        "about", "than", "as", "der", "die", "das", "von", "mit", "und",
    ];
    const NOT_AFTER: [&str; 5] = ["the", "a", "an", "its", "their"];
    let words: Vec<String> = phrase.split(' ').map(fold).collect();
    let (mut uses, mut good) = (0, 0);
    for (at, window) in terms.windows(words.len()).enumerate() {
        if !window.iter().zip(&words).all(|(term, word)| term.folded == *word) {
            continue;
        }
        uses += 1;
        let before = window[0].first
            || window[0].apart
            || at.checked_sub(1).is_some_and(|at| BEFORE.contains(&terms[at].folded.as_str()));
        let verb = at.checked_sub(1).is_some_and(|at| terms[at].folded == "to" && words.len() == 1);
        let after = terms.get(at + words.len()).is_none_or(|next| {
            next.apart || next.first || (next.stop && !NOT_AFTER.contains(&next.folded.as_str()))
        });
        good += usize::from(before && after && !verb);
    }
    2 * good >= uses
}

/// Some sentences that have the phrase.
fn holding(prose: &Prose<'_>, phrase: &str) -> Vec<String> {
    let phrase = fold(phrase);
    let sentences = prose.sentences.iter().map(|sentence| sentence.text);
    sentences.filter(|text| fold(text).contains(&phrase)).take(6).map(str::to_owned).collect()
}
