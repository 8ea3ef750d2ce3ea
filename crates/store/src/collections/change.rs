//! Adding and removing chunks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::rows::{
    PAGE, Stored, WIDEST, count, drop_collection, read_stored, save, save_counts, take_out,
    with_ids,
};
use super::{ChunkRow, CollectionRow, RUN_COLLECTION, VectorModel, find, indexed, meta_text};
use crate::sql::{Batch, Connection, Dialect, Value, in_transaction, query};
use crate::{Database, StoreError};

static CHUNKS: LazyLock<Batch> = LazyLock::new(|| {
    let columns = "tenant, collection, id, text, terms, length, bytes, meta, source, vector";
    let values: Vec<_> = (1..=10).map(|column| format!("column{column}")).collect();
    let values = values.join(", ");
    Batch::new(WIDEST, 11, move |dialect, rows| match dialect {
        // Without `WHERE`, SQLite would take a following clause for a part of the join.
        Dialect::Sqlite => format!(
            "INSERT INTO collection_chunks ({columns}) SELECT {values} FROM ({rows}) WHERE true RETURNING seq, id"
        ),
        Dialect::Postgres => format!(
            "INSERT INTO collection_chunks ({columns}, words) \
             SELECT {values}, to_tsvector('simple', column11) FROM ({rows}) AS chunk RETURNING seq, id"
        ),
    })
});

/// The word index of SQLite, which is a table of its own.
static WORDS: LazyLock<Batch> =
    LazyLock::new(|| Batch::insert_into(WIDEST, "collection_words (rowid, terms)", 2, ""));

/// How much the collections of a tenant may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionLimits {
    pub chunks: u64,
    pub bytes: u64,
    /// Collections, without those of runs.
    pub collections: u64,
}

/// Chunks for a collection, which is created if it does not exist.
#[derive(Clone, Copy, Debug)]
pub struct NewChunks<'a> {
    pub tenant: &'a str,
    pub collection: &'a str,
    /// They take the place of chunks with the same ids. No id occurs twice.
    pub chunks: &'a [ChunkRow],
    /// All other chunks of this source are removed.
    pub replaced_source: Option<&'a str>,
    /// The codes of their languages.
    pub languages: &'a [&'a str],
    /// The collection's model. Vectors must have been made with it.
    pub model: Option<&'a VectorModel>,
    pub limits: CollectionLimits,
    pub now_unix_ms: u64,
}

/// The result of adding chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddedChunks {
    Stored {
        added: u64,
        replaced: u64,
        /// The collection as it is now.
        collection: CollectionRow,
    },
    /// The collection has chunks, and another model.
    OtherModel(Option<VectorModel>),
    /// The tenant would have so many chunks.
    TooManyChunks(u64),
    /// The tenant would have so many bytes.
    TooManyBytes(u64),
    /// The tenant would have so many collections.
    TooManyCollections(u64),
}

/// Which chunks of a collection to remove.
#[derive(Clone, Copy, Debug)]
pub enum ChunkSelector<'a> {
    Ids(&'a [String]),
    Source(&'a str),
    /// All of them and the collection itself.
    All,
}

/// Chunks that were removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedChunks {
    pub deleted: u64,
    /// The collection as it is now, or would be if it still existed.
    pub collection: CollectionRow,
}

impl Database {
    /// Adds chunks to a collection, all or none.
    pub async fn add_chunks(&self, new: NewChunks<'_>) -> Result<AddedChunks, StoreError> {
        in_transaction!(self.sql, |transaction| {
            transaction.lock(&lock_of(new.tenant)).await?;
            add(transaction.connection(), new).await?
        })
    }

    /// Removes chunks of a tenant's collection, all or none; none if there is no such collection.
    pub async fn remove_chunks(
        &self,
        tenant: &str,
        collection: &str,
        selector: ChunkSelector<'_>,
        now_unix_ms: u64,
    ) -> Result<Option<RemovedChunks>, StoreError> {
        in_transaction!(self.sql, |transaction| {
            transaction.lock(&lock_of(tenant)).await?;
            let connection = transaction.connection();
            match find(connection, tenant, collection).await? {
                Some(row) => Some(remove(connection, row, selector, now_unix_ms).await?),
                None => None,
            }
        })
    }
}

/// The collections of a tenant change one after the other: they share limits.
pub(super) fn lock_of(tenant: &str) -> String {
    format!("collections {tenant}")
}

/// Deletes the collections of runs that were not touched since a time, within a transaction.
pub(crate) async fn forget_runs_of(
    connection: &mut Connection,
    before_unix_ms: u64,
) -> Result<(), StoreError> {
    let select = query(
        "SELECT c.seq FROM collections c JOIN runs r ON r.id = c.name AND r.tenant = c.tenant \
         WHERE r.touched_ms < $1",
    );
    for row in select.bind(before_unix_ms).rows(connection).await? {
        drop_collection(connection, row.get("seq")?).await?;
    }
    Ok(())
}

