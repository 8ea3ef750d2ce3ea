//! `rerank.results`.

use async_trait::async_trait;
use proto::{Code, Failure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use strip::Job;
use strip::typed::{About, TypedOutput, TypedTool};

use super::features::{Parts, Ranked, rerank};
use super::merge::Candidate;
use crate::search_tool::LIMITS;

const ID: &str = "rerank.results";

const MAX_LISTS: usize = 20;
const MAX_ITEMS: usize = 50;

/// Re-ranks results.
pub struct RerankResults;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[schemars(length(min = 1, max = 2000))]
    query: String,
    /// Ranked lists, the best first.
    #[schemars(length(max = MAX_LISTS), inner(length(max = MAX_ITEMS)))]
    lists: Vec<Vec<Item>>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// `false` only fuses the lists.
    #[serde(default = "yes")]
    features: bool,
}

fn yes() -> bool {
    true
}

/// A result of a search, on the web or in a collection; what it has besides is kept.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Or `snippet`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Such as `2024-05-03`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    published_at: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Output {
    results: Vec<RankedItem>,
    method: Method,
}

/// How the results were ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    Fusion,
    Features,
}

/// A result in its new place.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankedItem {
    #[serde(flatten)]
    item: Item,
    /// From 1.
    rank: usize,
    /// The place after fusion.
    previous_rank: usize,
    score: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parts: Option<Parts>,
}

#[async_trait]
impl TypedTool for RerankResults {
    type Input = Input;
    type Output = Output;

    fn about(&self) -> About {
        let description = "Merges ranked lists and orders the results by relevance, freshness, authority, quality.";
        About {
            limits: LIMITS,
            ..About::reader(ID, "Re-rank results", description).deterministic()
        }
    }

    async fn run(&self, input: Input, _: &Job) -> Result<TypedOutput<Output>, Failure> {
        let ordered = tokio::task::spawn_blocking(move || answer(input));
        let ordered = ordered.await.map_err(|error| {
            Failure::new(Code::Internal, "the results were not ordered").caused_by(error)
        })?;
        Ok(ordered?.into())
    }
}

fn answer(input: Input) -> Result<Output, Failure> {
    let Input { query, lists, limit, features } = input;
    check(&lists)?;
    let candidate = |item: Item| {
        let text = item.text.clone().or_else(|| item.snippet.clone()).unwrap_or_default();
        let meta_text = |name: &str| {
            let meta = item.rest.get("meta")?.get(name)?.as_str()?;
            Some(meta.to_owned())
        };
        let source = item.rest.get("source").and_then(Value::as_str).map(str::to_owned);
        let candidate = Candidate {
            title: item.title.clone().or_else(|| meta_text("title")),
            text,
            url: item.url.clone(),
            source,
            published: item.published_at.clone().or_else(|| meta_text("publishedAt")),
            more: Vec::new(),
        };
        (candidate, item)
    };
    let lists = lists.into_iter().map(|list| list.into_iter().map(candidate).collect()).collect();
    let mut ranked = rerank(&query, lists, features);
    ranked.truncate(limit.unwrap_or(usize::MAX));
    Ok(Output {
        results: ranked.into_iter().map(shown).collect(),
        method: if features { Method::Features } else { Method::Fusion },
    })
}

fn shown(ranked: Ranked<Item>) -> RankedItem {
    let Ranked { candidate, mut item, rank, previous_rank, score, parts } = ranked;
    item.title = candidate.title;
    item.url = candidate.url;
    item.published_at = candidate.published;
    // Its own fields of these names were of another ranking.
    for name in ["rank", "previous_rank", "score", "parts"] {
        item.rest.remove(name);
    }
    RankedItem { item, rank, previous_rank, score, parts }
}

fn check(lists: &[Vec<Item>]) -> Result<(), Failure> {
    let invalid = |path: String, why: &str| {
        Err(Failure::new(Code::InvalidInput, format!("{path}: {why}"))
            .details(json!({"path": path})))
    };
    if lists.len() > MAX_LISTS {
        return invalid("/lists".to_owned(), "has more than 20 lists");
    }
    for (at, list) in lists.iter().enumerate() {
        if list.len() > MAX_ITEMS {
            return invalid(format!("/lists/{at}"), "has more than 50 results");
        }
        if let Some(item) =
            list.iter().position(|item| item.text.is_none() && item.snippet.is_none())
        {
            return invalid(format!("/lists/{at}/{item}"), "has neither `text` nor `snippet`");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
