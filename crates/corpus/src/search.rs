//! Searching collections.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use language::ranking::cosine;
use proto::{Code, Failure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{ChunkContent, ChunkFilter, ChunkTerms, CollectionRow};
use tokio::task::spawn_blocking;

use super::embedder::Embedder;
use super::rank::{Fit, QueryWords, Totals, rounded, scores};
use super::{
    CollectionName, Collections, MAX_VECTORS, NO_MODEL, embed_command, joined, matrix, other_model,
    terms, too_many_vectors, unreadable,
};

/// The most candidates that each engine returns for a collection.
const CANDIDATES: usize = 200;

/// The most results of a search.
pub const MAX_LIMIT: usize = 100;

/// The longest query, in code points.
pub const MAX_QUERY_CHARS: usize = 2_000;

/// From so many chunks on, words that a quarter of them have do not make a candidate if rarer ones do.
const LARGE: u64 = 2_000;

/// Which parts of a collection are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Words and vectors.
    #[default]
    Hybrid,
    Words,
    Vectors,
}

/// A search in collections of a tenant.
#[derive(Clone, Debug)]
pub struct Search {
    pub query: String,
    pub collections: Vec<CollectionName>,
    /// 1 to 100.
    pub limit: usize,
    pub filter: Filter,
    pub mode: Mode,
}

/// Which chunks count.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Up to 8 keys with the values that they must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

/// The results of a search.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SearchResults {
    pub results: Vec<Hit>,
    /// The parts that were searched.
    pub mode: Mode,
    /// The revision of each collection.
    pub revisions: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A chunk that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// From 1 on.
    pub rank: usize,
    pub id: String,
    pub collection: String,
    pub text: String,
    pub score: f64,
    pub parts: Parts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub source: Option<String>,
    pub meta: Map<String, Value>,
}

/// What a score is made of; a part that was not searched is left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parts {
    /// BM25 as a share of the most that the query can reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub words: Option<f64>,
    /// The cosine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub vectors: Option<f64>,
}

/// A candidate of a collection.
struct Candidate<'a> {
    collection: &'a CollectionRow,
    chunk: ChunkTerms,
    fit: Fit,
}

/// The parts that a search uses, and its warnings.
struct Plan {
    words: bool,
    /// The query's vector; none where the text has none.
    vector: Option<Vec<f32>>,
    mode: Mode,
    warnings: Vec<String>,
}

impl Collections {
    /// The chunks that fit a query best.
    pub async fn search(&self, tenant: &str, search: &Search) -> Result<SearchResults, Failure> {
        let mut rows = Vec::new();
        for name in search.collections.iter().collect::<BTreeSet<_>>() {
            match self.row(tenant, name).await {
                Ok(row) => rows.push(row),
                // A run that could read nothing has no collection yet.
                Err(missing) if missing.code == Code::NotFound && name.is_of_run() => {}
                Err(failure) => return Err(failure),
            }
        }
        let Plan { words, vector, mode, mut warnings } = self.plan(search, &rows).await?;
        let filter = ChunkFilter {
            source: search.filter.source.as_deref(),
            meta: search.filter.meta.as_ref(),
        };
        let (query, counts) = self.query_words(search, &rows).await?;
        let mut candidates = Vec::new();
        for (row, counts) in rows.iter().zip(&counts) {
            let mut seqs = BTreeSet::new();
            if words {
                seqs.extend(self.by_words(row, &query, counts, filter).await?);
            }
            if let Some(vector) = &vector {
                seqs.extend(self.by_vector(row, vector, filter).await?);
            }
            let seqs: Vec<_> = seqs.into_iter().collect();
            if seqs.is_empty() {
                continue;
            }
            let texts = self.texts_for_names(&seqs, words && query.has_names()).await?;
            let chunks = self.database.chunk_terms(&seqs, vector.is_some()).await;
            for chunk in chunks.map_err(unreadable)? {
                let text = texts.get(&chunk.seq).map_or("", String::as_str);
                let fit = fit(&chunk, text, words.then_some(&query), vector.as_deref());
                candidates.push(Candidate { collection: row, chunk, fit });
            }
        }
        let ranked = order(candidates, search.limit.clamp(1, MAX_LIMIT));
        let results = self.fetch(ranked).await?;
        if results.is_empty() && words && query_is_empty(search) {
            warnings.push("the query has no words that are searched".to_owned());
        }
        let revisions = rows.into_iter().map(|row| (row.name, row.revision)).collect();
        Ok(SearchResults { results, mode, revisions, warnings })
    }

