//! The word lists: names, places, peoples and English words. `data/LICENCES.md` says where they come from.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Of a word in the list of names.
pub(super) const GIVEN: u8 = 1;
pub(super) const FAMILY: u8 = 2;

static NAMES: LazyLock<HashMap<&'static str, u8>> = LazyLock::new(|| {
    include_str!("../data/names.txt")
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, mark)| (name, mark.parse().unwrap_or(FAMILY)))
        .collect()
});

static CITIES: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("../data/cities.txt").lines().collect());

static COUNTRIES: LazyLock<Countries> = LazyLock::new(|| {
    let mut lists = Countries::default();
    for line in include_str!("../data/countries.txt").lines() {
        let Some((country, peoples)) = line.split_once('|') else { continue };
        lists.countries.insert(country.to_lowercase());
        lists
            .peoples
            .extend(peoples.split(',').filter(|people| !people.is_empty()).map(str::to_lowercase));
    }
    lists.countries.remove("");
    lists
});

#[derive(Default)]
struct Countries {
    countries: HashSet<String>,
    peoples: HashSet<String>,
}

/// Words of English that are written in lower case, without their inflections.
static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    language::english::DICTIONARY
        .lines()
        .filter_map(|line| line.split('/').next())
        .filter(|word| word.starts_with(|c: char| c.is_lowercase()))
        .collect()
});

/// Words of which one makes a run a company or institution.
static COMPANY: LazyLock<HashSet<&str>> = LazyLock::new(|| named("company"));

/// Days that are written with capitals and are no names of people.
static HOLIDAYS: LazyLock<HashSet<&str>> = LazyLock::new(|| named("holiday"));

/// The words of a kind in the file of words.
pub(super) fn named<C: FromIterator<&'static str>>(kind: &str) -> C {
    let rows = include_str!("../data/words.txt").lines();
    rows.filter_map(|row| row.strip_prefix(kind)?.strip_prefix('|'))
        .flat_map(|words| words.split('|'))
        .collect()
}

/// Whether a word in lower case is a given name, a family name, or both.
pub(super) fn name(word: &str) -> u8 {
    if let Some(mark) = NAMES.get(word) {
        return *mark;
    }
    let mut parts = word.split('-');
    match (
        parts.next().and_then(|part| NAMES.get(part)),
        parts.next().and_then(|part| NAMES.get(part)),
    ) {
        (Some(first), Some(second)) => first & second,
        _ => 0,
    }
}

pub(super) fn is_city(phrase: &str) -> bool {
    CITIES.contains(phrase)
}

pub(super) fn is_country(phrase: &str) -> bool {
    COUNTRIES.countries.contains(phrase.strip_prefix("the ").unwrap_or(phrase))
}

/// Whether a word in lower case names a people or a faith, also in the plural.
pub(super) fn is_people(word: &str) -> bool {
    let peoples = &COUNTRIES.peoples;
    peoples.contains(word)
        || word.strip_suffix('s').is_some_and(|one| peoples.contains(one))
        || word.strip_suffix("es").is_some_and(|one| peoples.contains(one))
        || word.strip_suffix("men").is_some_and(|stem| peoples.contains(&format!("{stem}man")))
}

/// Whether a word in lower case is an English word, in one of its usual inflections.
pub(super) fn is_word(word: &str) -> bool {
    let word = word.trim_end_matches("'s").trim_end_matches("’s");
    if WORDS.contains(word) {
        return true;
    }
    ["s", "es", "ed", "d", "ing", "ly", "er", "r", "n't"].iter().any(|ending| {
        word.strip_suffix(ending).is_some_and(|stem| {
            stem.len() > 2
                && (WORDS.contains(stem)
                    || *ending == "ing" && WORDS.contains(format!("{stem}e").as_str())
                    || stem.ends_with('i')
                        && WORDS.contains(format!("{}y", &stem[..stem.len() - 1]).as_str())
                    || doubled(stem).is_some_and(|stem| WORDS.contains(stem)))
        })
    })
}

/// `stopp` of `stopped` without its second consonant.
fn doubled(stem: &str) -> Option<&str> {
    let bytes = stem.as_bytes();
    let [.., a, b] = bytes else { return None };
    (a == b && b.is_ascii_alphabetic()).then(|| &stem[..stem.len() - 1])
}

pub(super) fn is_company_word(word: &str) -> bool {
    COMPANY.contains(word)
}

/// Whether a word in lower case is one of English prose, though some are written with a capital.
pub(super) fn is_prose(word: &str) -> bool {
    is_word(word) || HOLIDAYS.contains(word)
}
