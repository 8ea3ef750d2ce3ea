//! Judges a text by a pack.

use std::ops::Range;

use pii::{Kind, compiled};

use super::condition::{Condition, Unit};
use super::pack::{Demand, Pack, Rule, Severity};
use super::page::Page;

/// The most places that one finding names.
const MOST_EVIDENCE: usize = 20;

/// The most matches of the empty text before a pattern is given up.
const MOST_EMPTY: usize = 200;

/// How far a date may be from the words that introduce it, in bytes.
const NEAR: usize = 80;

/// The status of a rule.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Satisfied,
    Violated,
    /// The rule cannot be judged on this text; a person must.
    Undecided,
    /// The subject of the rule is not in the text.
    NotApplicable,
}

/// A place of the text, in bytes.
pub type Evidence = Range<usize>;

/// The result of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: String,
    pub title: String,
    pub status: Status,
    pub severity: Severity,
    /// What to do, or why the rule is undecided.
    pub message: String,
    pub evidence: Vec<Evidence>,
    pub reference: Option<String>,
}

/// Whether a condition holds, and where.
enum Truth {
    Holds(Vec<Evidence>),
    Fails(Vec<Evidence>),
    Unknown(String),
}

/// Judges a text by all rules of a pack.
pub fn judge(pack: &Pack, text: &str) -> Vec<Finding> {
    let page = Page::read(text);
    pack.rules.iter().map(|rule| judge_rule(pack, rule, &page)).collect()
}

fn judge_rule(pack: &Pack, rule: &Rule, page: &Page<'_>) -> Finding {
    let (status, message, evidence) = decide(pack, rule, page);
    let mut evidence = evidence;
    evidence.truncate(MOST_EVIDENCE);
    Finding {
        rule: rule.id.clone(),
        title: rule.title.clone(),
        status,
        severity: rule.severity,
        message,
        evidence,
        reference: rule.reference.clone(),
    }
}

fn decide(pack: &Pack, rule: &Rule, page: &Page<'_>) -> (Status, String, Vec<Evidence>) {
    let undecided = |why: String| (Status::Undecided, why, Vec::new());
    let message = || rule.message.clone();
    match rule.when.as_ref().map(|when| evaluate(when, page)) {
        Some(Truth::Fails(_)) => return (Status::NotApplicable, message(), Vec::new()),
        Some(Truth::Unknown(why)) => return undecided(why),
        Some(Truth::Holds(_)) | None => {}
    }
    let condition = match &rule.demand {
        Demand::Require(condition) | Demand::Forbid(condition) => condition,
    };
    if let (Some(expected), Some(found)) = (&pack.language, page.language)
        && expected != found
        && is_worded(condition)
    {
        return undecided(format!(
            "the pack is written for `{expected}`, the text is in `{found}`"
        ));
    }
    match (&rule.demand, evaluate(condition, page)) {
        (_, Truth::Unknown(why)) => undecided(why),
        (Demand::Require(_), Truth::Holds(places)) => (Status::Satisfied, message(), places),
        (Demand::Require(_), Truth::Fails(places)) => (Status::Violated, message(), places),
        (Demand::Forbid(_), Truth::Holds(places)) => (Status::Violated, message(), places),
        (Demand::Forbid(_), Truth::Fails(_)) => (Status::Satisfied, message(), Vec::new()),
    }
}

/// Whether a condition depends on the words of a language.
fn is_worded(condition: &Condition) -> bool {
    matches!(
        condition,
        Condition::Regex(_)
            | Condition::Phrase(_)
            | Condition::Section(_)
            | Condition::Order(_)
            | Condition::Date(Some(_))
    )
}

fn evaluate(condition: &Condition, page: &Page<'_>) -> Truth {
    match condition {
        Condition::Regex(pattern) | Condition::Phrase(pattern) => hits(pattern, page.text),
        Condition::Section(names) => section(names, page),
        Condition::Pii(kinds) => places(
            page.personal_data()
                .iter()
                .filter(|finding| kinds.contains(&finding.kind))
                .map(|finding| finding.start..finding.end),
        ),
        Condition::Order(parts) => order(parts, page),
        Condition::MaxWords(most, unit) => counted(page, *unit, |count| count <= *most),
        Condition::MinWords(least, unit) => counted(page, *unit, |count| count >= *least),
        Condition::Date(near) => date(near.as_ref(), page),
    }
}

