//! How a phrase is spelled in the answer.

use std::collections::HashMap;

use language::prose::{Case, Prose, Term};

use crate::candidates::Candidate;
use crate::lexicon;
use crate::tags::Word;

/// How often each word is written as a name, and how often in lower case, where its place does not ask for a capital.
pub(crate) struct Capitals<'a> {
    counts: HashMap<&'a str, (usize, usize)>,
    english: bool,
    /// All nouns have capitals.
    german: bool,
}

impl<'a> Capitals<'a> {
    pub(crate) fn of(prose: &'a Prose<'_>, words: &[Word]) -> Self {
        let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
        for (term, word) in prose.terms.iter().zip(words) {
            let (names, plain) = counts.entry(&term.folded).or_default();
            *names += usize::from(word.name);
            *plain += usize::from(term.case == Case::Plain);
        }
        let english = prose.language.is_none_or(|language| language.code() == "en");
        let german = prose.language.is_some_and(|language| language.code() == "de");
        Self { counts, english, german }
    }

    /// The phrase in its most frequent spelling; of equal ones the first in the alphabet.
    pub(crate) fn spell(&self, prose: &Prose<'_>, words: &[Word], candidate: &Candidate) -> String {
        let mut spellings: HashMap<String, usize> = HashMap::new();
        for start in &candidate.starts {
            let range = *start as usize..*start as usize + candidate.length;
            *spellings
                .entry(self.write(&prose.terms[range.clone()], &words[range]))
                .or_default() += 1;
        }
        let best = spellings.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        best.map(|(phrase, _)| phrase).unwrap_or_default()
    }

    fn write(&self, terms: &[Term<'_>], words: &[Word]) -> String {
        let mut text = String::new();
        for (at, (term, word)) in terms.iter().zip(words).enumerate() {
            if at > 0 && !(term.is_dense() && terms[at - 1].is_dense()) {
                text.push(' ');
            }
            let mut adjacent = terms[..at].last().into_iter().chain(terms.get(at + 1));
            // `Geriatric Depression Scale`.
            let of_name =
                term.case == Case::Capital && adjacent.any(|other| other.case == Case::Capital);
            if term.case == Case::Plain || of_name || self.keeps_capitals(term, *word) {
                text.push_str(term.text);
            } else {
                text.push_str(&term.text.to_lowercase());
            }
        }
        text
    }

    /// Whether a capital belongs to the word, and not to its place in the text.
    fn keeps_capitals(&self, term: &Term<'_>, word: Word) -> bool {
        match self.counts.get(term.folded.as_str()) {
            Some((names, plain)) if names != plain => names > plain,
            // Within a title names look like other words.
            _ if word.name || !term.first => true,
            _ if self.english => lexicon::known(&term.folded).is_none(),
            _ => self.german,
        }
    }
}
