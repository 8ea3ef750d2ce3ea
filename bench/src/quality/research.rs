//! nDCG@10 of search and re-ranking over a folder of documents with judged queries.

mod corpus;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ::corpus::document::{DocumentFacts, items};
use ::corpus::{
    CollectionName, CollectionSettings, Collections, Embedder, Filter, Hit, Mode, Search,
};
use anyhow::{Context as _, ensure};
use clap::Args;
use flow::rerank::{self, Candidate};
use language::model::StaticModel;
use proto::Clock;
use serde::{Deserialize, Serialize};
use store::Database;

use self::corpus::{Document, Query, documents, queries};
use super::ndcg::ndcg;
use super::ndcg::rounded;
use super::research_audit;

/// The chunks that a search returns, of which re-ranking makes a list of documents.
const HITS: usize = 50;

/// By how many points re-ranking must beat the search by words.
const LEAST_GAIN: f64 = 3.0;

/// By how many points a figure may be below the committed one.
const TOLERANCE: f64 = 1.0;

const TENANT: &str = "bench";

/// Measure search, re-ranking and the citation audit of research; prints one line of JSON, shares in percent.
#[derive(Debug, Args)]
#[command(after_help = "\
The folder holds documents and `queries.jsonl`, with a line `{\"id\": …, \"query\": …, \"judgements\": {FILE: GRADE}}` for \
each query and grades from 0 to 3, and `audit/` with labelled references and claims.")]
pub(crate) struct Research {
    /// The folder with documents, `queries.jsonl` and `audit/`.
    #[arg(long, value_name = "FOLDER")]
    folder: PathBuf,
    /// A folder with a static embedding model (`model.safetensors`, `tokenizer.json`), for the hybrid search.
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Fail if re-ranking gains too little, or a figure is below the one in `figures.json` of the folder.
    #[arg(long)]
    check: bool,
}

/// Averages over all queries, references and claims, in percent.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figures {
    ndcg10_words: f64,
    /// `null` without a model.
    ndcg10_hybrid: Option<f64>,
    ndcg10_reranked: f64,
    /// `null`, like the other figures of the audit, without `audit/`.
    support_auc: Option<f64>,
    audit_precision: Option<f64>,
    audit_recall: Option<f64>,
}

/// Indexes the folder, searches and re-ranks for every query, and audits the labelled citations.
pub(super) fn measure(asked: &Research) -> anyhow::Result<Figures> {
    let documents = documents(&asked.folder)?;
    let queries = queries(&asked.folder, &documents)?;
    let embedder = asked.model.as_deref().map(embedder).transpose()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let rankings = runtime.block_on(rank(&documents, &queries, embedder))?;
    let audit = research_audit::measure(&asked.folder.join("audit"))?;
    let figures = Figures {
        ndcg10_words: mean(&queries, &rankings.words),
        ndcg10_hybrid: rankings.hybrid.map(|hybrid| mean(&queries, &hybrid)),
        ndcg10_reranked: mean(&queries, &rankings.reranked),
        support_auc: audit.map(|audit| rounded(audit.support_auc)),
        audit_precision: audit.map(|audit| rounded(audit.audit_precision)),
        audit_recall: audit.map(|audit| rounded(audit.audit_recall)),
    };
    if asked.check {
        check(&figures, &committed(&asked.folder)?)?;
    }
    Ok(figures)
}

fn embedder(folder: &Path) -> anyhow::Result<Embedder> {
    Ok(Embedder::of_static(StaticModel::open(folder)?, "bench"))
}

/// The documents found for each query, the best first.
struct Rankings {
    words: Vec<Vec<String>>,
    hybrid: Option<Vec<Vec<String>>>,
    reranked: Vec<Vec<String>>,
}

