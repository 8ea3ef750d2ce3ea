//! What a search result says about a patent.

use std::sync::LazyLock;

use regex::Regex;
use search::dates;
use search::links::web_url;
use search::providers::Hit;

use super::number::Number;
use crate::tools::Patent;

/// Titles of fewer words, such as `Display device`, are those of many inventions.
const UNIQUE_WORDS: usize = 5;

/// A patent with what its order and family are decided by.
pub(super) struct FoundPatent {
    pub(super) patent: Patent,
    /// The newest date that is known.
    pub(super) date: Option<u64>,
    /// Equal for publications of one invention, as far as a result shows it.
    pub(super) family: String,
}

impl FoundPatent {
    pub(super) fn year(&self) -> Option<u16> {
        dates::year(self.date?)
    }
}

/// Reads a result, unless it is no page of a patent.
pub(super) fn read(hit: Hit, now: u64) -> Option<FoundPatent> {
    let url = web_url(&hit.url)?;
    let mut segments = url.path_segments()?;
    if segments.next() != Some("patent") {
        return None;
    }
    let segment = segments.next()?.to_ascii_uppercase();
    let number = Number::read(&segment)?;
    let title = title(&hit.title, &segment);
    let facts = Facts::read(&hit.snippet);
    let granted = facts.granted.clone();
    let known = [&facts.granted, &facts.filed]
        .into_iter()
        .flatten()
        .filter_map(|date| dates::parse(date, now))
        .max();
    let date = known
        .or_else(|| number.published())
        .or_else(|| dates::parse(hit.published.as_deref()?, now));
    Some(FoundPatent {
        family: family(&title, number),
        date,
        patent: Patent {
            url: format!("https://patents.google.com/patent/{segment}/en"),
            title,
            number: segment,
            summary: Some(hit.snippet).filter(|snippet| !snippet.is_empty()),
            assignee: facts.assignee,
            inventor: facts.inventor,
            filed: facts.filed,
            granted,
        },
    })
}

/// `US10000000B2 - Coherent LADAR - Google Patents` without number and site.
fn title(text: &str, number: &str) -> String {
    let text =
        text.trim_end_matches("- Google Patents").trim_end_matches("| Google Patents").trim();
    let text = text.strip_prefix(number).unwrap_or(text);
    let text = text.trim_start_matches(['-', '–', ':', ' ']).trim_end();
    if text.is_empty() { number.to_owned() } else { text.to_owned() }
}

/// Publications of one invention mostly have one title, which is unique if it is long; else they differ in the kind code
/// only.
fn family(title: &str, number: Number<'_>) -> String {
    let words = title.to_lowercase();
    let words: Vec<_> =
        words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.len() >= UNIQUE_WORDS && !title.ends_with('…') && !title.ends_with("...") {
        return words.join(" ");
    }
    format!("{}{}", number.prefix, number.digits)
}

/// What snippets of patents often say.
#[derive(Default)]
struct Facts {
    assignee: Option<String>,
    inventor: Option<String>,
    filed: Option<String>,
    granted: Option<String>,
}

static ASSIGNEE: LazyLock<Option<Regex>> =
    LazyLock::new(|| fact(r"(?i)\bassignee:?\s+([^;·|]{2,80}?)\s*(?:[;·|]|\.\s|$)"));
static INVENTOR: LazyLock<Option<Regex>> =
    LazyLock::new(|| fact(r"(?i)\binventors?:\s+([^;·|]{2,120}?)\s*(?:[;·|]|\.\s|$)"));
static FILED: LazyLock<Option<Regex>> =
    LazyLock::new(|| fact(r"(?i)\b(?:filed|filing date)\D{0,12}(\d{4}-\d{2}-\d{2})"));
static GRANTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| fact(r"(?i)\b(?:granted|grant date)\D{0,12}(\d{4}-\d{2}-\d{2})"));

fn fact(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

impl Facts {
    fn read(snippet: &str) -> Self {
        let find = |pattern: &Option<Regex>| {
            let found = pattern.as_ref()?.captures(snippet)?.get(1)?;
            Some(found.as_str().trim().to_owned())
        };
        Self {
            assignee: find(&ASSIGNEE),
            inventor: find(&INVENTOR),
            filed: find(&FILED),
            granted: find(&GRANTED),
        }
    }
}

#[cfg(test)]
mod tests;
