//! How well a résumé fits a job. Contact data is not read.

mod denied;

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::jobs::Job;
use crate::resumes::{Month, Profile, Timeline};
use crate::skills::{SpanKind, listed_terms, synonyms};
use crate::source::Source;

const MUST: f64 = 0.55;
const NICE: f64 = 0.15;
const YEARS: f64 = 0.15;
const TITLE: f64 = 0.15;

/// What a job is compared with.
#[derive(Clone, Debug, Default)]
pub struct Candidate {
    pub sources: Vec<Source>,
    pub titles: Vec<String>,
    pub months: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Must,
    Nice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Met,
    /// Half of its words or more are there.
    Partial,
    Missing,
}

impl Status {
    fn value(self) -> f64 {
        match self {
            Self::Met => 1.0,
            Self::Partial => 0.5,
            Self::Missing => 0.0,
        }
    }
}

/// Where a requirement is met, in characters; without a place if only the profile is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    pub start: Option<usize>,
    pub end: Option<usize>,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    pub text: String,
    pub kind: Kind,
    pub status: Status,
    pub evidence: Vec<Evidence>,
}

/// A part of the score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    pub name: String,
    /// Its share of the score; the weights of all parts add up to 1.
    pub weight: f64,
    /// From 0 to 1.
    pub value: f64,
    /// The points that it adds to the score.
    pub contribution: f64,
    pub evidence: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct YearsFit {
    pub required: Option<u32>,
    pub found: f64,
}

/// The fit of a candidate, from 0 to 100.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    pub score: f64,
    pub parts: Vec<Part>,
    pub requirements: Vec<Requirement>,
    pub years: YearsFit,
    /// Must-haves that are nowhere in the résumé.
    pub missing_must: Vec<String>,
}

impl Candidate {
    /// The candidate of a profile; its contact data is left out.
    pub fn of_profile(profile: &Profile, today: Month) -> Self {
        let titles: Vec<String> =
            profile.experience.iter().filter_map(|position| position.title.clone()).collect();
        let bullets = profile.experience.iter().flat_map(|position| position.bullets.clone());
        let degrees = profile.education.iter().filter_map(|entry| entry.degree.clone());
        let texts =
            profile.skills.iter().cloned().chain(titles.clone()).chain(bullets).chain(degrees);
        Self {
            sources: texts.map(|text| Source { text, start: None }).collect(),
            months: Timeline::of(&profile.experience, today).months,
            titles,
        }
    }

    /// The candidate of a document: its lines without those of contact data.
    pub fn of_document(text: &str, today: Month) -> Self {
        let profile = crate::resumes::profile(text);
        let sources = crate::resumes::body(text, &profile.contact);
        Self { sources, ..Self::of_profile(&profile, today) }
    }
}

/// Scores a candidate; None if the job states nothing to compare with.
pub fn score(candidate: &Candidate, job: &Job) -> Option<Fit> {
    let lines: Vec<Words> =
        candidate.sources.iter().map(|source| Words::claimed(&source.text)).collect();
    let all = job
        .must
        .iter()
        .map(|text| (text, Kind::Must))
        .chain(job.nice.iter().map(|text| (text, Kind::Nice)));
    let requirements: Vec<Requirement> =
        all.map(|(text, kind)| check(text, kind, candidate, &lines)).collect();
    let found = (f64::from(candidate.months) / 12.0 * 10.0).round() / 10.0;
    let years = YearsFit { required: job.years.and_then(|years| years.min), found };
    let mut parts = Vec::new();
    parts.extend(of_requirements("must", MUST, &requirements, Kind::Must));
    parts.extend(of_requirements("nice", NICE, &requirements, Kind::Nice));
    if let Some(required) = years.required.filter(|required| *required > 0) {
        let value = (f64::from(candidate.months) / 12.0 / f64::from(required)).min(1.0);
        parts.push(part("years", YEARS, value, vec![format!("{found} of {required} years")]));
    }
    if let Some(title) = &job.title {
        let (value, evidence) = best_title(title, &candidate.titles);
        parts.push(part("title", TITLE, value, evidence.into_iter().collect()));
    }
    let total: f64 = parts.iter().map(|part| part.weight).sum();
    if total <= 0.0 {
        return None;
    }
    for part in &mut parts {
        part.weight = round(part.weight / total, 10_000.0);
        part.contribution = round(100.0 * part.weight * part.value, 100.0);
    }
    let score = round(parts.iter().map(|part| part.contribution).sum::<f64>().min(100.0), 100.0);
    let missing = requirements.iter().filter(|requirement| {
        requirement.kind == Kind::Must && requirement.status == Status::Missing
    });
    let missing_must = missing.map(|requirement| requirement.text.clone()).collect();
    Some(Fit { score, parts, requirements, years, missing_must })
}

