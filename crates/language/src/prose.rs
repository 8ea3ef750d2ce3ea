//! Splits running text of any language and script into sentences and terms.

mod language;
mod sentences;
mod terms;

pub use language::Language;
pub use sentences::{Sentence, sentences};
pub(crate) use terms::stem;
pub use terms::{Case, Term, terms};

use terms::Kind;

/// Only this many terms of a text are read; [`Prose::truncated`] is set beyond.
pub const MAX_TERMS: usize = 200_000;

/// The sentences of a text, and the terms of all of them in order.
#[derive(Clone, Debug)]
pub struct Prose<'a> {
    pub sentences: Vec<Sentence<'a>>,
    pub terms: Vec<Term<'a>>,
    /// The language, if its function words identify it.
    pub language: Option<Language>,
    /// Whether the text has more terms than were read.
    pub truncated: bool,
}

impl<'a> Prose<'a> {
    /// Reads a text.
    pub fn read(text: &'a str) -> Self {
        let mut prose =
            Self { sentences: Vec::new(), terms: Vec::new(), language: None, truncated: false };
        for sentence in sentences(text) {
            let index = prose.sentences.len();
            prose.terms.extend(terms(sentence.text, index));
            prose.sentences.push(sentence);
            if prose.terms.len() > MAX_TERMS {
                prose.terms.truncate(MAX_TERMS);
                prose.truncated = true;
                break;
            }
        }
        prose.language = Language::of(prose.terms.iter().map(|term| term.folded.as_str()));
        prose.mark_stop_words();
        prose
    }

    /// Marks function words, and splits long runs of Han characters.
    fn mark_stop_words(&mut self) {
        terms::cut_dense(&mut self.terms);
        let language = self.language;
        for term in &mut self.terms {
            term.stop = match term.kind {
                Kind::Word => {
                    term.folded.chars().nth(1).is_none()
                        || language.is_some_and(|language| language.has(&term.folded))
                }
                Kind::Number => false,
                Kind::Glue => true,
                Kind::Dense => term.folded.chars().nth(1).is_none(),
            };
        }
    }

    /// The terms that carry meaning, numbers left out.
    pub fn content(&self) -> impl Iterator<Item = &Term<'a>> {
        self.terms.iter().filter(|term| term.carries_meaning())
    }
}

#[cfg(test)]
mod tests;