async fn add(connection: &mut Connection, new: NewChunks<'_>) -> Result<AddedChunks, StoreError> {
    let found = find(connection, new.tenant, new.collection).await?;
    if let Some(row) = &found
        && row.chunks > 0
        && row.model.as_ref() != new.model
    {
        return Ok(AddedChunks::OtherModel(row.model.clone()));
    }
    let (removed, replaced) = match &found {
        Some(row) => replaced_by(connection, row.seq, &new).await?,
        None => (Vec::new(), 0),
    };
    let metas: Vec<_> = new.chunks.iter().map(|chunk| meta_text(&chunk.meta)).collect();
    let sizes: Vec<_> =
        new.chunks.iter().zip(&metas).map(|(chunk, meta)| size(chunk, meta)).collect();
    if let Some(refusal) = check_limits(connection, &new, &removed, sizes.iter().sum()).await? {
        return Ok(refusal);
    }
    let mut row = match found {
        Some(row) => row,
        None => create(connection, &new).await?,
    };
    row.model = new.model.cloned();
    let languages = row.languages.iter().map(String::as_str).chain(new.languages.iter().copied());
    row.languages = languages.collect::<BTreeSet<_>>().into_iter().map(str::to_owned).collect();
    let mut counts = BTreeMap::new();
    take_out(connection, &mut row, &removed, &mut counts).await?;
    insert(connection, &row, &new, &metas, &sizes).await?;
    for (chunk, bytes) in new.chunks.iter().zip(&sizes) {
        row.chunks += 1;
        row.vectors += u64::from(chunk.vector.is_some());
        row.bytes += bytes;
        row.words += chunk.length;
        count(&chunk.terms, 1, &mut counts);
    }
    save_counts(connection, &row, &counts).await?;
    save(connection, &mut row, new.now_unix_ms).await?;
    Ok(AddedChunks::Stored { added: new.chunks.len() as u64 - replaced, replaced, collection: row })
}

/// Why the chunks may not be stored.
async fn check_limits(
    connection: &mut Connection,
    new: &NewChunks<'_>,
    removed: &[Stored],
    bytes: u64,
) -> Result<Option<AddedChunks>, StoreError> {
    let select = query(
        "SELECT CAST(COALESCE(SUM(chunks), 0) AS BIGINT) AS chunks, \
                CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS bytes, \
                CAST(COALESCE(SUM(CASE WHEN substr(name, 1, 4) <> $2 THEN 1 ELSE 0 END), 0) AS BIGINT) AS named, \
                CAST(COALESCE(SUM(CASE WHEN name = $3 THEN 1 ELSE 0 END), 0) AS BIGINT) AS known \
         FROM collections WHERE tenant = $1",
    );
    let rows =
        select.bind(new.tenant).bind(RUN_COLLECTION).bind(new.collection).rows(connection).await?;
    let Some(totals) = rows.first() else { return Ok(None) };
    let chunks: u64 = totals.get("chunks")?;
    let chunks = (chunks + new.chunks.len() as u64).saturating_sub(removed.len() as u64);
    let freed: u64 = removed.iter().map(|chunk| chunk.bytes).sum();
    let bytes = (totals.get::<u64>("bytes")? + bytes).saturating_sub(freed);
    let is_new = totals.get::<u64>("known")? == 0 && !new.collection.starts_with(RUN_COLLECTION);
    let collections = totals.get::<u64>("named")? + u64::from(is_new);
    let limits = new.limits;
    Ok(if chunks > limits.chunks {
        Some(AddedChunks::TooManyChunks(chunks))
    } else if bytes > limits.bytes {
        Some(AddedChunks::TooManyBytes(bytes))
    } else if is_new && collections > limits.collections {
        Some(AddedChunks::TooManyCollections(collections))
    } else {
        None
    })
}

/// What a chunk counts for.
fn size(chunk: &ChunkRow, meta: &str) -> u64 {
    let texts = [&chunk.id, &chunk.text, &chunk.terms].map(String::len).iter().sum::<usize>();
    let source = chunk.source.as_ref().map_or(0, String::len);
    (texts + meta.len() + source + chunk.vector.as_ref().map_or(0, Vec::len)) as u64
}

