//! How well the texts of a ranked list fit a query, for re-ranking: only the list is known, not the index behind it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Bm25;
use crate::prose::Language;
use crate::stems::{language_of, terms};

/// The most different terms of a query that count.
const MAX_TERMS: usize = 24;
/// Terms of a query that follow each other may have so many terms between them in a text.
const PAIR_GAP: usize = 2;
/// Terms that are farther apart than this have nothing to do with each other.
const FAR: usize = 20;

/// The weights of the parts: place in the list, title, pairs of terms, proximity, BM25, coverage. Measured on
/// `examples/urban-heat`; the ranking hardly moves when they change by a third.
const PLACE: f64 = 0.2;
const TITLE: f64 = 0.25;
const PAIRS: f64 = 0.25;
const PROXIMITY: f64 = 0.1;
const BM25: f64 = 0.1;
const COVERAGE: f64 = 0.1;

/// The weight of a heading within a text, relative to a title.
const HEADING: f64 = 0.6;

/// An item of a ranked list.
#[derive(Clone, Debug, Default)]
pub struct Listed<'a> {
    pub title: Option<&'a str>,
    /// The passages of it that were found; Markdown or plain text.
    pub texts: Vec<&'a str>,
}

/// The relevance of each item, from 0 to 1, in the order of the list, the best first.
///
/// It is a weighted mean of the item's place, the share of the query's terms in its title, the share of neighbouring
/// terms of the query that are close to each other in a passage, their proximity, BM25 among the items, and the share of
/// the query's terms in the best passage. Terms are compared by stem in the item's language, and rare ones count more.
pub fn relevance(query: &str, list: &[Listed<'_>]) -> Vec<f64> {
    let mut queries: BTreeMap<Language, Vec<String>> = BTreeMap::new();
    let items: Vec<Item> = list
        .iter()
        .map(|listed| {
            let language = language_of(&sample(listed));
            queries.entry(language).or_insert_with(|| query_terms(query, language));
            Item::read(listed, language)
        })
        .collect();
    let rarity = Rarity::of(&queries, &items);
    let parts: Vec<Parts> = items
        .iter()
        .enumerate()
        .map(|(at, item)| {
            let place = at as f64;
            let linear = 1.0 - place / items.len() as f64;
            Parts {
                place: 0.5 * linear + 0.5 / (1.0 + 0.1 * place),
                ..item.fit(&queries[&item.language], &rarity)
            }
        })
        .collect();
    let best = parts.iter().map(|parts| parts.bm25).fold(f64::MIN_POSITIVE, f64::max);
    parts
        .iter()
        .map(|parts| {
            PLACE * parts.place
                + TITLE * parts.title
                + PAIRS * parts.pairs
                + PROXIMITY * parts.proximity
                + BM25 * parts.bm25 / best
                + COVERAGE * parts.coverage
        })
        .collect()
}

/// Enough of an item to know its language.
fn sample(listed: &Listed<'_>) -> String {
    let start = |text: &str| text[..text.floor_char_boundary(2_000)].to_owned();
    let title = listed.title.map(start).unwrap_or_default();
    format!("{title} {}", listed.texts.first().map(|text| start(text)).unwrap_or_default())
}

fn query_terms(query: &str, language: Language) -> Vec<String> {
    let mut known = HashSet::new();
    let mut all = terms(query, language);
    all.retain(|term| known.insert(term.clone()));
    all.truncate(MAX_TERMS);
    all
}

#[derive(Default)]
struct Parts {
    place: f64,
    title: f64,
    pairs: f64,
    proximity: f64,
    bm25: f64,
    coverage: f64,
}

struct Item {
    language: Language,
    title: HashSet<String>,
    headings: HashSet<String>,
    texts: Vec<Vec<String>>,
}

impl Item {
    fn read(listed: &Listed<'_>, language: Language) -> Self {
        let of = |text: &str| terms(text, language);
        let headings = listed
            .texts
            .iter()
            .flat_map(|text| text.lines())
            .filter(|line| line.starts_with('#'))
            .flat_map(of)
            .collect();
        Self {
            language,
            title: listed.title.map(of).unwrap_or_default().into_iter().collect(),
            headings,
            texts: listed.texts.iter().map(|text| of(text)).collect(),
        }
    }

    fn fit(&self, query: &[String], rarity: &Rarity) -> Parts {
        let total: f64 = query.iter().map(|term| rarity.idf(term)).sum();
        let share = |has: &dyn Fn(&String) -> bool| {
            let held: f64 =
                query.iter().filter(|term| has(term)).map(|term| rarity.idf(term)).sum();
            if total > 0.0 { held / total } else { 0.0 }
        };
        let title = share(&|term| self.title.contains(term));
        let heading = share(&|term| self.title.contains(term) || self.headings.contains(term));
        let mut parts = Parts { title: title.max(HEADING * heading), ..Parts::default() };
        let mut close = HashSet::new();
        for text in &self.texts {
            let places = places(query, text);
            let bm25 = rarity.bm25(query, &places, text.len());
            parts.bm25 = parts.bm25.max(bm25);
            let held = |term: &String| {
                self.title.contains(term)
                    || query
                        .iter()
                        .position(|one| one == term)
                        .is_some_and(|at| !places[at].is_empty())
            };
            parts.coverage = parts.coverage.max(share(&held));
            let (mut near, mut all) = (0.0, 0.0);
            for (a, first) in places.iter().enumerate() {
                for (b, second) in places.iter().enumerate().skip(a + 1) {
                    let weight = rarity.idf(&query[a]).min(rarity.idf(&query[b]));
                    all += weight;
                    let Some(gap) = least_gap(first, second) else { continue };
                    if gap <= FAR {
                        near += weight / (1.0 + gap as f64 / 4.0);
                    }
                    if b == a + 1 && follows(first, second) {
                        close.insert(a);
                    }
                }
            }
            if all > 0.0 {
                parts.proximity = parts.proximity.max(near / all);
            }
        }
        if query.len() > 1 {
            parts.pairs = close.len() as f64 / (query.len() - 1) as f64;
        } else {
            (parts.pairs, parts.proximity) = (parts.coverage, parts.coverage);
        }
        parts
    }
}

/// Where a text has each term of the query.
fn places(query: &[String], text: &[String]) -> Vec<Vec<usize>> {
    let index: HashMap<&str, usize> =
        query.iter().enumerate().map(|(at, term)| (term.as_str(), at)).collect();
    let mut places = vec![Vec::new(); query.len()];
    for (place, term) in text.iter().enumerate() {
        if let Some(&at) = index.get(term.as_str()) {
            places[at].push(place);
        }
    }
    places
}

/// How many terms are between the closest places of two lists.
fn least_gap(a: &[usize], b: &[usize]) -> Option<usize> {
    let (mut i, mut j) = (0, 0);
    let mut least = None;
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        let gap = x.abs_diff(y).saturating_sub(1);
        least = Some(least.map_or(gap, |least: usize| least.min(gap)));
        if x < y {
            i += 1;
        } else {
            j += 1;
        }
    }
    least
}

