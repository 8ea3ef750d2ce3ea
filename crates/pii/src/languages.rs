//! Words of other languages that tell names of people from other words.

use std::collections::HashMap;
use std::sync::LazyLock;

use language::prose::Language;
use language::words::fold;
use serde::Deserialize;
use serde::de::IntoDeserializer as _;

use super::lists;

/// What a word says about the words around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sort {
    /// Before a name: `Herr`.
    Address,
    /// The role of a person: `Nachbarin`, `alcalde`.
    Role,
    /// At the beginning of a letter.
    Greet,
    /// At the end of a letter, above the name.
    Close,
    /// Before a colon and names.
    Label,
    /// What people say and do, before a name or after it.
    Say,
    /// What people do to something, which may be a noun: only after a name.
    Act,
    Article,
    /// Before the name of something else than a person.
    Thing,
    /// The first word of an organisation.
    Institution,
    /// Before the name of a place.
    Place,
    /// The end of a noun that is no name.
    Noun,
    /// In the lists of names, but mostly another word.
    Common,
}

/// The words of one language.
pub(super) struct Words {
    language: Language,
    /// A bit for each sort that a word has.
    sorts: HashMap<&'static str, u16>,
    role_endings: Vec<&'static str>,
    noun_endings: Vec<&'static str>,
}

static LANGUAGES: LazyLock<HashMap<&'static str, Words>> = LazyLock::new(|| {
    let mut languages: HashMap<&str, Words> = HashMap::new();
    let rows = include_str!("../data/languages.txt").lines();
    for line in rows.filter(|line| !line.starts_with('#')) {
        let mut fields = line.split(' ');
        let (Some(code), Some(sort)) = (fields.next(), fields.next()) else { continue };
        let sort: Result<_, serde::de::value::Error> = Sort::deserialize(sort.into_deserializer());
        let Ok(sort) = sort else { continue };
        let words = languages.entry(code).or_insert_with(|| Words {
            language: Language::named(code).unwrap_or(Language::ENGLISH),
            sorts: HashMap::new(),
            role_endings: Vec::new(),
            noun_endings: Vec::new(),
        });
        for word in fields {
            match (word.strip_prefix('-'), sort) {
                (Some(ending), Sort::Role) => words.role_endings.push(ending),
                (Some(ending), _) => words.noun_endings.push(ending),
                (None, sort) => *words.sorts.entry(word).or_default() |= sort.bit(),
            }
        }
    }
    languages
});

impl Sort {
    fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl Words {
    /// The words of a language; `None` if it has none here.
    pub(super) fn of(language: Language) -> Option<&'static Self> {
        LANGUAGES.get(language.code())
    }

    /// The language that has most of these words, which are in lower case.
    pub(super) fn likely(words: &[&str]) -> Option<Language> {
        let known = |one: &Self| {
            let known = |word: &&&str| one.sorts.contains_key(**word) || one.is_function(word);
            words.iter().filter(known).count()
        };
        let languages = LANGUAGES.values().filter(|one| one.language != Language::ENGLISH);
        let best = languages.max_by_key(|one| (known(one), one.language))?;
        (known(best) > 0).then_some(best.language)
    }

    pub(super) fn is_german(&self) -> bool {
        self.language.code() == "de"
    }

    /// Whether people are named with an article: `o Rui`, `la Giulia`.
    pub(super) fn names_have_articles(&self) -> bool {
        matches!(self.language.code(), "de" | "it" | "pt")
    }

    /// Whether a word in lower case is of this sort.
    pub(super) fn is(&self, sort: Sort, word: &str) -> bool {
        self.sorts.get(word).is_some_and(|sorts| sorts & sort.bit() != 0)
    }

    /// Whether a word names what a person is, in one of its forms.
    pub(super) fn is_role(&self, word: &str) -> bool {
        self.is(Sort::Role, word)
            || lists::name(word) == 0
                && self.role_endings.iter().any(|ending| {
                    word.len() > ending.len() + 2
                        && word.strip_suffix(['s', 'n']).unwrap_or(word).ends_with(ending)
                        || word.ends_with(ending) && word.len() > ending.len() + 2
                })
    }

    /// Whether a word names several people by what they are: `concejales`, `Kolleginnen`.
    pub(super) fn is_roles(&self, word: &str) -> bool {
        ["s", "es", "n", "en", "nen", "i", "e"]
            .iter()
            .any(|ending| word.strip_suffix(ending).is_some_and(|one| self.is_role(one)))
    }

    /// Whether a word holds sentences together.
    pub(super) fn is_function(&self, word: &str) -> bool {
        self.is(Sort::Article, word) || self.language.has(&fold(word))
    }

    /// Whether a word is mostly no name.
    pub(super) fn is_common(&self, word: &str) -> bool {
        let other = || LANGUAGES.get("any").is_some_and(|any| any.is(Sort::Common, word));
        self.is(Sort::Common, word) || other() || lists::name(word) == 0 && self.is_noun(word)
    }

    /// Whether a word has the end of a noun.
    fn is_noun(&self, word: &str) -> bool {
        let last = word.rsplit('-').next().unwrap_or(word);
        last != word && (self.is(Sort::Common, last) || self.is(Sort::Thing, last))
            || self
                .noun_endings
                .iter()
                .any(|ending| last.len() > ending.len() + 2 && last.ends_with(ending))
    }
}