fn round(number: f64, by: f64) -> f64 {
    (number * by).round() / by
}

fn part(name: &str, weight: f64, value: f64, evidence: Vec<String>) -> Part {
    Part {
        name: name.to_owned(),
        weight,
        value: round(value, 10_000.0),
        contribution: 0.0,
        evidence,
    }
}

fn of_requirements(
    name: &str,
    weight: f64,
    requirements: &[Requirement],
    kind: Kind,
) -> Option<Part> {
    let own: Vec<&Requirement> =
        requirements.iter().filter(|requirement| requirement.kind == kind).collect();
    if own.is_empty() {
        return None;
    }
    let value =
        own.iter().map(|requirement| requirement.status.value()).sum::<f64>() / own.len() as f64;
    let evidence = own
        .iter()
        .filter(|requirement| requirement.status != Status::Missing)
        .map(|requirement| requirement.text.clone());
    Some(part(name, weight, value, evidence.collect()))
}

/// The words of a text, with the place of each in characters.
pub(crate) struct Words {
    words: Vec<Word>,
}

struct Word {
    /// In lower case, without the ending of a plural.
    stem: String,
    start: usize,
    end: usize,
    /// Whether it begins with a capital.
    capital: bool,
    /// Whether a hyphen joins it to another word.
    joined: bool,
}

impl Word {
    /// Whether a word of a phrase is this one. The case of short names counts: "Go" is not the "go" of "go-live".
    fn is(&self, asked: &Self) -> bool {
        let name = asked.capital
            && asked.stem.chars().count() <= 2
            && asked.stem.chars().all(char::is_alphabetic);
        self.stem == asked.stem && (!name || self.capital && !self.joined)
    }
}

impl Words {
    pub(crate) fn of(text: &str) -> Self {
        let mut words: Vec<Word> = Vec::new();
        let mut open = false;
        let mut before = ' ';
        let mut signs = text.chars().enumerate().peekable();
        while let Some((at, sign)) = signs.next() {
            let inside = sign.is_alphanumeric() || open && matches!(sign, '+' | '#');
            if inside && open {
                if let Some(word) = words.last_mut() {
                    word.stem.extend(sign.to_lowercase());
                    word.end = at + 1;
                }
            } else if inside {
                words.push(Word {
                    stem: sign.to_lowercase().collect(),
                    start: at,
                    end: at + 1,
                    capital: sign.is_uppercase(),
                    joined: before == '-',
                });
            } else if open
                && sign == '-'
                && signs.peek().is_some_and(|(_, next)| next.is_alphanumeric())
                && let Some(word) = words.last_mut()
            {
                word.joined = true;
            }
            open = inside;
            before = sign;
        }
        for word in &mut words {
            word.stem = stem(&word.stem);
        }
        Self { words }
    }

    /// The words of a text, but for clauses that deny.
    pub(crate) fn claimed(text: &str) -> Self {
        Self::of(&denied::without(text))
    }

    /// The place of a run of words.
    pub(crate) fn find(&self, phrase: &Self) -> Option<(usize, usize)> {
        let count = phrase.words.len();
        let mut runs = self.words.windows(count.max(1)).filter(|_| count > 0);
        let run = runs.find(|run| run.iter().zip(&phrase.words).all(|(own, word)| own.is(word)))?;
        Some((run.first()?.start, run.last()?.end))
    }

    /// The words in lower case, without the endings of plurals.
    pub(crate) fn stems(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.stem.as_str())
    }

    /// The share of a phrase's words that are here.
    pub(crate) fn share(&self, phrase: &Self) -> f64 {
        let content: Vec<&Word> = phrase.content();
        if content.is_empty() {
            return 0.0;
        }
        let known: HashSet<&str> = self.stems().collect();
        let has = |word: &&&Word| {
            known.contains(word.stem.as_str()) && self.words.iter().any(|own| own.is(word))
        };
        content.iter().filter(has).count() as f64 / content.len() as f64
    }

    /// The words that say what is asked for: neither small ones nor, next to others, those that only say what kind it is.
    fn content(&self) -> Vec<&Word> {
        let words = || self.words.iter().filter(|word| !SMALL.contains(&word.stem.as_str()));
        let named: Vec<&Word> =
            words().filter(|word| !KINDS.contains(&word.stem.as_str())).collect();
        if named.is_empty() { words().collect() } else { named }
    }
}

