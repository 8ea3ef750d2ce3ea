//! Recall and nDCG of tool search over a set of requests.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use language::model::StaticModel;
use language::tools::{ToolIndex, ToolText};
use serde::{Deserialize, Serialize};

use super::ToolRetrieval;
use super::json_lines::lines;
use super::ndcg::{DEPTH, rounded};
use crate::stats::percentile;

#[derive(Debug, Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: BTreeMap<String, Parameter>,
}

#[derive(Debug, Deserialize)]
struct Parameter {
    #[serde(default)]
    description: String,
}

#[derive(Debug, Deserialize)]
struct Request {
    query: String,
    relevant: Vec<String>,
}

/// Averages over all requests, in percent.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    recall1: f64,
    recall5: f64,
    recall10: f64,
    ndcg10: f64,
    queries: usize,
    tools: usize,
    p50_us: f64,
    p99_us: f64,
    build_ms: f64,
}

/// Builds the index and searches for every request.
pub(super) fn measure(asked: &ToolRetrieval) -> anyhow::Result<Figures> {
    let tools: Vec<Tool> = lines(&asked.tools)?;
    let requests: Vec<Request> = lines(&asked.queries)?;
    ensure!(!requests.is_empty(), "{} has no queries", asked.queries.display());
    let model = asked.model.as_deref().map(StaticModel::open).transpose()?.map(Arc::new);

    let start = Instant::now();
    let index = index(&tools, model);
    let build_ms = millis(start);
    let mut spent = Vec::with_capacity(requests.len());
    let mut totals = [0.0; 4];
    for Request { query, relevant } in &requests {
        let start = Instant::now();
        let hits = index.search(query, DEPTH);
        spent.push(millis(start) * 1000.0);
        let ranked: Vec<&str> = hits.iter().map(|hit| tools[hit.index].name.as_str()).collect();
        let relevant: HashSet<&str> = relevant.iter().map(String::as_str).collect();
        let scores = [
            recall(&ranked, &relevant, 1),
            recall(&ranked, &relevant, 5),
            recall(&ranked, &relevant, 10),
        ];
        for (sum, score) in
            totals.iter_mut().zip(scores.into_iter().chain([ndcg(&ranked, &relevant)]))
        {
            *sum += score;
        }
    }
    let [recall1, recall5, recall10, ndcg10] =
        totals.map(|sum| rounded(100.0 * sum / requests.len() as f64));
    Ok(Figures {
        recall1,
        recall5,
        recall10,
        ndcg10,
        queries: requests.len(),
        tools: tools.len(),
        p50_us: rounded(percentile(&mut spent, 50.0)),
        p99_us: rounded(percentile(&mut spent, 99.0)),
        build_ms: rounded(build_ms),
    })
}

fn index(tools: &[Tool], model: Option<Arc<StaticModel>>) -> ToolIndex {
    let parameters: Vec<Vec<(&str, &str)>> = tools
        .iter()
        .map(|tool| {
            tool.parameters
                .iter()
                .map(|(name, about)| (name.as_str(), about.description.as_str()))
                .collect()
        })
        .collect();
    let texts: Vec<ToolText<'_>> = tools
        .iter()
        .zip(&parameters)
        .map(|(tool, parameters)| ToolText {
            name: &tool.name,
            title: &tool.title,
            description: &tool.description,
            parameters,
        })
        .collect();
    ToolIndex::build(&texts, model)
}

/// The share of the relevant tools among the first `k`; a request that needs none has nothing to miss.
fn recall(ranked: &[&str], relevant: &HashSet<&str>, k: usize) -> f64 {
    let found = ranked.iter().take(k).filter(|name| relevant.contains(*name)).count();
    if relevant.is_empty() { 1.0 } else { found as f64 / relevant.len() as f64 }
}

/// A tool is relevant or not.
fn ndcg(ranked: &[&str], relevant: &HashSet<&str>) -> f64 {
    let grades = ranked.iter().map(|name| u8::from(relevant.contains(name)));
    super::ndcg::ndcg(grades, relevant.iter().map(|_| 1))
}

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests;