/// Where a pattern matches. Each search may read the whole text, so their number is limited: places are, and so are matches
/// of nothing.
fn hits(pattern: &regex::Regex, text: &str) -> Truth {
    let (mut found, mut empty) = (Vec::new(), 0);
    for hit in pattern.find_iter(text) {
        if !hit.is_empty() {
            found.push(hit.range());
        } else {
            empty += 1;
        }
        if found.len() == MOST_EVIDENCE {
            break;
        }
        if empty == MOST_EMPTY && found.is_empty() {
            return Truth::Unknown(
                "the regular expression matches the empty text nearly everywhere; write one that needs a character"
                    .to_owned(),
            );
        }
        if empty == MOST_EMPTY {
            break;
        }
    }
    places(found.into_iter())
}

fn places(found: impl Iterator<Item = Evidence>) -> Truth {
    let places: Vec<Evidence> = found.take(MOST_EVIDENCE).collect();
    if places.is_empty() { Truth::Fails(places) } else { Truth::Holds(places) }
}

fn section(names: &[String], page: &Page<'_>) -> Truth {
    let fits = |title: &str| names.iter().any(|name| title.contains(name.as_str()));
    let found: Vec<Evidence> = page
        .headings
        .iter()
        .filter(|(title, _)| fits(title))
        .map(|(_, place)| place.clone())
        .collect();
    if !found.is_empty() {
        return Truth::Holds(found);
    }
    if page.headings.is_empty() {
        let lower = page.text.to_lowercase();
        if names.iter().any(|name| lower.contains(name.as_str())) {
            return Truth::Unknown(
                "the text has no headings; the words occur, but not as a section".to_owned(),
            );
        }
    }
    Truth::Fails(Vec::new())
}

/// Each part is a heading, or else a phrase of the text, after the one before.
fn order(parts: &[String], page: &Page<'_>) -> Truth {
    let lower = page.text.to_lowercase();
    // Lower case can change lengths; positions are then only good for comparison.
    let exact = lower.len() == page.text.len();
    let mut last: Option<(usize, &String)> = None;
    let mut seen = Vec::new();
    for part in parts {
        let name = part.trim().to_lowercase();
        let heading = page
            .headings
            .iter()
            .find(|(title, _)| title.contains(&name))
            .map(|(_, place)| place.clone());
        let place =
            heading.or_else(|| lower.find(&name).filter(|_| exact).map(|at| at..at + name.len()));
        let Some(place) = place else {
            return Truth::Unknown(format!(
                "`{part}` is not in the text, so the order cannot be judged"
            ));
        };
        if let Some((before, _)) = last
            && place.start < before
        {
            return Truth::Fails(vec![place]);
        }
        last = Some((place.start, part));
        seen.push(place);
    }
    Truth::Holds(seen)
}

/// Whether the words of every unit fit; the evidence are those that do not.
fn counted(page: &Page<'_>, unit: Unit, fits: impl Fn(usize) -> bool) -> Truth {
    let words = |place: &Range<usize>| {
        page.text[place.clone()]
            .split_whitespace()
            .filter(|word| word.chars().any(char::is_alphanumeric))
            .count()
    };
    let units: Vec<Range<usize>> = match unit {
        Unit::Text => std::iter::once(0..page.text.len()).collect(),
        Unit::Sentence => page.sentences().collect(),
        Unit::Paragraph => page.paragraphs().collect(),
    };
    let failing: Vec<Evidence> = units
        .into_iter()
        .filter(|place| {
            let count = words(place);
            count > 0 && !fits(count)
        })
        .take(MOST_EVIDENCE)
        .collect();
    if failing.is_empty() { Truth::Holds(Vec::new()) } else { Truth::Fails(failing) }
}

fn date(near: Option<&regex::Regex>, page: &Page<'_>) -> Truth {
    let dates: Vec<Evidence> = page
        .personal_data()
        .iter()
        .filter(|finding| finding.kind == Kind::DateTime)
        .map(|finding| finding.start..finding.end)
        .collect();
    let Some(near) = near else { return places(dates.into_iter()) };
    let mut introduced = Vec::new();
    let mut named = false;
    for hit in near.find_iter(page.text) {
        named = true;
        let after = dates.partition_point(|date| date.start < hit.end());
        if let Some(date) = dates.get(after).filter(|date| date.start - hit.end() <= NEAR) {
            introduced.push(hit.start()..date.end);
        }
    }
    if introduced.is_empty() && named && relative_date(page.text) {
        return Truth::Unknown("a date is described in words; a person must read it".to_owned());
    }
    places(introduced.into_iter())
}

fn relative_date(text: &str) -> bool {
    static WORDS: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
        compiled(r"(?i)\bdate of (?:signature|signing|the last signature|publication|receipt)\b")
    });
    WORDS.is_match(text)
}
