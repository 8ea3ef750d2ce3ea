//! What a rule looks for.

use pii::Kind;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

/// The longest regular expression of a pack.
const LONGEST_REGEX: usize = 2_000;

/// The compiled size of a regular expression, in bytes.
const REGEX_SIZE: usize = 1 << 20;

/// The most phrases of one condition.
const MOST_PHRASES: usize = 200;

#[derive(Debug)]
pub(super) enum Condition {
    Regex(Regex),
    /// One of these phrases.
    Phrase(Regex),
    /// A heading with one of these names.
    Section(Vec<String>),
    Pii(Vec<Kind>),
    /// Headings or phrases, each after the one before.
    Order(Vec<String>),
    MaxWords(usize, Unit),
    MinWords(usize, Unit),
    /// A date; with phrases, one near them.
    Date(Option<Regex>),
}

/// The part of a text in which words are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unit {
    #[default]
    Text,
    Sentence,
    Paragraph,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCondition {
    #[serde(default)]
    regex: Option<String>,
    #[serde(default)]
    phrase: Option<OneOrMore>,
    #[serde(default)]
    section: Option<OneOrMore>,
    #[serde(default)]
    pii: Option<OneOrMore>,
    #[serde(default)]
    order: Option<Vec<String>>,
    #[serde(default)]
    max_words: Option<usize>,
    #[serde(default)]
    min_words: Option<usize>,
    #[serde(default)]
    date: Option<OneOrMore>,
    /// With `max_words` and `min_words`.
    #[serde(default)]
    per: Option<Unit>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn list(self) -> Result<Vec<String>, String> {
        let list = match self {
            Self::One(text) => vec![text],
            Self::More(list) => list,
        };
        if list.is_empty()
            || list.len() > MOST_PHRASES
            || list.iter().any(|text| text.trim().is_empty())
        {
            return Err(format!("give 1 to {MOST_PHRASES} texts, none of them empty"));
        }
        Ok(list)
    }
}

impl RawCondition {
    pub(super) fn build(self) -> Result<Condition, String> {
        let unit = self.per.unwrap_or_default();
        if self.per.is_some() && self.max_words.is_none() && self.min_words.is_none() {
            return Err("`per` goes with `max_words` or `min_words`".to_owned());
        }
        let mut built: Vec<Result<Condition, String>> = Vec::new();
        built.extend(self.regex.map(|pattern| compile(&pattern).map(Condition::Regex)));
        built.extend(
            self.phrase
                .map(|list| list.list().and_then(|list| phrases(&list)).map(Condition::Phrase)),
        );
        built.extend(self.section.map(|list| {
            Ok(Condition::Section(
                list.list()?.iter().map(|name| name.trim().to_lowercase()).collect(),
            ))
        }));
        built.extend(self.pii.map(|list| kinds(&list.list()?).map(Condition::Pii)));
        built.extend(self.order.map(|list| {
            if !(2..=MOST_PHRASES).contains(&list.len()) {
                Err(format!("`order` names 2 to {MOST_PHRASES} parts"))
            } else {
                Ok(Condition::Order(list))
            }
        }));
        built.extend(self.max_words.map(|count| Ok(Condition::MaxWords(count, unit))));
        built.extend(self.min_words.map(|count| Ok(Condition::MinWords(count, unit))));
        built.extend(self.date.map(|list| {
            let list = list.list()?;
            if list == ["any"] {
                Ok(Condition::Date(None))
            } else {
                phrases(&list).map(|near| Condition::Date(Some(near)))
            }
        }));
        let mut built = built.into_iter();
        match (built.next(), built.next()) {
            (Some(condition), None) => condition,
            (None, _) => Err("give one of `regex`, `phrase`, `section`, `pii`, `order`, `max_words`, `min_words`, `date`".to_owned()),
            (Some(_), Some(_)) => Err("give one condition, not several; write several rules instead".to_owned()),
        }
    }
}

fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > LONGEST_REGEX {
        return Err(format!("the regular expression is longer than {LONGEST_REGEX} characters"));
    }
    RegexBuilder::new(pattern)
        .size_limit(REGEX_SIZE)
        .dfa_size_limit(REGEX_SIZE)
        .nest_limit(50)
        .multi_line(true)
        .build()
        .map_err(|error| {
            format!("the regular expression is not valid: {}", last_line(&error.to_string()))
        })
}

/// The line of the library's message that says what is wrong.
fn last_line(message: &str) -> String {
    message.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned()
}

/// One pattern for all phrases: any case, any white space between words, no characters attached.
fn phrases(list: &[String]) -> Result<Regex, String> {
    let each: Vec<String> = list
        .iter()
        .map(|phrase| phrase.split_whitespace().map(regex::escape).collect::<Vec<_>>().join(r"\s+"))
        .collect();
    RegexBuilder::new(&format!(r"\b(?:{})(?:\b|$)", each.join("|")))
        .case_insensitive(true)
        .size_limit(8 * REGEX_SIZE)
        .build()
        .map_err(|error| format!("the phrases are too long: {}", last_line(&error.to_string())))
}

fn kinds(names: &[String]) -> Result<Vec<Kind>, String> {
    names
        .iter()
        .map(|name| {
            Kind::of(name).ok_or_else(|| {
                let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
                format!("unknown type of personal data `{name}`; known are {}", known.join(", "))
            })
        })
        .collect()
}