async fn rank(
    documents: &[Document],
    queries: &[Query],
    embedder: Option<Embedder>,
) -> anyhow::Result<Rankings> {
    let folder = tempfile::tempdir()?;
    let database = Database::open(folder.path()).await?;
    let collections =
        Collections::new(database.clone(), Clock::default(), CollectionSettings::default());
    let hybrid = embedder.is_some();
    collections.set_embedder(embedder);
    let name: CollectionName = "documents".parse().map_err(refused)?;
    for document in documents {
        let items = items(&document.name, &document.text, &DocumentFacts::default(), None);
        collections.replace_source(TENANT, &name, &document.name, items).await.map_err(refused)?;
    }
    let by_name: BTreeMap<&str, &Document> =
        documents.iter().map(|document| (document.name.as_str(), document)).collect();
    let mut found =
        Rankings { words: Vec::new(), hybrid: hybrid.then(Vec::new), reranked: Vec::new() };
    for query in queries {
        let mut search = Search {
            query: query.query.clone(),
            collections: vec![name.clone()],
            limit: HITS,
            filter: Filter::default(),
            mode: Mode::Words,
        };
        let hits = collections.search(TENANT, &search).await.map_err(refused)?.results;
        found.words.push(sources(&hits));
        found.reranked.push(reranked(&query.query, &hits, &by_name));
        if let Some(hybrid) = &mut found.hybrid {
            search.mode = Mode::Hybrid;
            let hits = collections.search(TENANT, &search).await.map_err(refused)?.results;
            hybrid.push(sources(&hits));
        }
    }
    database.close().await;
    Ok(found)
}

/// The documents of chunks, each at the place of its best chunk.
fn sources(hits: &[Hit]) -> Vec<String> {
    first_places(hits.iter().filter_map(|hit| hit.source.clone()))
}

/// The documents of chunks as `rerank.results` orders them.
fn reranked(query: &str, hits: &[Hit], documents: &BTreeMap<&str, &Document>) -> Vec<String> {
    let candidates = hits.iter().filter_map(|hit| {
        let document = documents.get(hit.source.as_deref()?)?;
        let candidate = Candidate {
            title: document.meta.title.clone(),
            text: hit.text.clone(),
            url: document.meta.canonical.clone(),
            source: document.meta.site.clone(),
            published: document.meta.published.clone(),
            more: Vec::new(),
        };
        Some((candidate, document.name.clone()))
    });
    let ranked = rerank::rerank(query, vec![candidates.collect()], true);
    first_places(ranked.into_iter().map(|one| one.item))
}

/// Each name once, where it comes first.
fn first_places(ranked: impl Iterator<Item = String>) -> Vec<String> {
    let mut names = Vec::new();
    for name in ranked {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn refused(failure: proto::Failure) -> anyhow::Error {
    anyhow::Error::msg(failure.to_string())
}

/// The mean nDCG@10 of the rankings, in percent.
fn mean(queries: &[Query], rankings: &[Vec<String>]) -> f64 {
    let scores = queries.iter().zip(rankings).map(|(query, ranked)| {
        let grade = |name: &String| query.judgements.get(name).copied().unwrap_or_default();
        ndcg(ranked.iter().map(grade), query.judgements.values().copied())
    });
    rounded(100.0 * scores.sum::<f64>() / queries.len().max(1) as f64)
}

fn committed(folder: &Path) -> anyhow::Result<Figures> {
    let path = folder.join("figures.json");
    let text =
        fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

/// Fails if re-ranking gains too little, or if a figure has dropped.
fn check(now: &Figures, before: &Figures) -> anyhow::Result<()> {
    let gain = now.ndcg10_reranked - now.ndcg10_words;
    let mut faults = Vec::new();
    if gain < LEAST_GAIN {
        faults.push(format!("re-ranking gains {gain:.2} points; at least {LEAST_GAIN} are needed"));
    }
    let figures = [
        ("ndcg10_words", Some(now.ndcg10_words), Some(before.ndcg10_words)),
        ("ndcg10_hybrid", now.ndcg10_hybrid, before.ndcg10_hybrid),
        ("ndcg10_reranked", Some(now.ndcg10_reranked), Some(before.ndcg10_reranked)),
        ("support_auc", now.support_auc, before.support_auc),
        ("audit_precision", now.audit_precision, before.audit_precision),
        ("audit_recall", now.audit_recall, before.audit_recall),
    ];
    for (name, now, before) in figures {
        if let (Some(now), Some(before)) = (now, before)
            && now < before - TOLERANCE
        {
            faults.push(format!("{name} is {now}; it was {before}"));
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("; "));
    Ok(())
}

#[cfg(test)]
mod tests;
