//! References to the same work.

use std::collections::BTreeMap;

use language::words;

use super::parse::Reference;

/// How many earlier references with the same first author are compared.
const MAX_COMPARED: usize = 50;

/// For each reference the first one of the same work, if it comes earlier.
pub(super) fn find(references: &[Reference]) -> Vec<Option<usize>> {
    let mut by_doi: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_url: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_start: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let works: Vec<Work> = references.iter().map(Work::of).collect();
    let mut found = Vec::with_capacity(references.len());
    for (at, work) in works.iter().enumerate() {
        let doi = work.doi.as_ref().and_then(|doi| by_doi.get(doi).copied());
        let url = work
            .url
            .as_ref()
            .and_then(|url| by_url.get(url).copied())
            .filter(|first| works[*first].may_be(work));
        let same_start = by_start.get(&work.start).filter(|_| !work.start.is_empty());
        let title = same_start.and_then(|earlier| {
            earlier.iter().rev().take(MAX_COMPARED).find(|first| works[**first].is(work)).copied()
        });
        let first = [doi, url, title].into_iter().flatten().min();
        // The first of all is named, also where this is the third.
        let first = first.map(|first| found.get(first).copied().flatten().unwrap_or(first));
        found.push(first);
        if let Some(doi) = &work.doi {
            by_doi.entry(doi.clone()).or_insert(at);
        }
        if let Some(url) = &work.url {
            by_url.entry(url.clone()).or_insert(at);
        }
        by_start.entry(work.start.clone()).or_default().push(at);
    }
    found
}

/// What two references of one work have in common.
struct Work {
    doi: Option<String>,
    url: Option<String>,
    /// The first word of the title that is no article.
    start: String,
    title: Vec<String>,
    family: Option<String>,
    year: Option<String>,
}

impl Work {
    fn of(reference: &Reference) -> Self {
        let parsed = &reference.parsed;
        let title: Vec<String> = parsed
            .title
            .as_deref()
            .map(words::words)
            .unwrap_or_default()
            .into_iter()
            .take(60)
            .collect();
        let start = title
            .iter()
            .find(|word| !matches!(word.as_str(), "the" | "a" | "an"))
            .cloned()
            .unwrap_or_default();
        let url = parsed.url.as_deref().filter(|url| !url.contains("doi.org/")).map(plain_url);
        let family = reference.names.first().map(|name| words::fold(&name.family));
        let year = parsed
            .year
            .as_deref()
            .map(|year| year.trim_end_matches(|c: char| c.is_ascii_lowercase()).to_owned());
        Self {
            doi: parsed.doi.as_deref().map(str::to_lowercase),
            url: url.filter(|url| url.contains('/')),
            start,
            title,
            family,
            year: year.filter(|year| !year.is_empty()),
        }
    }

    /// Whether year and author do not contradict each other.
    fn agrees(&self, other: &Self) -> bool {
        let years = match (&self.year, &other.year) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        let families = match (&self.family, &other.family) {
            (Some(a), Some(b)) => a == b || a.ends_with(b.as_str()) || b.ends_with(a.as_str()),
            _ => true,
        };
        let dois = match (&self.doi, &other.doi) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        years && families && dois
    }

    /// Whether one address may be one work: pages of a site that share an address have other titles.
    fn may_be(&self, other: &Self) -> bool {
        self.agrees(other)
            && (self.title.is_empty() || other.title.is_empty() || self.overlap(other) >= 0.5)
    }

    fn is(&self, other: &Self) -> bool {
        if !self.agrees(other) || self.title.is_empty() || other.title.is_empty() {
            return false;
        }
        let (short, long) =
            if self.title.len() <= other.title.len() { (self, other) } else { (other, self) };
        let prefix = long.title.starts_with(&short.title);
        let known = self.family.is_some()
            && other.family.is_some()
            && self.year.is_some()
            && other.year.is_some();
        // A title without its subtitle is enough if author and year are the same.
        let subtitle = prefix && known && short.title.len() >= 3;
        self.title == other.title && (known || self.title.len() >= 3)
            || subtitle
            || self.overlap(other) >= 0.85 && self.title.len() >= 4
    }

    /// The share of common words.
    fn overlap(&self, other: &Self) -> f64 {
        let common = self.title.iter().filter(|word| other.title.contains(word)).count();
        let all = self.title.len() + other.title.len() - common;
        if all == 0 { 0.0 } else { common as f64 / all as f64 }
    }
}

fn plain_url(url: &str) -> String {
    let url = url.to_lowercase();
    let url = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let url = url.split('#').next().unwrap_or(url);
    url.strip_prefix("www.").unwrap_or(url).trim_end_matches('/').to_owned()
}
