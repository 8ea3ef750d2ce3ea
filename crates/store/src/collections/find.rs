//! Candidates of a search, and what they contain.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{indexed, is_plain, meta_line, numbers};
use crate::sql::{Dialect, Query, Row, Value as Cell, query, value_rows};
use crate::{Database, Listed, StoreError};

/// PostgreSQL orders candidates by so many terms.
const ORDERING_TERMS: usize = 12;

/// Which chunks of a collection count.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChunkFilter<'a> {
    pub source: Option<&'a str>,
    /// Keys of the metadata with the values that they must have.
    pub meta: Option<&'a Map<String, Value>>,
}

/// What a candidate is scored by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkTerms {
    pub seq: i64,
    pub id: String,
    pub terms: String,
    pub length: u64,
    /// None without a vector, or if none was asked for.
    pub vector: Option<Vec<u8>>,
}

/// A chunk as a search returns it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkContent {
    pub seq: i64,
    pub id: String,
    pub text: String,
    pub meta: Map<String, Value>,
    pub source: Option<String>,
}

impl ChunkFilter<'_> {
    /// Whether every chunk counts.
    pub fn is_empty(&self) -> bool {
        self.source.is_none() && self.meta.is_none_or(Map::is_empty)
    }
}

impl Database {
    /// In how many chunks of a collection each of the terms occurs; those that do not are left out.
    pub async fn term_counts(
        &self,
        collection: i64,
        terms: &[String],
    ) -> Result<HashMap<String, u64>, StoreError> {
        if terms.is_empty() {
            return Ok(HashMap::new());
        }
        let select = query("SELECT term, df FROM collection_terms WHERE term IN ")
            .push(&value_rows(1, terms.len()))
            .bind_all(terms.iter().map(Cell::from))
            .and("collection = ", Some(collection))
            .once();
        let rows = self.sql.all(select).await?;
        rows.iter().map(|row| Ok((row.get("term")?, row.get("df")?))).collect()
    }

    /// Up to `limit` chunks of a collection with at least one of the terms; of more, those that the engine ranks
    /// highest. The terms come with their weights, the heaviest first.
    pub async fn chunks_with_terms(
        &self,
        collection: i64,
        terms: &[(String, u64)],
        filter: ChunkFilter<'_>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        let words = || terms.iter().map(|(term, _)| term.as_str());
        if !words().any(is_plain) {
            return Ok(Vec::new());
        }
        let select = match self.dialect() {
            Dialect::Sqlite => {
                let words = indexed(collection, words(), "\" OR \"");
                let mut select = query(
                    "SELECT rowid AS seq FROM collection_words WHERE collection_words MATCH $1",
                )
                .bind(format!("\"{words}\""));
                if !filter.is_empty() {
                    // The sign keeps SQLite from searching once for each chunk of the filter.
                    select = select
                        .push(
                            " AND +rowid IN (SELECT seq FROM collection_chunks WHERE collection = ",
                        )
                        .push_bind(collection);
                    select = filtered(select, Dialect::Sqlite, filter).push(")");
                }
                select.push(" ORDER BY rank LIMIT ").push_bind(limit)
            }
            Dialect::Postgres => {
                let select = query(
                    "SELECT seq FROM collection_chunks WHERE words @@ to_tsquery('simple', $1)",
                )
                .bind(indexed(collection, words(), " | "));
                let mut select = filtered(select, Dialect::Postgres, filter).push(" ORDER BY 0");
                let plain = terms.iter().filter(|(term, _)| is_plain(term));
                for (term, weight) in plain.take(ORDERING_TERMS) {
                    select = select
                        .push(" + CASE WHEN words @@ to_tsquery('simple', ")
                        .push_bind(indexed(collection, [term.as_str()].into_iter(), ""))
                        .push(") THEN ")
                        .push_bind(*weight)
                        .push(" ELSE 0 END");
                }
                select.push(" DESC, length, seq LIMIT ").push_bind(limit)
            }
        };
        self.seqs(select.once()).await
    }

    /// All chunks of a collection that a filter lets pass, in order.
    pub async fn filtered_chunks(
        &self,
        collection: i64,
        filter: ChunkFilter<'_>,
    ) -> Result<Vec<i64>, StoreError> {
        let select =
            query("SELECT seq FROM collection_chunks WHERE collection = $1").bind(collection);
        self.seqs(filtered(select, self.dialect(), filter).push(" ORDER BY seq").once()).await
    }

    async fn seqs(&self, select: Query<'_>) -> Result<Vec<i64>, StoreError> {
        self.sql.all(select).await?.iter().map(|row| row.get("seq")).collect()
    }

    /// What chunks are scored by, in no order; chunks that are gone or damaged are left out.
    pub async fn chunk_terms(
        &self,
        chunks: &[i64],
        with_vectors: bool,
    ) -> Result<Vec<ChunkTerms>, StoreError> {
        let vector = if with_vectors { "vector" } else { "NULL AS vector" };
        let select = query(format!(
            "SELECT seq, id, terms, length, {vector} FROM collection_chunks WHERE {}",
            self.dialect().is_one_of("seq", "$1")
        ));
        let read = |row: &Row| {
            Ok(ChunkTerms {
                seq: row.get("seq")?,
                id: row.get("id")?,
                terms: row.get("terms")?,
                length: row.get("length")?,
                vector: if with_vectors { row.optional("vector")? } else { None },
            })
        };
        let rows = self.sql.all(select.bind(numbers(chunks))).await?;
        Ok(Listed::read("collection_chunks", "id", &rows, read)?.rows)
    }

    /// Chunks with their text, in no order; chunks that are gone or damaged are left out.
    pub async fn chunk_contents(&self, chunks: &[i64]) -> Result<Vec<ChunkContent>, StoreError> {
        let select = query(format!(
            "SELECT seq, id, text, meta, source FROM collection_chunks WHERE {}",
            self.dialect().is_one_of("seq", "$1")
        ));
        let rows = self.sql.all(select.bind(numbers(chunks))).await?;
        Ok(Listed::read("collection_chunks", "id", &rows, read_content)?.rows)
    }

    /// The metadata of a chunk of this source, unless it is damaged.
    pub async fn meta_of_source(
        &self,
        collection: i64,
        source: &str,
    ) -> Result<Option<Map<String, Value>>, StoreError> {
        let select = query(
            "SELECT id, meta FROM collection_chunks WHERE collection = $1 AND source = $2 ORDER BY seq LIMIT 1",
        );
        let rows = self.sql.all(select.bind(collection).bind(source)).await?;
        Ok(Listed::read("collection_chunks", "id", &rows, |row| row.json("meta"))?.rows.pop())
    }
}

fn read_content(row: &Row) -> Result<ChunkContent, StoreError> {
    Ok(ChunkContent {
        seq: row.get("seq")?,
        id: row.get("id")?,
        text: row.get("text")?,
        meta: row.json("meta")?,
        source: row.optional("source")?,
    })
}

/// Appends the conditions of a filter.
fn filtered<'q>(select: Query<'q>, dialect: Dialect, filter: ChunkFilter<'q>) -> Query<'q> {
    let mut select = select.and("source = ", filter.source);
    for (key, value) in filter.meta.into_iter().flatten() {
        select = select
            .push(&format!(" AND {}(meta, ", dialect.position()))
            .push_bind(meta_line(key, value))
            .push(") > 0");
    }
    select
}
