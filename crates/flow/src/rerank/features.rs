//! Orders results by relevance, freshness, authority and quality of content.

use language::ranking::{Listed, relevance};
use research::scores::{Aging, Scored, score};
use schemars::JsonSchema;
use search::dates::Date;
use serde::Serialize;

use super::merge::{Candidate, Entry, merge};

/// The weight of each part. Relevance decides; the others order results of about equal relevance.
const RELEVANCE: f64 = 0.72;
const AUTHORITY: f64 = 0.08;
const FRESHNESS: f64 = 0.05;
const CONTENT_QUALITY: f64 = 0.15;

/// The weight of freshness for a query that asks for the latest.
const FRESHNESS_ASKED: f64 = 0.15;

/// Words that ask for the latest, in lower case.
const LATEST: [&str; 14] = [
    "latest",
    "newest",
    "current",
    "currently",
    "recent",
    "recently",
    "today",
    "aktuell",
    "aktuelle",
    "neueste",
    "neuesten",
    "actuel",
    "actuelle",
    "recientes",
];

/// The parts of a score, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Parts {
    /// By [`relevance`].
    pub relevance: f64,
    /// By [`research::scores`], like the rest; the newest date of the results counts as today.
    pub freshness: f64,
    pub authority: f64,
    pub content_quality: f64,
}

/// A result in its new place.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<T> {
    pub candidate: Candidate,
    pub item: T,
    /// From 1, like `previous_rank`, the place after fusion.
    pub rank: usize,
    pub previous_rank: usize,
    pub score: f64,
    /// None if the lists were only fused.
    pub parts: Option<Parts>,
}

/// Merges ranked lists, by canonical URL, then by text, and orders the results.
pub fn rerank<T>(query: &str, lists: Vec<Vec<(Candidate, T)>>, features: bool) -> Vec<Ranked<T>> {
    let entry = |(candidate, item)| Entry { candidate, item };
    let lists = lists.into_iter().map(|list| list.into_iter().map(entry).collect()).collect();
    let mut ranked: Vec<Ranked<T>> = merge(lists)
        .into_iter()
        .zip(1..)
        .map(|(fused, place)| Ranked {
            candidate: fused.item.candidate,
            item: fused.item.item,
            rank: place,
            previous_rank: place,
            score: fused.score,
            parts: None,
        })
        .collect();
    if features {
        add_features(query, &mut ranked);
        // Stable: equal scores keep the order of the fusion.
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    for (one, place) in ranked.iter_mut().zip(1..) {
        one.rank = place;
        one.score = round(one.score);
    }
    ranked
}

fn add_features<T>(query: &str, ranked: &mut [Ranked<T>]) {
    let listed: Vec<Listed<'_>> = ranked
        .iter()
        .map(|one| Listed {
            title: one.candidate.title.as_deref(),
            texts: one.candidate.texts().collect(),
        })
        .collect();
    let relevances = relevance(query, &listed);
    let date = |candidate: &Candidate| candidate.published.as_deref().and_then(Date::parse_iso);
    let newest = ranked.iter().filter_map(|one| date(&one.candidate)?.days()).max();
    let aging = Aging::on(newest.unwrap_or_default());
    let asks = query.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let word = word.to_lowercase();
        LATEST.contains(&word.as_str())
    });
    let freshness = if asks { FRESHNESS_ASKED } else { FRESHNESS };
    for (one, relevance) in ranked.iter_mut().zip(relevances) {
        let text = one.candidate.texts().collect::<Vec<_>>().join("\n\n");
        let source = Scored {
            url: one.candidate.address(),
            title: one.candidate.title.as_deref(),
            text: &text,
            author: None,
            date: date(&one.candidate),
        };
        let scores = score(query, &source, aging);
        one.score = RELEVANCE * relevance
            + AUTHORITY * scores.authority
            + freshness * scores.freshness
            + CONTENT_QUALITY * scores.content_quality;
        one.parts = Some(Parts {
            relevance: round(relevance),
            freshness: scores.freshness,
            authority: scores.authority,
            content_quality: scores.content_quality,
        });
    }
}

impl Candidate {
    /// The address by which its authority is judged.
    fn address(&self) -> &str {
        self.url.as_deref().or(self.source.as_deref()).unwrap_or_default()
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.text).chain(&self.more).map(String::as_str)
    }
}

/// Four digits: fused scores begin with 0.0164.
fn round(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests;
