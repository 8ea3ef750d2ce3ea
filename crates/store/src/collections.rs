//! Collections of text that can be searched by words and by vectors (`0008_collections.sql`).
//!
//! A collection, its chunks, the counts of its terms and the word index change in one transaction. How results are
//! ordered is not known here: the engine returns candidates.

mod change;
mod embed;
mod find;
mod rows;

use proto::canonical;
use serde_json::{Map, Value};

use crate::sql::{Connection, Dialect, Query, Row, query};
use crate::{Database, Listed, StoreError};

pub(crate) use change::forget_runs_of;
pub use change::{AddedChunks, ChunkSelector, CollectionLimits, NewChunks, RemovedChunks};
pub use find::{ChunkContent, ChunkFilter, ChunkTerms};

const COLUMNS: &str = "seq, tenant, name, chunks, vectors, bytes, words, languages, model, dimensions, revision, \
                       removed, updated_ms";

/// The most collections of a tenant that are listed.
const MAX_LISTED: u32 = 10_000;

/// The first characters of a collection that belongs to a run, which is the run's id.
pub const RUN_COLLECTION: &str = "run_";

/// A collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionRow {
    /// Its number, which no later collection gets.
    pub seq: i64,
    pub tenant: String,
    pub name: String,
    pub chunks: u64,
    /// How many chunks have a vector.
    pub vectors: u64,
    pub bytes: u64,
    /// The sum of the chunks' lengths.
    pub words: u64,
    /// The codes of its chunks' languages, in order.
    pub languages: Vec<String>,
    pub model: Option<VectorModel>,
    /// Grows with every change.
    pub revision: u64,
    /// The last revision that removed or replaced vectors.
    pub removed: u64,
    pub updated_unix_ms: u64,
}

/// The model that a collection's vectors were made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorModel {
    pub name: String,
    pub dimensions: u64,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkRow {
    pub id: String,
    pub text: String,
    /// Its stems with spaces between them; each of `a` to `z` and digits.
    pub terms: String,
    /// The number of terms.
    pub length: u64,
    pub meta: Map<String, Value>,
    pub source: Option<String>,
    /// Numbers of 32 bits, the lowest byte first.
    pub vector: Option<Vec<u8>>,
}

impl Database {
    /// The collections of a tenant by name, without those of runs.
    pub async fn collections(&self, tenant: &str) -> Result<Listed<CollectionRow>, StoreError> {
        let select = query(format!(
            "SELECT {COLUMNS} FROM collections WHERE tenant = $1 AND substr(name, 1, 4) <> $2 \
             ORDER BY name LIMIT $3"
        ));
        let select = select.bind(tenant).bind(RUN_COLLECTION).bind(MAX_LISTED);
        Listed::read("collections", "name", &self.sql.all(select).await?, read)
    }

    /// A tenant's collection.
    pub async fn collection(
        &self,
        tenant: &str,
        name: &str,
    ) -> Result<Option<CollectionRow>, StoreError> {
        let rows = self.sql.all(select_named(tenant, name)).await?;
        rows.first().map(read).transpose()
    }

    fn dialect(&self) -> Dialect {
        self.sql.dialect()
    }
}

fn select_named<'q>(tenant: &'q str, name: &'q str) -> Query<'q> {
    query(format!("SELECT {COLUMNS} FROM collections WHERE tenant = $1 AND name = $2"))
        .bind(tenant)
        .bind(name)
}

/// A collection, within a transaction.
async fn find(
    connection: &mut Connection,
    tenant: &str,
    name: &str,
) -> Result<Option<CollectionRow>, StoreError> {
    select_named(tenant, name).rows(connection).await?.first().map(read).transpose()
}

fn read(row: &Row) -> Result<CollectionRow, StoreError> {
    let languages: String = row.get("languages")?;
    let dimensions = row.optional("dimensions")?.unwrap_or_default();
    Ok(CollectionRow {
        seq: row.get("seq")?,
        tenant: row.get("tenant")?,
        name: row.get("name")?,
        chunks: row.get("chunks")?,
        vectors: row.get("vectors")?,
        bytes: row.get("bytes")?,
        words: row.get("words")?,
        languages: languages.split_whitespace().map(str::to_owned).collect(),
        model: row.optional("model")?.map(|name| VectorModel { name, dimensions }),
        revision: row.get("revision")?,
        removed: row.get("removed")?,
        updated_unix_ms: row.get("updated_ms")?,
    })
}

/// Whether a term can be searched: whatever else an engine's query language knows needs other characters.
fn is_plain(term: &str) -> bool {
    !term.is_empty() && term.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Terms as the word index has them: each begins with the number of its collection. A word of `a` to `z` and digits
/// that begins with a letter is one token on both engines.
fn indexed<'a>(collection: i64, terms: impl Iterator<Item = &'a str>, separator: &str) -> String {
    let mut text = String::new();
    for term in terms.filter(|term| is_plain(term)) {
        if !text.is_empty() {
            text.push_str(separator);
        }
        text.push('c');
        text.push_str(&collection.to_string());
        text.push('x');
        text.push_str(term);
    }
    text
}

/// Metadata as JSON with each key on a line of its own.
fn meta_text(meta: &Map<String, Value>) -> String {
    let lines: Vec<_> = meta.iter().map(|(key, value)| meta_line(key, value)).collect();
    format!("{{{}}}", lines.join(","))
}

/// The line of a key: JSON without white space has no line breaks of its own.
fn meta_line(key: &str, value: &Value) -> String {
    let (key, value) = (Value::from(key).to_string(), canonical::bytes(value));
    format!("\n{key}:{}\n", String::from_utf8_lossy(&value))
}

/// Numbers with commas between them, for [`Dialect::is_one_of`].
fn numbers(list: &[i64]) -> String {
    list.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests;
