//! How each word of a text is used, as far as phrases need it.

use std::collections::HashSet;

use language::prose::{Case, Language, Prose, Term};

use crate::lexicon::{self, Use};

/// What a word may be in a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It may end a phrase.
    Head,
    /// It may stand before others.
    Modifier,
    /// A number, which may stand within.
    Number,
    /// It is in no phrase.
    Outside,
}

/// A word's role, and how rare it is in its language.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(crate) role: Role,
    pub(crate) rarity: f64,
    /// Written with a capital although no sentence or title begins with it.
    pub(crate) name: bool,
    /// It begins a phrase after any other word: `Anteil | erneuerbarer Energien`.
    pub(crate) begins: bool,
}

/// Longer ones are no words, but data such as keys and encoded files.
const MAX_WORD_BYTES: usize = 100;

/// The rarity of words in a language without a list.
const USUAL: f64 = 3.0;

/// Whether verbs and nouns are distinguished in the language of the text, so that a phrase is no clause.
pub(crate) fn separates_verbs(prose: &Prose<'_>) -> bool {
    matches!(language(prose), "en" | "de")
}

pub(crate) fn words(prose: &Prose<'_>) -> Vec<Word> {
    let titles = titles(prose);
    let named = |term: &Term<'_>| match term.case {
        _ if titles[term.sentence] => false,
        Case::Acronym => true,
        Case::Capital => !term.first,
        Case::Plain => false,
    };
    let names: Vec<bool> = prose.terms.iter().map(named).collect();
    let code = language(prose);
    let roles: Vec<(Role, f64)> = match code {
        "en" => english(prose, &names),
        code => (0..prose.terms.len()).map(|at| (other(prose, at, code), USUAL)).collect(),
    };
    let word = |((role, rarity), name)| {
        let begins = code == "de" && role == Role::Modifier;
        Word { role, rarity, name, begins }
    };
    let mut words: Vec<Word> = roles.into_iter().zip(names).map(word).collect();
    for (word, term) in words.iter_mut().zip(&prose.terms) {
        if term.text.len() > MAX_WORD_BYTES {
            word.role = Role::Outside;
        }
    }
    words
}

/// The language of a text; English if unknown, and the table has most of its words.
fn language(prose: &Prose<'_>) -> &'static str {
    if let Some(language) = prose.language {
        return language.code();
    }
    let content = || prose.content().filter(|term| term.folded.is_ascii());
    let known = content().filter(|term| lexicon::known(&term.folded).is_some()).count();
    if known > 0 && 2 * known > content().count() { Language::ENGLISH.code() } else { "" }
}

/// Which sentences have capitals in most words, so that these make no names.
fn titles(prose: &Prose<'_>) -> Vec<bool> {
    let mut words = vec![0; prose.sentences.len()];
    let mut capitals = vec![0; prose.sentences.len()];
    for term in prose.content().filter(|term| !term.first) {
        words[term.sentence] += 1;
        capitals[term.sentence] += usize::from(term.case != Case::Plain);
    }
    words
        .iter()
        .zip(&capitals)
        .map(|(words, capitals)| *words > 2 && 4 * capitals > 3 * words)
        .collect()
}

/// Whether a term and the one before it stand side by side.
pub(crate) fn joins(prose: &Prose<'_>, at: usize) -> bool {
    let term = &prose.terms[at];
    at > 0 && !term.apart && !term.first && prose.terms[at - 1].sentence == term.sentence
}

fn other(prose: &Prose<'_>, at: usize, code: &str) -> Role {
    let term = &prose.terms[at];
    if term.stop {
        return Role::Outside;
    }
    if !term.carries_meaning() {
        return Role::Number;
    }
    let written = term.text.to_lowercase();
    if verb_endings(code).iter().any(|ending| ends(&written, ending)) && term.case == Case::Plain {
        return Role::Outside;
    }
    // German nouns have capitals; what precedes them has an ending.
    if code == "de" && term.case == Case::Plain && !term.folded.contains(|c: char| c.is_numeric()) {
        let adjective = ["e", "en", "er", "es", "em"].iter().any(|end| ends(&term.folded, end));
        return if adjective { Role::Modifier } else { Role::Outside };
    }
    Role::Head
}

/// Endings of finite verbs and adverbs that hardly any noun has.
fn verb_endings(code: &str) -> &'static [&'static str] {
    match code {
        "es" => &["mente", "ó", "rá", "rán", "aron", "ieron", "aba", "aban", "ando", "iendo"],
        "pt" => &["mente", "ou", "aram", "eram", "iram", "ava", "avam", "ando", "endo", "indo"],
        "it" => &["mente", "ò", "rà", "ranno", "ava", "avano", "ando", "endo"],
        "fr" => &["ait", "aient", "èrent", "eront", "eraient"],
        _ => &[],
    }
}

fn ends(word: &str, ending: &str) -> bool {
    word.len() > ending.len() + 2 && word.ends_with(ending)
}

const DETERMINERS: [&str; 22] = [
    "a", "all", "an", "another", "any", "both", "each", "every", "her", "his", "its", "my", "no",
    "our", "some", "such", "the", "their", "these", "this", "those", "your",
];
const PREPOSITIONS: [&str; 21] = [
    "about", "against", "among", "as", "at", "between", "by", "during", "for", "from", "in",
    "into", "of", "on", "over", "than", "through", "under", "via", "with", "within",
];
/// Forms of `be` and `have`: a participle after them is a verb.
const AUXILIARIES: [&str; 11] =
    ["are", "be", "been", "being", "had", "has", "have", "is", "was", "were", "am"];