/// Words for the kind of a requirement and its state: "CCRN certification" asks for CCRN.
const KINDS: [&str; 16] = [
    "certification",
    "certificate",
    "certified",
    "degree",
    "current",
    "valid",
    "active",
    "required",
    "preferred",
    "desired",
    "proven",
    "zertifizierung",
    "zertifikat",
    "abschluss",
    "diplôme",
    "certificación",
];

/// Words that carry no meaning in a requirement.
const SMALL: [&str; 44] = [
    "a",
    "an",
    "and",
    "the",
    "of",
    "in",
    "to",
    "for",
    "with",
    "or",
    "on",
    "at",
    "by",
    "as",
    "your",
    "our",
    "skill",
    "experience",
    "knowledge",
    "good",
    "strong",
    "und",
    "oder",
    "mit",
    "von",
    "der",
    "die",
    "das",
    "et",
    "ou",
    "de",
    "la",
    "le",
    "les",
    "des",
    "y",
    "o",
    "el",
    "en",
    "con",
    "ability",
    "able",
    "year",
    "similar",
];

/// A word without the ending of its plural.
fn stem(word: &str) -> String {
    let word = if matches!(word, "licence" | "licences") { "license" } else { word };
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 3 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

fn check(text: &str, kind: Kind, candidate: &Candidate, lines: &[Words]) -> Requirement {
    let names = std::iter::once(text).chain(synonyms(text));
    let phrases: Vec<Words> = names.map(Words::of).collect();
    let mut requirement =
        Requirement { text: text.to_owned(), kind, status: Status::Missing, evidence: Vec::new() };
    for phrase in &phrases {
        let found = lines
            .iter()
            .zip(&candidate.sources)
            .find_map(|(line, source)| Some((line.find(phrase)?, source)));
        if let Some(((start, end), source)) = found {
            requirement.status = Status::Met;
            requirement.evidence.push(evidence(source, start, end));
            return requirement;
        }
    }
    let names = named_words(text);
    let shares = lines.iter().zip(&candidate.sources).map(|(line, source)| {
        let named = names.words.is_empty() || line.share(&names) > 0.0;
        (if named { line.share(&phrases[0]) } else { 0.0 }, source)
    });
    let best = shares.max_by(|left, right| left.0.total_cmp(&right.0));
    if let Some((share, source)) = best.filter(|(share, _)| *share >= 0.5) {
        requirement.status = if share >= 1.0 { Status::Met } else { Status::Partial };
        requirement.evidence.push(evidence(source, 0, source.text.chars().count()));
    }
    requirement
}

/// The terms and names of a requirement; what has none of them is no part of it.
fn named_words(text: &str) -> Words {
    let terms = listed_terms(text);
    let mut words = Words::of(text);
    let places: Vec<(usize, usize)> = terms
        .iter()
        .filter(|term| term.kind == SpanKind::Knowledge)
        .map(|term| (text[..term.start].chars().count(), text[..term.end].chars().count()))
        .collect();
    let first = words.words.first().map_or(0, |word| word.start);
    words.words.retain(|word| {
        let listed = places.iter().any(|(start, end)| *start <= word.start && word.end <= *end);
        listed || word.capital && word.start > first
    });
    words
}

fn evidence(source: &Source, start: usize, end: usize) -> Evidence {
    let text = source.text.chars().skip(start).take(end - start).collect();
    Evidence {
        start: source.start.map(|from| from + start),
        end: source.start.map(|from| from + end),
        text,
    }
}

/// Words of a title that say a level only.
const LEVELS: [&str; 12] = [
    "junior",
    "senior",
    "lead",
    "principal",
    "graduate",
    "mid",
    "level",
    "trainee",
    "entry",
    "head",
    "sr",
    "jr",
];

/// How near the nearest title of the candidate is: the F1 of their words.
fn best_title(title: &str, titles: &[String]) -> (f64, Option<String>) {
    let words = |title: &str| -> HashSet<String> {
        let words = Words::of(title).words.into_iter().map(|word| word.stem);
        words
            .filter(|word| !LEVELS.contains(&word.as_str()) && !SMALL.contains(&word.as_str()))
            .collect()
    };
    let own = words(title);
    let near = |other: &String| {
        let other = words(other);
        let both = own.intersection(&other).count() as f64;
        if own.len() + other.len() == 0 {
            0.0
        } else {
            2.0 * both / (own.len() + other.len()) as f64
        }
    };
    let scored = titles.iter().map(|title| (near(title), title));
    match scored.max_by(|left, right| left.0.total_cmp(&right.0)) {
        Some((value, title)) if value > 0.0 => (value, Some(title.clone())),
        _ => (0.0, None),
    }
}

#[cfg(test)]
mod tests;
