//! Ages of people.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use regex::Regex;

use super::network::regex;
use super::surroundings::{Surroundings, floor};
use super::{Finding, Kind};

/// The number is the group; the words around it say that it is an age.
static ENGLISH: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    [
        regex(
            r"(?i)\b(1?\d{1,2})(?:\s*|-)(?:years?|yrs?|months?)(?:\s+|-)(?:olds?|of age|young)\b",
        ),
        regex(r"(?i)\b(1?\d{1,2})\s*(?:y/?o|yo)\b"),
        regex(
            r"(?i)\b(?:aged?|alter:|edad:|età:|idade:|turn(?:s|ed|ing)?|age\s+(?:of|is|was)|ages)\s*:?\s*(?:just\s+)?(1?\d{1,2})\b",
        ),
        regex(
            r"(?i)\b(?:i'm|i am|he is|he's|she is|she's|who is|is now|was only)\s+(?:only\s+|just\s+|now\s+|already\s+)?(\d{1,2})(?:\s+(?:and|but|now|today|years)\b|\s*[.,!?;]|\s*$)",
        ),
    ]
});

static FOREIGN: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    [
        // German, Dutch and Swedish say that years are an age.
        regex(
            r"(?i)\b(1?\d{1,2})(?:\s*|-)(?:jahre\s+(?:alt|jung)|jährige[rnsm]?|jaar\s+oud|år\s+(?:gammal|gammel))",
        ),
        // In French, Spanish, Italian and Portuguese people have years; `il y a 10 ans` is no age.
        regex(
            r"(?i)\b(?:j['’]ai|il a|elle a|qui a|avait|aura|fête ses|tengo|tiene|tenía|tienen|cumple|cumplió|cumplo|ho|ha|aveva|compie|tem|tenho|tinha|fez|completou)\s+(1?\d{1,2})\s+(?:ans|años|anni|anos)\b",
        ),
        regex(
            r"(?i)(?:âgée?s? de|\balter von|\bedad de|\bidade de|\bà l['’]âge de|\betà di)\s+(1?\d{1,2})\b",
        ),
    ]
});

/// Parts of the words in the foreign patterns, found much faster than these.
static FOREIGN_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words = [
        "jahr", "jähr", "jaar", "år ", " ans", "años", "anni", "anos", "âg", "alter", "edad",
        "idade", "età",
    ];
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .build(words)
        .expect("the words are few and short")
});

/// What is between a name and an age: `Anna Weber, 38,`, `Anna Weber (38)`, `Anna is 38.`
static AFTER_NAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:,\s+(?:aged\s+)?|\s+(?:is|was|turns|turned)\s+(?:now\s+|only\s+)?)(\d{2})(?:,\s+\p{Ll}|\s*[.;!?](?:\s|$)|\s+and\s+\p{Ll}|\s*$)|^\s+\((\d{2})\)",
    )
});

/// How many bytes after a name are read for an age.
const AFTER: usize = 32;

/// Ages directly after the names of people.
pub(super) fn after_names(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    let ages: Vec<Finding> = found
        .iter()
        .filter(|finding| finding.kind == Kind::Person)
        .filter_map(|person| {
            let to = floor(around.text, (person.end + AFTER).min(around.text.len()));
            let after = &around.text[person.end..to];
            if !after.contains(|c: char| c.is_ascii_digit()) {
                return None;
            }
            let hit = AFTER_NAME.captures(after)?;
            let age = hit.get(1).or_else(|| hit.get(2))?;
            let place = person.end + age.start()..person.end + age.end();
            Some(Finding::new(Kind::Age, place, 0.7, "number after a name"))
        })
        .collect();
    found.extend(ages);
}

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    let foreign: &[Regex] = if FOREIGN_WORDS.is_match(around.text) { &*FOREIGN } else { &[] };
    for (index, pattern) in ENGLISH.iter().chain(foreign).enumerate() {
        for hit in pattern.captures_iter(around.text) {
            let Some(age) = hit.get(1) else { continue };
            let fits = age.as_str().parse::<u32>().is_ok_and(|years| (1..=120).contains(&years));
            let attached =
                around.char_after(age.end()).is_some_and(|c| matches!(c, '%' | '/' | ':'))
                    && !hit[0].to_lowercase().contains("y/o");
            if fits && !attached {
                let confidence = if index < 2 || index == 4 { 0.9 } else { 0.75 };
                found.push(Finding::new(
                    Kind::Age,
                    age.range(),
                    confidence,
                    "number that words call an age",
                ));
            }
        }
    }
}