/// Words that a verb follows.
const BEFORE_VERBS: [&str; 15] = [
    "can", "cannot", "could", "i", "may", "might", "must", "should", "they", "to", "we", "who",
    "will", "would", "you",
];

/// Words that judge, compare or point, and belong to no name of a thing.
const VAGUE: [&str; 67] = [
    "additional",
    "appropriate",
    "available",
    "best",
    "better",
    "certain",
    "considerable",
    "corresponding",
    "current",
    "different",
    "entire",
    "excellent",
    "existing",
    "further",
    "given",
    "good",
    "great",
    "important",
    "interesting",
    "key",
    "large",
    "larger",
    "largest",
    "latest",
    "little",
    "main",
    "major",
    "necessary",
    "new",
    "next",
    "novel",
    "numerous",
    "obvious",
    "overall",
    "own",
    "particular",
    "possible",
    "powerful",
    "present",
    "previous",
    "promising",
    "proper",
    "proposed",
    "recent",
    "related",
    "relevant",
    "remaining",
    "respective",
    "same",
    "several",
    "significant",
    "similar",
    "small",
    "smaller",
    "so-called",
    "substantial",
    "successful",
    "suitable",
    "total",
    "typical",
    "useful",
    "usual",
    "various",
    "vast",
    "today",
    "tomorrow",
    "yesterday",
];

fn english(prose: &Prose<'_>, names: &[bool]) -> Vec<(Role, f64)> {
    let terms = &prose.terms;
    let named: HashSet<&str> =
        terms.iter().zip(names).filter(|(_, name)| **name).map(|(term, _)| &*term.folded).collect();
    let is_named = |term: &Term<'_>| term.case != Case::Plain && named.contains(&*term.folded);
    let mut found: Vec<(Option<Use>, f64)> =
        terms.iter().map(|term| usage(term, is_named(term))).collect();
    for at in 0..terms.len() {
        let Some(usage) = found[at].0 else { continue };
        if !joins(prose, at) {
            if usage == Use::Past {
                found[at].0 = Some(Use::Participle);
            }
            continue;
        }
        let before = terms[at - 1].folded.as_str();
        let (determined, adjective) =
            (DETERMINERS.contains(&before), found[at - 1].0 == Some(Use::Adjective));
        let after_preposition = PREPOSITIONS.contains(&before);
        found[at].0 = Some(match usage {
            Use::Verb if determined || adjective || after_preposition => Use::Noun,
            Use::Past if determined || adjective || terms[at - 1].stop => Use::Participle,
            // `we access the table`, `to access tables`.
            Use::Noun | Use::Adjective if BEFORE_VERBS.contains(&before) => {
                let after = (at + 1 < terms.len() && joins(prose, at + 1)).then(|| &terms[at + 1]);
                let object = after.is_some_and(|term| DETERMINERS.contains(&term.folded.as_str()));
                let verb = before != "to" || object || lexicon::is_also_verb(&terms[at].folded);
                if verb { Use::Verb } else { usage }
            }
            usage => usage,
        });
    }
    (0..terms.len()).map(|at| (role(prose, &found, names, at), found[at].1)).collect()
}

/// `None` for function words and numbers. A name is a noun, whatever its ending.
fn usage(term: &Term<'_>, name: bool) -> (Option<Use>, f64) {
    if !term.carries_meaning() {
        return (None, 0.0);
    }
    let entry = lexicon::look_up(&term.folded);
    (Some(if name || term.is_dense() { Use::Noun } else { entry.usage }), entry.rarity)
}

fn role(prose: &Prose<'_>, found: &[(Option<Use>, f64)], names: &[bool], at: usize) -> Role {
    let Some(usage) = found[at].0 else {
        return if prose.terms[at].stop { Role::Outside } else { Role::Number };
    };
    let previous = joins(prose, at).then(|| at - 1);
    let before = previous.map_or("", |at| prose.terms[at].folded.as_str());
    let is_content = |at: usize| {
        matches!(found[at].0, Some(Use::Noun | Use::Adjective | Use::Participle | Use::Gerund))
    };
    let continues = at + 1 < found.len() && joins(prose, at + 1) && is_content(at + 1);
    let follows = previous.is_some_and(is_content);
    match usage {
        _ if VAGUE.contains(&prose.terms[at].folded.as_str())
            && (prose.terms[at].case == Case::Plain || prose.terms[at].first) =>
        {
            Role::Outside
        }
        _ if prose.terms[at].folded == "al" && before == "et" => Role::Outside,
        Use::Noun => Role::Head,
        Use::Adjective => Role::Modifier,
        // `we control the robot`.
        Use::Verb | Use::Past | Use::Other => Role::Outside,
        // `which interested Alan Turing`.
        Use::Participle if continues && names[at + 1] && !names[at] => Role::Outside,
        Use::Participle if continues && !AUXILIARIES.contains(&before) => Role::Modifier,
        Use::Participle => Role::Outside,
        // `the changing climate`; `image denoising`, but not `software nearing saturation`.
        Use::Gerund if continues => {
            let adjective = previous.is_some_and(|at| found[at].0 == Some(Use::Adjective));
            let within = adjective || DETERMINERS.contains(&before);
            if within { Role::Modifier } else { Role::Outside }
        }
        // A gerund in the table is mostly a verb: `systems taking pictures`.
        Use::Gerund if follows && lexicon::known(&prose.terms[at].folded).is_none() => Role::Head,
        Use::Gerund => Role::Outside,
    }
}
