//! The rows of a collection within a transaction: stored chunks, the counts of their terms, and its figures.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::{CollectionRow, numbers};
use crate::StoreError;
use crate::sql::{Batch, Connection, Dialect, Row, Value, query, value_rows};

/// How many rows one statement inserts.
pub(super) const WIDEST: usize = 64;

/// How many ids one statement looks for, and how many chunks are removed at once.
pub(super) const PAGE: usize = 200;

static TERMS: LazyLock<Batch> = LazyLock::new(|| {
    let table = "collection_terms (tenant, collection, term, df)";
    let conflict =
        "ON CONFLICT (collection, term) DO UPDATE SET df = collection_terms.df + excluded.df";
    Batch::insert_into(WIDEST, table, 4, conflict)
});

/// The fields of a stored chunk that are needed to remove it from a collection.
pub(super) struct Stored {
    pub(super) seq: i64,
    pub(super) terms: String,
    pub(super) length: u64,
    pub(super) bytes: u64,
    pub(super) has_vector: bool,
}

/// The stored chunks with these ids.
pub(super) async fn with_ids<'a>(
    connection: &mut Connection,
    collection: i64,
    ids: impl Iterator<Item = &'a String>,
) -> Result<Vec<Stored>, StoreError> {
    let ids: Vec<_> = ids.collect();
    let mut found = Vec::new();
    for some in ids.chunks(PAGE) {
        let select = query("SELECT seq, terms, length, bytes, vector IS NOT NULL AS has_vector FROM collection_chunks WHERE id IN ")
            .push(&value_rows(1, some.len()))
            .bind_all(some.iter().map(|id| Value::from(*id)))
            .and("collection = ", Some(collection))
            .once();
        for row in select.rows(connection).await? {
            found.push(read_stored(&row)?);
        }
    }
    Ok(found)
}

pub(super) fn read_stored(row: &Row) -> Result<Stored, StoreError> {
    Ok(Stored {
        seq: row.get("seq")?,
        terms: row.get("terms")?,
        length: row.get("length")?,
        bytes: row.get("bytes")?,
        has_vector: row.get("has_vector")?,
    })
}

/// Counts each different term of a chunk.
pub(super) fn count(terms: &str, change: i64, counts: &mut BTreeMap<String, i64>) {
    for term in terms.split(' ').filter(|term| !term.is_empty()).collect::<BTreeSet<_>>() {
        match counts.get_mut(term) {
            Some(count) => *count += change,
            None => drop(counts.insert(term.to_owned(), change)),
        }
    }
}

/// Deletes stored chunks, and takes them out of the figures of their collection.
pub(super) async fn take_out(
    connection: &mut Connection,
    row: &mut CollectionRow,
    chunks: &[Stored],
    counts: &mut BTreeMap<String, i64>,
) -> Result<(), StoreError> {
    if chunks.is_empty() {
        return Ok(());
    }
    let dialect = connection.dialect();
    let seqs: Vec<_> = chunks.iter().map(|chunk| chunk.seq).collect();
    let delete = format!("DELETE FROM collection_chunks WHERE {}", dialect.is_one_of("seq", "$1"));
    query(delete).bind(numbers(&seqs)).execute(connection).await?;
    if dialect == Dialect::Sqlite {
        let delete =
            format!("DELETE FROM collection_words WHERE {}", dialect.is_one_of("rowid", "$1"));
        query(delete).bind(numbers(&seqs)).execute(connection).await?;
    }
    for chunk in chunks {
        row.chunks = row.chunks.saturating_sub(1);
        row.vectors = row.vectors.saturating_sub(u64::from(chunk.has_vector));
        row.bytes = row.bytes.saturating_sub(chunk.bytes);
        row.words = row.words.saturating_sub(chunk.length);
        count(&chunk.terms, -1, counts);
    }
    row.removed = row.revision + 1;
    Ok(())
}

pub(super) async fn save_counts(
    connection: &mut Connection,
    row: &CollectionRow,
    counts: &BTreeMap<String, i64>,
) -> Result<(), StoreError> {
    let changed: Vec<_> = counts.iter().filter(|(_, change)| **change != 0).collect();
    TERMS
        .execute(connection, &changed, |(term, change)| {
            [
                Value::from(&row.tenant),
                Value::from(row.seq),
                Value::from(*term),
                Value::from(**change),
            ]
        })
        .await?;
    if changed.iter().any(|(_, change)| **change < 0) {
        query("DELETE FROM collection_terms WHERE collection = $1 AND df <= 0")
            .bind(row.seq)
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// Stores the figures of a collection, as its next revision.
pub(super) async fn save(
    connection: &mut Connection,
    row: &mut CollectionRow,
    now_unix_ms: u64,
) -> Result<(), StoreError> {
    row.revision += 1;
    row.updated_unix_ms = now_unix_ms;
    query(
        "UPDATE collections SET chunks = $2, vectors = $3, bytes = $4, words = $5, languages = $6, model = $7, \
             dimensions = $8, revision = $9, removed = $10, updated_ms = $11 WHERE seq = $1",
    )
    .bind(row.seq)
    .bind(row.chunks)
    .bind(row.vectors)
    .bind(row.bytes)
    .bind(row.words)
    .bind(row.languages.join(" "))
    .bind(row.model.as_ref().map(|model| &model.name))
    .bind(row.model.as_ref().map(|model| model.dimensions))
    .bind(row.revision)
    .bind(row.removed)
    .bind(row.updated_unix_ms)
    .execute(connection)
    .await
    .map(drop)
}

/// Deletes a collection with all that it has.
pub(super) async fn drop_collection(
    connection: &mut Connection,
    seq: i64,
) -> Result<(), StoreError> {
    if connection.dialect() == Dialect::Sqlite {
        query(
            "DELETE FROM collection_words \
             WHERE rowid IN (SELECT seq FROM collection_chunks WHERE collection = $1)",
        )
        .bind(seq)
        .execute(connection)
        .await?;
    }
    for table in [
        "DELETE FROM collection_chunks WHERE collection = $1",
        "DELETE FROM collection_terms WHERE collection = $1",
        "DELETE FROM collections WHERE seq = $1",
    ] {
        query(table).bind(seq).execute(connection).await?;
    }
    Ok(())
}
