//! Running text cut into sentences and terms, whatever language and script it is in.

mod sentences;
mod terms;
mod tongue;

pub use sentences::{Sentence, sentences};
pub(crate) use terms::stem;
pub use terms::{Case, Term, terms};
pub use tongue::Tongue;

use terms::Kind;

/// A text beyond this many terms is read up to there, and whoever asked is told.
pub const MAX_TERMS: usize = 200_000;

/// A text made ready: its sentences, and the terms of all of them in order.
#[derive(Clone, Debug)]
pub struct Prose<'a> {
    pub sentences: Vec<Sentence<'a>>,
    pub terms: Vec<Term<'a>>,
    /// The language, where its function words give it away.
    pub tongue: Option<Tongue>,
    /// Whether the text went on after what was read.
    pub truncated: bool,
}

impl<'a> Prose<'a> {
    /// Reads a text.
    pub fn read(text: &'a str) -> Self {
        let mut prose =
            Self { sentences: Vec::new(), terms: Vec::new(), tongue: None, truncated: false };
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
        prose.tongue = Tongue::of(prose.terms.iter().map(|term| term.folded.as_str()));
        prose.settle();
        prose
    }

    /// Says of each term whether it only holds the sentence together, and cuts long runs of Han characters.
    fn settle(&mut self) {
        terms::cut_dense(&mut self.terms);
        let tongue = self.tongue;
        for term in &mut self.terms {
            term.stop = match term.kind {
                Kind::Word => {
                    term.folded.chars().nth(1).is_none()
                        || tongue.is_some_and(|tongue| tongue.has(&term.folded))
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
