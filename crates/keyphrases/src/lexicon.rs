//! Common English words: how each is mostly used, and how rare it is.

use std::collections::HashMap;
use std::sync::LazyLock;

const TABLE: &str = include_str!("../data/en.txt");

/// The rarity of a word that the table does not have.
pub(crate) const RAREST: f64 = 6.0;

/// How a word is mostly used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Noun,
    Adjective,
    /// In the present, or its base form.
    Verb,
    /// `took`.
    Past,
    /// `taken`.
    Participle,
    /// `taking`.
    Gerund,
    /// Adverbs, comparatives, and others that are in no name of a thing.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) usage: Use,
    /// From 0 for the most common words to [`RAREST`]: powers of ten.
    pub(crate) rarity: f64,
}

static WORDS: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for line in TABLE.lines() {
        let mut parts = line.split(' ');
        let Some(entry) = parts.next().and_then(entry) else { continue };
        words.extend(parts.map(|word| (word, entry)));
    }
    words
});

/// `N9`: a noun, 10⁴·⁵ times in 10⁹ words.
fn entry(code: &str) -> Option<Entry> {
    let usage = match code.chars().next()? {
        'N' => Use::Noun,
        'J' => Use::Adjective,
        'V' => Use::Verb,
        'D' => Use::Past,
        'P' => Use::Participle,
        'G' => Use::Gerund,
        'R' => Use::Other,
        _ => return None,
    };
    let common: f64 = code[1..].parse().ok()?;
    Some(Entry { usage, rarity: 7.0 - common / 2.0 })
}

/// Endings that say how a word is used, the first that fits.
const ENDINGS: [(&str, Use); 21] = [
    ("ly", Use::Other),
    ("ness", Use::Noun),
    ("tion", Use::Noun),
    ("ment", Use::Noun),
    ("ity", Use::Noun),
    ("ism", Use::Noun),
    ("ous", Use::Adjective),
    ("ful", Use::Adjective),
    ("ive", Use::Adjective),
    ("able", Use::Adjective),
    ("ible", Use::Adjective),
    ("ic", Use::Adjective),
    ("al", Use::Adjective),
    ("less", Use::Adjective),
    ("ary", Use::Adjective),
    ("ed", Use::Participle),
    ("ing", Use::Gerund),
    ("ise", Use::Verb),
    ("ize", Use::Verb),
    ("ises", Use::Verb),
    ("izes", Use::Verb),
];

/// The entry of a folded word, if the table has it.
pub(crate) fn known(word: &str) -> Option<Entry> {
    WORDS.get(word).copied()
}

/// Whether a noun or an adjective has the forms of a verb, such as `focus` and `focused`.
pub(crate) fn is_also_verb(word: &str) -> bool {
    let form = match word.strip_suffix('e') {
        Some(_) => format!("{word}d"),
        None => format!("{word}ed"),
    };
    known(&form).is_some()
}

/// The entry of a folded word, guessed by its ending if the table does not have it.
pub(crate) fn look_up(word: &str) -> Entry {
    if let Some(entry) = known(word) {
        return entry;
    }
    let parts = || word.split(['-', '\u{2010}']).filter(|part| !part.is_empty());
    if parts().nth(1).is_some() {
        // `real-time`, `rule-based`: as rare as its rarest part, and an adjective if it ends as one.
        let last = parts().next_back().map_or(Use::Noun, |last| look_up(last).usage);
        let usage = match last {
            Use::Noun | Use::Verb | Use::Other => Use::Noun,
            _ => Use::Adjective,
        };
        let rarity = parts().map(|part| known(part).map_or(RAREST, |entry| entry.rarity));
        return Entry { usage, rarity: rarity.fold(0.0, f64::max) };
    }
    let usage = ENDINGS.iter().find(|(ending, _)| word.ends_with(ending));
    Entry { usage: usage.map_or(Use::Noun, |(_, usage)| *usage), rarity: RAREST }
}