async fn create(
    connection: &mut Connection,
    new: &NewChunks<'_>,
) -> Result<CollectionRow, StoreError> {
    let insert = query(
        "INSERT INTO collections \
             (tenant, name, chunks, vectors, bytes, words, languages, revision, removed, updated_ms) \
         VALUES ($1, $2, 0, 0, 0, 0, '', 0, 0, $3) RETURNING seq",
    );
    let rows =
        insert.bind(new.tenant).bind(new.collection).bind(new.now_unix_ms).rows(connection).await?;
    Ok(CollectionRow {
        seq: rows.first().map(|row| row.get("seq")).transpose()?.unwrap_or_default(),
        tenant: new.tenant.to_owned(),
        name: new.collection.to_owned(),
        chunks: 0,
        vectors: 0,
        bytes: 0,
        words: 0,
        languages: Vec::new(),
        model: None,
        revision: 0,
        removed: 0,
        updated_unix_ms: new.now_unix_ms,
    })
}

/// The chunks that new ones take the place of, and how many of them have the same ids.
async fn replaced_by(
    connection: &mut Connection,
    collection: i64,
    new: &NewChunks<'_>,
) -> Result<(Vec<Stored>, u64), StoreError> {
    let ids = new.chunks.iter().map(|chunk| &chunk.id);
    let mut removed = with_ids(connection, collection, ids).await?;
    let replaced = removed.len() as u64;
    if let Some(source) = new.replaced_source {
        let known: BTreeSet<_> = removed.iter().map(|chunk| chunk.seq).collect();
        let select = query(
            "SELECT seq, terms, length, bytes, vector IS NOT NULL AS has_vector FROM collection_chunks \
             WHERE collection = $1 AND source = $2",
        );
        for row in select.bind(collection).bind(source).rows(connection).await? {
            let chunk = read_stored(&row)?;
            if !known.contains(&chunk.seq) {
                removed.push(chunk);
            }
        }
    }
    Ok((removed, replaced))
}

async fn insert(
    connection: &mut Connection,
    row: &CollectionRow,
    new: &NewChunks<'_>,
    metas: &[String],
    sizes: &[u64],
) -> Result<(), StoreError> {
    let words: Vec<_> =
        new.chunks.iter().map(|chunk| indexed(row.seq, chunk.terms.split(' '), " ")).collect();
    let rows: Vec<_> = new.chunks.iter().zip(metas).zip(sizes).zip(&words).collect();
    let inserted = CHUNKS
        .rows(connection, &rows, |(((chunk, meta), bytes), words)| {
            [
                Value::from(&row.tenant),
                Value::from(row.seq),
                Value::from(&chunk.id),
                Value::from(&chunk.text),
                Value::from(&chunk.terms),
                Value::from(chunk.length),
                Value::from(**bytes),
                Value::from(*meta),
                Value::from(chunk.source.as_deref()),
                Value::from(chunk.vector.as_deref()),
                Value::from(*words),
            ]
        })
        .await?;
    if connection.dialect() == Dialect::Postgres {
        return Ok(());
    }
    let words: BTreeMap<_, _> = new.chunks.iter().map(|chunk| &chunk.id).zip(&words).collect();
    let mut index = Vec::with_capacity(inserted.len());
    for row in inserted {
        let id: String = row.get("id")?;
        index.extend(words.get(&id).map(|words| (row.get::<i64>("seq"), *words)));
    }
    let index = index
        .into_iter()
        .map(|(seq, words)| Ok((seq?, words)))
        .collect::<Result<Vec<_>, StoreError>>()?;
    WORDS.execute(connection, &index, |(seq, words)| [Value::from(*seq), Value::from(*words)]).await
}

async fn remove(
    connection: &mut Connection,
    mut row: CollectionRow,
    selector: ChunkSelector<'_>,
    now_unix_ms: u64,
) -> Result<RemovedChunks, StoreError> {
    let before = row.chunks;
    let mut counts = BTreeMap::new();
    match selector {
        ChunkSelector::All => {
            drop_collection(connection, row.seq).await?;
            let (chunks, revision) = (0, row.revision + 1);
            row = CollectionRow { chunks, vectors: 0, bytes: 0, words: 0, revision, ..row };
            return Ok(RemovedChunks { deleted: before, collection: row });
        }
        ChunkSelector::Ids(ids) => {
            let found = with_ids(connection, row.seq, ids.iter()).await?;
            take_out(connection, &mut row, &found, &mut counts).await?;
        }
        ChunkSelector::Source(source) => loop {
            let select = query(
                "SELECT seq, terms, length, bytes, vector IS NOT NULL AS has_vector FROM collection_chunks \
                 WHERE collection = $1 AND source = $2 LIMIT $3",
            );
            let rows = select.bind(row.seq).bind(source).bind(PAGE as u64).rows(connection).await?;
            let found = rows.iter().map(read_stored).collect::<Result<Vec<_>, _>>()?;
            if found.is_empty() {
                break;
            }
            take_out(connection, &mut row, &found, &mut counts).await?;
        },
    }
    let deleted = before - row.chunks;
    if deleted > 0 {
        save_counts(connection, &row, &counts).await?;
        save(connection, &mut row, now_unix_ms).await?;
    }
    Ok(RemovedChunks { deleted, collection: row })
}