/// Whether a place of the second list follows one of the first closely.
fn follows(first: &[usize], second: &[usize]) -> bool {
    first.iter().any(|&place| {
        let next = second.partition_point(|&other| other <= place);
        second.get(next).is_some_and(|&other| other - place <= PAIR_GAP + 1)
    })
}

/// How rare the query's terms are among the items.
struct Rarity {
    idf: HashMap<String, f64>,
    average: f64,
}

impl Rarity {
    fn of(queries: &BTreeMap<Language, Vec<String>>, items: &[Item]) -> Self {
        let asked: HashSet<&str> = queries.values().flatten().map(String::as_str).collect();
        let mut df: HashMap<&str, u64> = asked.iter().map(|term| (*term, 0)).collect();
        let (mut texts, mut length) = (0u64, 0u64);
        for item in items {
            let mut held: HashSet<&str> = HashSet::new();
            let terms = item.title.iter().chain(item.texts.iter().flatten());
            held.extend(terms.map(String::as_str).filter(|term| asked.contains(term)));
            for term in held {
                *df.entry(term).or_default() += 1;
            }
            texts += item.texts.len() as u64;
            length += item.texts.iter().map(|text| text.len() as u64).sum::<u64>();
        }
        let bm25 = Bm25::default();
        let idf =
            df.into_iter().map(|(term, df)| (term.to_owned(), bm25.idf(items.len() as u64, df)));
        Self { idf: idf.collect(), average: length as f64 / texts.max(1) as f64 }
    }

    fn idf(&self, term: &str) -> f64 {
        self.idf.get(term).copied().unwrap_or_default()
    }

    fn bm25(&self, query: &[String], places: &[Vec<usize>], length: usize) -> f64 {
        let bm25 = Bm25::default();
        let weight = |(term, places): (&String, &Vec<usize>)| {
            self.idf(term) * bm25.weight(places.len() as f64, length as f64, self.average)
        };
        query.iter().zip(places).map(weight).sum()
    }
}

#[cfg(test)]
mod tests;