    /// Decides whether words, vectors or both can be searched.
    async fn plan(&self, search: &Search, rows: &[CollectionRow]) -> Result<Plan, Failure> {
        let words = |warnings| Plan { words: true, vector: None, mode: Mode::Words, warnings };
        if search.mode == Mode::Words {
            return Ok(words(Vec::new()));
        }
        let hybrid = search.mode == Mode::Hybrid;
        let embedder = match self.embedder.get().await {
            Ok(Some(embedder)) => embedder,
            Ok(None) if hybrid => return Ok(words(vec![only_words(NO_MODEL)])),
            Ok(None) => return Err(Failure::new(Code::Unsupported, NO_MODEL)),
            Err(failure) if hybrid => return Ok(words(vec![only_words(&failure.message)])),
            Err(failure) => return Err(failure),
        };
        let mut warnings = Vec::new();
        let mut with_vectors = false;
        for row in rows {
            warnings.extend(check_vectors(search.mode, row, &embedder)?);
            with_vectors |= row.vectors > 0;
        }
        let vector = match embedder.embed(vec![search.query.clone()]).await {
            Ok(vectors) => vectors.into_iter().next().flatten(),
            Err(failure) if hybrid => {
                warnings.push(only_words(&failure.message));
                return Ok(words(warnings));
            }
            Err(failure) => return Err(failure),
        };
        if vector.is_none() {
            warnings.push("the model for vectors knows no word of the query".to_owned());
        }
        if hybrid && (!with_vectors || vector.is_none()) {
            return Ok(words(warnings));
        }
        Ok(Plan { words: hybrid, vector, mode: search.mode, warnings })
    }

    /// The terms of the query with their weights, and how many chunks of each collection have them.
    async fn query_words(
        &self,
        search: &Search,
        rows: &[CollectionRow],
    ) -> Result<(QueryWords, Vec<HashMap<String, u64>>), Failure> {
        let languages: BTreeSet<_> =
            rows.iter().flat_map(|row| row.languages.iter().map(String::as_str)).collect();
        let terms_of = |query: &str| terms::of_query(query, languages.iter().copied());
        let terms = terms_of(&search.query);
        let mut counts = Vec::with_capacity(rows.len());
        let mut frequencies: HashMap<String, u64> = HashMap::new();
        let mut totals = Totals::default();
        for row in rows {
            let own = self.database.term_counts(row.seq, &terms).await.map_err(unreadable)?;
            for (term, df) in &own {
                *frequencies.entry(term.clone()).or_default() += df;
            }
            totals.chunks += row.chunks;
            totals.words += row.words;
            counts.push(own);
        }
        let names = joined::names(&search.query).into_iter().map(|name| {
            let words = terms_of(&name);
            (name, words)
        });
        Ok((QueryWords::new(totals, &frequencies).with_names(names), counts))
    }

    /// The texts of candidates, which only names need.
    async fn texts_for_names(
        &self,
        seqs: &[i64],
        needed: bool,
    ) -> Result<HashMap<i64, String>, Failure> {
        if !needed {
            return Ok(HashMap::new());
        }
        let contents = self.database.chunk_contents(seqs).await.map_err(unreadable)?;
        Ok(contents.into_iter().map(|content| (content.seq, content.text)).collect())
    }

    async fn by_words(
        &self,
        row: &CollectionRow,
        query: &QueryWords,
        counts: &HashMap<String, u64>,
        filter: ChunkFilter<'_>,
    ) -> Result<Vec<i64>, Failure> {
        let mut terms = query.for_engine(counts);
        let rare = |term: &str| counts.get(term).is_some_and(|df| df * 4 <= row.chunks);
        if row.chunks >= LARGE && terms.iter().any(|(term, _)| rare(term)) {
            terms.retain(|(term, _)| rare(term));
        }
        let found =
            self.database.chunks_with_terms(row.seq, &terms, filter, CANDIDATES as u32).await;
        found.map_err(unreadable)
    }

