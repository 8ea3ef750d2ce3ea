//! Keys and headings that no list of words has, by the words and the form that they have.

use std::sync::LazyLock;

use regex::Regex;

use super::words::{Field, has_phrase};

/// Words of which a longer key has one: "Gross annual salary", "Where you will work".
static WORDS: [(Field, &str); 6] = [
    (
        Field::Pay,
        "salary|pay|wage|compensation|remuneration|rate|gehalt|vergütung|lohn|salaire|rémunération|salario|sueldo|retribución",
    ),
    (
        Field::Years,
        "experience|years|erfahrung|berufserfahrung|jahre|expérience|années|experiencia|años",
    ),
    (
        Field::Mode,
        "remote|workplace|office|arrangement|mode|model|homeoffice|arbeitsmodell|télétravail|modalidad|teletrabajo|remoto",
    ),
    (Field::Level, "level|seniority|niveau|nivel|karrierestufe"),
    (Field::Location, "location|city|standort|arbeitsort|lieu|ville|ubicación|ciudad"),
    (Field::Title, "title|titel|jobtitel|intitulé"),
];

/// The longest key, in words.
const MAX_KEY_WORDS: usize = 5;
/// The longest value of a key that is known by one of its words.
const MAX_VALUE_WORDS: usize = 12;

/// The fields that a longer key may name, if the value is short; it has to be one of the field.
pub(super) fn likely_fields(key: &str, value: &str) -> impl Iterator<Item = Field> {
    let key = key.trim().to_lowercase();
    let short = (2..=MAX_KEY_WORDS).contains(&key.split_whitespace().count())
        && value.split_whitespace().count() <= MAX_VALUE_WORDS;
    let words = if short { WORDS.as_slice() } else { &[] };
    words
        .iter()
        .filter(move |(_, words)| words.split('|').any(|word| has_phrase(&key, word)))
        .map(|(field, _)| *field)
}

/// Headings that say what would be welcome, or what is not needed: "Das wäre schön", "Not essential".
static WELCOME: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(
        r"^(?:(?:it|this|that|das|es|auch|ce|ça|cela|esto|eso)\s+)?(?:would\s+be|wäre|wären|serait|seraient|sería|serían|estaría)\b|\b(?:not|no|nicht|pas)\s+(?:es\s+|strictly\s+|absolutely\s+|unbedingt\s+)?(?:essential|mandatory|required|necessary|needed|a\s+must|zwingend|erforderlich|notwendig|obligatoire|indispensable|imprescindible|obligatorio)\b|\bkein\s+muss\b",
    )
    .expect("a pattern that compiles")
});

/// Headings that begin what a candidate knows or has: "Vous maîtrisez", "Sie können".
static KNOWN: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(
        r"^(?:(?:you|du|sie|ihr|vous|tu)\s+(?:already\s+|also\s+|déjà\s+)?(?:know|can|master|are|kennst|kennen|kannst|können|bist|sind|hast|haben|beherrschst|beherrschen|maîtrisez|maîtrises|connaissez|connais|savez|sais|êtes|es|possédez|possèdes|avez|as)|sabes|conoces|dominas|tienes|aportas|eres)$",
    )
    .expect("a pattern that compiles")
});

/// The longest heading that is read by its form, in bytes.
const MAX_HEADING: usize = 60;

/// Whether a heading in lower case says by its form that what follows is welcome.
pub(super) fn is_welcome(heading: &str) -> bool {
    heading.len() <= MAX_HEADING && WELCOME.is_match(heading)
}

/// Whether a heading in lower case begins a sentence of what a candidate knows.
pub(super) fn is_known(heading: &str) -> bool {
    heading.len() <= MAX_HEADING && KNOWN.is_match(heading.trim_end_matches([':', '…', ' ']))
}
