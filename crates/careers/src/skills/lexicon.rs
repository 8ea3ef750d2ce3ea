//! Lists of terms: technologies, fields and degrees, traits, ESCO names, and verbs of work.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::hasher::Shipped;

const TERMS: &str = include_str!("../../data/skills/terms.txt");
const TRAITS: &str = include_str!("../../data/skills/traits.txt");
const ESCO: &str = include_str!("../../data/skills/esco.txt");
const VERBS: &str = include_str!("../../data/skills/verbs.txt");

/// The longest term of the lists, in words.
pub(super) const MAX_WORDS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// A technology, field, degree or language.
    Knowledge,
    /// A trait or a way of working.
    Trait,
    /// A name of knowledge in ESCO.
    Esco,
}

/// The terms by their words in lower case.
pub struct Lexicon {
    terms: HashMap<&'static str, TermKind, Shipped>,
    /// The number of words of the longest term that begins with a word.
    longest: HashMap<&'static str, usize, Shipped>,
    /// The ESCO identifier of a name.
    ids: HashMap<&'static str, &'static str>,
    verbs: HashSet<&'static str, Shipped>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::read);

impl Lexicon {
    /// The lists that are shipped.
    pub fn shipped() -> &'static Self {
        &LEXICON
    }

    fn read() -> Self {
        let mut terms: HashMap<&'static str, TermKind, Shipped> = HashMap::default();
        let mut ids = HashMap::new();
        for line in ESCO.lines().filter(|line| !line.starts_with('#')) {
            if let Some((name, id)) = line.split_once('\t') {
                terms.insert(name, TermKind::Esco);
                ids.insert(name, id);
            }
        }
        for (list, kind) in [(TRAITS, TermKind::Trait), (TERMS, TermKind::Knowledge)] {
            let lines = list.lines().filter(|line| !line.starts_with('#'));
            terms.extend(lines.flat_map(|line| line.split('|')).map(|term| (term, kind)));
        }
        let verbs =
            VERBS.lines().filter(|line| !line.starts_with('#')).flat_map(|line| line.split(' '));
        let mut longest: HashMap<&'static str, usize, Shipped> = HashMap::default();
        for term in terms.keys() {
            let mut words = term.split(' ');
            let most = longest.entry(words.next().unwrap_or("")).or_default();
            *most = words.count().saturating_add(1).max(*most);
        }
        Self { terms, longest, ids, verbs: verbs.collect() }
    }

    /// Which list has a term, given in lower case.
    pub fn kind(&self, term: &str) -> Option<TermKind> {
        self.terms.get(term).copied()
    }

    /// The ESCO identifier of a term, given in lower case.
    pub fn esco_id(&self, term: &str) -> Option<&'static str> {
        self.ids.get(term).copied()
    }

    /// Whether a word in lower case is the base form of a verb of work.
    pub fn is_verb(&self, word: &str) -> bool {
        self.verbs.contains(word)
    }

    /// Whether a word in lower case is the `-ing` form of a verb of work.
    pub fn is_gerund(&self, word: &str) -> bool {
        let Some(stem) = word.strip_suffix("ing") else { return false };
        if stem.len() < 2 {
            return false;
        }
        if self.is_verb(stem) || self.is_verb(&format!("{stem}e")) {
            return true;
        }
        let mut ends = stem.chars().rev();
        let (last, before) = (ends.next(), ends.next());
        last == before
            && last.is_some_and(|last| self.is_verb(&stem[..stem.len() - last.len_utf8()]))
    }

    /// The longest term of the lists that begins at a word: its number of words and its list.
    pub fn longest(&self, words: &[String]) -> Option<(usize, TermKind)> {
        let most = self.longest.get(words.first()?.as_str())?;
        let longest = MAX_WORDS.min(words.len()).min(*most);
        let mut phrase = words.get(..longest)?.join(" ");
        for count in (1..=longest).rev() {
            if let Some(kind) = self.kind(&phrase) {
                return Some((count, kind));
            }
            phrase.truncate(phrase.len().saturating_sub(words[count - 1].len() + 1));
        }
        None
    }
}