    async fn by_vector(
        &self,
        row: &CollectionRow,
        vector: &[f32],
        filter: ChunkFilter<'_>,
    ) -> Result<Vec<i64>, Failure> {
        if row.vectors == 0 {
            return Ok(Vec::new());
        }
        let memory = self.settings().memory;
        let matrix = self.matrices.of(&self.database, row, memory).await.map_err(unreadable)?;
        let among = if filter.is_empty() {
            None
        } else {
            Some(self.database.filtered_chunks(row.seq, filter).await.map_err(unreadable)?)
        };
        let vector = vector.to_vec();
        let scan = move || matrix.nearest(&vector, CANDIDATES, among.as_deref());
        spawn_blocking(scan).await.map_err(|error| {
            Failure::new(Code::Internal, "the vectors could not be searched").caused_by(error)
        })
    }

    /// The text of ranked candidates.
    async fn fetch(&self, ranked: Vec<(Candidate<'_>, f64)>) -> Result<Vec<Hit>, Failure> {
        if ranked.is_empty() {
            return Ok(Vec::new());
        }
        let seqs: Vec<_> = ranked.iter().map(|(candidate, _)| candidate.chunk.seq).collect();
        let contents = self.database.chunk_contents(&seqs).await.map_err(unreadable)?;
        let mut contents: HashMap<_, _> =
            contents.into_iter().map(|content| (content.seq, content)).collect();
        let mut hits = Vec::with_capacity(ranked.len());
        for (Candidate { collection, chunk, fit }, score) in ranked {
            // It may have been deleted meanwhile.
            let Some(ChunkContent { id, text, meta, source, .. }) = contents.remove(&chunk.seq)
            else {
                continue;
            };
            hits.push(Hit {
                rank: hits.len() + 1,
                id,
                collection: collection.name.clone(),
                text,
                score,
                parts: Parts { words: fit.words, vectors: fit.vectors },
                source,
                meta,
            });
        }
        Ok(hits)
    }
}

/// Whether a collection can be searched by the embedder's vectors, or what a caller should know.
fn check_vectors(
    mode: Mode,
    row: &CollectionRow,
    embedder: &Embedder,
) -> Result<Option<String>, Failure> {
    let embed = embed_command(&row.name);
    match &row.model {
        Some(model) if model != embedder.about() => {
            Err(other_model(&row.name, &model.name, &embedder.about().name))
        }
        Some(_) if row.vectors > MAX_VECTORS => Err(too_many_vectors(&row.name, row.vectors)),
        Some(_) if row.vectors == row.chunks => Ok(None),
        None if row.chunks == 0 => Ok(None),
        None if mode == Mode::Vectors => {
            let message =
                format!("the collection `{}` has no vectors; {embed} makes them", row.name);
            Err(Failure::new(Code::Unsupported, message))
        }
        _ => Ok(Some(format!(
            "{} of {} chunks of the collection `{}` have no vector; {embed} makes them",
            row.chunks - row.vectors.min(row.chunks),
            row.chunks,
            row.name
        ))),
    }
}

fn only_words(why: &str) -> String {
    format!("{why}; only words were searched")
}

fn query_is_empty(search: &Search) -> bool {
    terms::of_query(&search.query, std::iter::empty()).is_empty()
}

fn fit(chunk: &ChunkTerms, text: &str, query: Option<&QueryWords>, vector: Option<&[f32]>) -> Fit {
    let near = |vector: &[f32]| {
        let own = chunk.vector.as_ref().map_or(0.0, |own| cosine(&matrix::restored(own), vector));
        rounded(f64::from(own))
    };
    Fit {
        words: query.map(|query| rounded(query.fit_with_text(&chunk.terms, chunk.length, text))),
        vectors: vector.map(near),
    }
}

/// The best candidates with their scores; of equal ones, that of the first collection and id.
fn order(candidates: Vec<Candidate<'_>>, limit: usize) -> Vec<(Candidate<'_>, f64)> {
    let fits: Vec<_> = candidates.iter().map(|candidate| candidate.fit).collect();
    let mut ranked: Vec<_> = candidates.into_iter().zip(scores(&fits)).collect();
    ranked.sort_by(|(a, a_score), (b, b_score)| {
        b_score
            .total_cmp(a_score)
            .then_with(|| a.collection.name.cmp(&b.collection.name))
            .then_with(|| a.chunk.id.cmp(&b.chunk.id))
    });
    ranked.truncate(limit);
    ranked
}
