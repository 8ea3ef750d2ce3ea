//! How good a source is, as four scores from 0 to 1 and their weighted mean.
//!
//! - `overall` = 0.35 × relevance + 0.20 × freshness + 0.25 × authority + 0.20 × contentQuality.
//! - `relevance` = 0.5 × (share of the query's words that occur in the text) + 0.2 × (share that occur in the title or a
//!   heading) + 0.2 × (mean over the query's words of *n* / (*n* + 2), where *n* counts a word's occurrences) + 0.1 × (share
//!   of the query's neighbouring words that are next to each other in the text, too; for a query of one word, the first
//!   share). Words are compared by stem, without function words.
//! - `freshness` = 0.5 ^ (age in days / half-life) by the date of publication; 0.5 if no date is known. The half-life is
//!   365 days, for news 30.
//! - `authority` = 0.5, or 0.9 for governments, universities, international bodies (`.gov`, `.mil`, `.edu`, `.int`,
//!   `.ac.xx`, `.gov.xx`, `.edu.xx`), publishers of research and standards; 0.65 for `.org`; 0.3 for hosts on which anyone
//!   publishes; plus 0.05 if the author and 0.05 if the date is named; minus 0.05 without https.
//! - `contentQuality` = 0.4 × min(1, words / 400) + 0.25 × (share of the text in whole sentences) + 0.15 × min(1,
//!   different words / (0.4 × words)) + 0.1 × (has headings, lists, tables or code) + 0.1 × (1 − share of the text in links).

use std::collections::{HashMap, HashSet};

use language::prose::{Prose, sentences};
use search::dates::Date;
use url::Url;

use crate::blocks::{blocks, headings, is_heading};
use crate::tools::QualityScores;

/// Sources below this relevance are dropped by `filter_by_query`.
pub(crate) const LEAST_RELEVANCE: f64 = 0.3;

/// After how many days a source is half as fresh.
pub const HALF_LIFE: f64 = 365.0;
/// After how many days news is half as fresh.
pub const NEWS_HALF_LIFE: f64 = 30.0;

/// Publishers of research, standards and reference works.
const REFERENCES: [&str; 30] = [
    "acm.org",
    "arxiv.org",
    "bbc.co.uk",
    "biorxiv.org",
    "britannica.com",
    "cern.ch",
    "docs.python.org",
    "doi.org",
    "europa.eu",
    "frontiersin.org",
    "ieee.org",
    "ietf.org",
    "iso.org",
    "jstor.org",
    "kernel.org",
    "mdpi.com",
    "medrxiv.org",
    "mozilla.org",
    "nature.com",
    "plos.org",
    "researchgate.net",
    "reuters.com",
    "rfc-editor.org",
    "science.org",
    "sciencedirect.com",
    "semanticscholar.org",
    "springer.com",
    "w3.org",
    "wikipedia.org",
    "wiley.com",
];

/// Hosts on which anyone publishes without an editor.
const OPEN_HOSTS: [&str; 16] = [
    "blogger.com",
    "blogspot.com",
    "facebook.com",
    "github.io",
    "instagram.com",
    "medium.com",
    "neocities.org",
    "pinterest.com",
    "quora.com",
    "reddit.com",
    "substack.com",
    "tiktok.com",
    "tumblr.com",
    "twitter.com",
    "wordpress.com",
    "x.com",
];

/// A source to score.
pub struct Scored<'a> {
    pub url: &'a str,
    pub title: Option<&'a str>,
    /// Markdown or plain text.
    pub text: &'a str,
    pub author: Option<&'a str>,
    pub date: Option<Date>,
}

/// The day of scoring, and how fast sources grow old.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aging {
    /// In days since 1970.
    pub today: i64,
    /// After how many days a source is half as fresh.
    pub half_life: f64,
}

impl Aging {
    /// Sources of any kind: [`HALF_LIFE`].
    pub fn on(today: i64) -> Self {
        Self { today, half_life: HALF_LIFE }
    }

    /// News: [`NEWS_HALF_LIFE`].
    pub fn of_news(today: i64) -> Self {
        Self { today, half_life: NEWS_HALF_LIFE }
    }
}

/// Scores a source for a query.
pub fn score(query: &str, source: &Scored<'_>, aging: Aging) -> QualityScores {
    let relevance = relevance(query, source);
    let freshness = freshness(source.date, aging);
    let authority = authority(source);
    let content_quality = content_quality(source.text);
    let overall = 0.35 * relevance + 0.20 * freshness + 0.25 * authority + 0.20 * content_quality;
    QualityScores {
        overall: round(overall),
        relevance: round(relevance),
        freshness: round(freshness),
        authority: round(authority),
        content_quality: round(content_quality),
    }
}

/// Three digits are more than these formulas can distinguish.
fn round(score: f64) -> f64 {
    (score.clamp(0.0, 1.0) * 1_000.0).round() / 1_000.0
}

fn relevance(query: &str, source: &Scored<'_>) -> f64 {
    let asked = stems(query);
    if asked.is_empty() {
        return 0.5;
    }
    let text = stems(source.text);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for stem in &text {
        *counts.entry(stem).or_default() += 1;
    }
    let mut titles: HashSet<String> =
        source.title.map(stems).unwrap_or_default().into_iter().collect();
    titles.extend(headings(source.text).flat_map(stems));
    let count = |stem: &String| counts.get(stem.as_str()).copied().unwrap_or_default();
    let in_title = |stem: &&String| titles.contains(*stem);
    let all = asked.len() as f64;
    let found = asked.iter().filter(|stem| count(stem) > 0 || in_title(stem)).count() as f64 / all;
    let titled = asked.iter().filter(in_title).count() as f64 / all;
    let often: f64 = asked.iter().map(|stem| count(stem) as f64 / (count(stem) as f64 + 2.0)).sum();
    let pairs: HashSet<(&str, &str)> =
        text.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
    let near = match asked.len() {
        1 => found,
        _ => {
            let kept = asked
                .windows(2)
                .filter(|pair| pairs.contains(&(pair[0].as_str(), pair[1].as_str())));
            kept.count() as f64 / (all - 1.0)
        }
    };
    0.5 * found + 0.2 * titled + 0.2 * often / all + 0.1 * near
}

/// The stems of the words that carry meaning, numbers included; of all words if none does.
fn stems(text: &str) -> Vec<String> {
    let prose = Prose::read(text);
    let kept: Vec<String> =
        prose.terms.iter().filter(|term| !term.stop).map(|term| term.stem.clone()).collect();
    if kept.is_empty() { prose.terms.into_iter().map(|term| term.stem).collect() } else { kept }
}

fn freshness(date: Option<Date>, aging: Aging) -> f64 {
    let Some(days) = date.and_then(Date::days) else { return 0.5 };
    let age = (aging.today - days).max(0) as f64;
    0.5_f64.powf(age / aging.half_life.max(1.0))
}

fn authority(source: &Scored<'_>) -> f64 {
    let url = Url::parse(source.url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let base = match host {
        host if within(host, &REFERENCES) || is_institution(host) => 0.9,
        host if within(host, &OPEN_HOSTS) => 0.3,
        host if host.ends_with(".org") => 0.65,
        _ => 0.5,
    };
    let secure = url.as_ref().is_some_and(|url| url.scheme() == "https");
    let named = |known: bool| if known { 0.05 } else { 0.0 };
    base + named(source.author.is_some()) + named(source.date.is_some())
        - if secure { 0.0 } else { 0.05 }
}

/// Whether a host is one of these domains or below one.
pub(crate) fn within(host: &str, domains: &[&str]) -> bool {
    domains.iter().any(|domain| {
        host.strip_suffix(domain).is_some_and(|front| front.is_empty() || front.ends_with('.'))
    })
}

fn is_institution(host: &str) -> bool {
    let labels: Vec<&str> = host.rsplit('.').collect();
    match &labels[..] {
        ["gov" | "mil" | "edu" | "int", _, ..] => true,
        [country, "ac" | "gov" | "edu" | "gouv" | "go", _, ..] => country.len() == 2,
        _ => false,
    }
}

fn content_quality(text: &str) -> f64 {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    if words.is_empty() {
        return 0.0;
    }
    let count = words.len() as f64;
    let length = (count / 400.0).min(1.0);
    let (mut whole, mut all) = (0, 0);
    for sentence in sentences(text) {
        all += sentence.text.len();
        whole += if sentence.whole { sentence.text.len() } else { 0 };
    }
    let prose = whole as f64 / all.max(1) as f64;
    let different: HashSet<&String> = words.iter().collect();
    let variety = (different.len() as f64 / (0.4 * count)).min(1.0);
    let structured = blocks(text).any(|block| {
        is_heading(block)
            || block.starts_with(['-', '*', '|', '`', '~'])
            || block.starts_with("1. ")
    });
    let structure = if structured { 1.0 } else { 0.0 };
    let links = (link_bytes(text) as f64 / text.len() as f64).min(1.0);
    0.4 * length + 0.25 * prose + 0.15 * variety + 0.1 * structure + 0.1 * (1.0 - links)
}

/// Bytes of Markdown links, text and target.
fn link_bytes(text: &str) -> usize {
    let mut bytes = 0;
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let start = rest[..middle].rfind('[').unwrap_or(middle);
        let end = rest[middle..].find(')').map_or(rest.len(), |end| middle + end + 1);
        bytes += end - start;
        rest = &rest[end..];
    }
    bytes
}

#[cfg(test)]
mod tests;
