//! Collections: chunks of text that are searched by words and by vectors.
//!
//! The database returns candidates; `rank` orders them, so that SQLite and PostgreSQL give the same answer.

mod add;
mod changes;
pub mod document;
mod embed;
mod embedder;
mod joined;
mod matrices;
mod matrix;
mod name;
pub mod operations;
mod rank;
mod search;
mod terms;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use proto::time::Time;
use proto::{Clock, Code, Failure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{
    ChunkSelector, CollectionLimits, CollectionRow, DamagedRow, Database, StoreError, VectorModel,
};

use changes::Changes;
use embedder::EmbedderSlot;
use matrices::Matrices;

pub use add::{Added, Item, MAX_ITEMS, MAX_SOURCE_BYTES, MAX_TEXT_CHARS};
pub use embed::Embedded;
pub use embedder::Embedder;
pub use name::CollectionName;
pub use rank::{VECTORS_WEIGHT, WORDS_WEIGHT};
pub use search::{Filter, Hit, MAX_LIMIT, MAX_QUERY_CHARS, Mode, Parts, Search, SearchResults};

/// The most chunks with vectors in one collection: a query scans them all.
pub const MAX_VECTORS: u64 = 200_000;

/// Why there are no vectors.
const NO_MODEL: &str =
    "there is no model for vectors: set `embeddings.path` or `model.embeddings` in the config";

/// The most named collections of a tenant.
const MAX_COLLECTIONS: u64 = 1_000;

/// How much collections may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionSettings {
    /// The most chunks of a tenant.
    pub max_chunks: u64,
    /// The most bytes of a tenant.
    pub max_bytes: u64,
    /// The memory for vectors, in bytes.
    pub memory: u64,
}

impl Default for CollectionSettings {
    fn default() -> Self {
        Self { max_chunks: 1_000_000, max_bytes: 2 << 30, memory: 256 << 20 }
    }
}

/// The collections of all tenants.
#[derive(Debug)]
pub struct Collections {
    database: Database,
    clock: Clock,
    settings: Mutex<CollectionSettings>,
    embedder: EmbedderSlot,
    matrices: Matrices,
    changes: Changes,
}

/// A collection as a list shows it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CollectionInfo {
    pub name: String,
    pub chunks: u64,
    pub bytes: u64,
    pub revision: u64,
    /// The model of its vectors.
    pub embedding: Option<Embedding>,
    #[schemars(with = "String")]
    pub updated_at: Time,
}

/// The collections of a tenant.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CollectionList {
    pub collections: Vec<CollectionInfo>,
    /// Collections whose stored rows cannot be read, with the column that is damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub damaged: Vec<DamagedRow>,
}

/// The model that vectors were made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Embedding {
    pub model: String,
    pub dimensions: u64,
}

/// Which chunks to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    Ids(Vec<String>),
    Source(String),
    /// All of them and the collection itself.
    All,
}

/// What was removed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Removed {
    pub collection: String,
    pub deleted: u64,
    /// The chunks that are left.
    pub total: u64,
    pub revision: u64,
}

impl Collections {
    /// The collections of this database.
    pub fn new(database: Database, clock: Clock, settings: CollectionSettings) -> Self {
        Self {
            database,
            clock,
            settings: Mutex::new(settings),
            embedder: EmbedderSlot::default(),
            matrices: Matrices::default(),
            changes: Changes::default(),
        }
    }

    /// Uses other settings and the static model of another folder from now on.
    pub fn apply(&self, settings: CollectionSettings, embeddings: Option<PathBuf>) {
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings;
        self.embedder.set_folder(embeddings);
    }

    /// Uses the vectors of a model behind an endpoint from now on, if it makes some.
    pub fn use_model(&self, model: Option<llm::Model>) {
        self.embedder.set_model(model);
    }

    /// Uses this embedder from now on.
    pub fn set_embedder(&self, embedder: Option<Embedder>) {
        self.embedder.set(embedder);
    }

    /// The named collections of a tenant.
    pub async fn list(&self, tenant: &str) -> Result<CollectionList, Failure> {
        let listed = self.database.collections(tenant).await.map_err(unreadable)?;
        let collections = listed.rows.into_iter().map(CollectionInfo::from).collect();
        Ok(CollectionList { collections, damaged: listed.damaged })
    }

    /// Removes chunks of a collection.
    pub async fn remove(
        &self,
        tenant: &str,
        name: &CollectionName,
        selection: &Selection,
    ) -> Result<Removed, Failure> {
        let selector = match selection {
            Selection::Ids(ids) => ChunkSelector::Ids(ids),
            Selection::Source(source) => ChunkSelector::Source(source),
            Selection::All => ChunkSelector::All,
        };
        let now = self.clock.unix_ms();
        let removed = self.database.remove_chunks(tenant, name.as_str(), selector, now).await;
        self.changes.note(name);
        let removed = removed.map_err(unwritable)?.ok_or_else(|| name.unknown())?;
        Ok(Removed {
            collection: name.to_string(),
            deleted: removed.deleted,
            total: removed.collection.chunks,
            revision: removed.collection.revision,
        })
    }

    /// A key that changes when a search of these collections, or a list of all, may have another answer.
    pub fn revision_key<'a>(&self, names: Option<impl Iterator<Item = &'a str>>) -> String {
        format!("{} {}", self.changes.key(names), self.embedder.key())
    }

    /// The metadata of a chunk of a source, which says what was stored.
    pub async fn meta_of_source(
        &self,
        tenant: &str,
        name: &CollectionName,
        source: &str,
    ) -> Result<Option<Map<String, Value>>, Failure> {
        let row = self.database.collection(tenant, name.as_str()).await.map_err(unreadable)?;
        let Some(row) = row else { return Ok(None) };
        self.database.meta_of_source(row.seq, source).await.map_err(unreadable)
    }

    async fn row(&self, tenant: &str, name: &CollectionName) -> Result<CollectionRow, Failure> {
        let row = self.database.collection(tenant, name.as_str()).await.map_err(unreadable)?;
        row.ok_or_else(|| name.unknown())
    }

    fn settings(&self) -> CollectionSettings {
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn limits(&self) -> CollectionLimits {
        let CollectionSettings { max_chunks: chunks, max_bytes: bytes, .. } = self.settings();
        CollectionLimits { chunks, bytes, collections: MAX_COLLECTIONS }
    }
}

impl From<CollectionRow> for CollectionInfo {
    fn from(row: CollectionRow) -> Self {
        Self {
            name: row.name,
            chunks: row.chunks,
            bytes: row.bytes,
            revision: row.revision,
            embedding: row.model.map(Embedding::from),
            updated_at: Time::from_unix_ms(row.updated_unix_ms),
        }
    }
}

impl From<VectorModel> for Embedding {
    fn from(model: VectorModel) -> Self {
        Self { model: model.name, dimensions: model.dimensions }
    }
}

/// How a collection gets the vectors of the configured model.
fn embed_command(name: &str) -> String {
    format!("`powerstrip collections embed {name}`")
}

/// The failure of a call for a collection whose vectors are of another model than the configured one.
fn other_model(name: &str, own: &str, configured: &str) -> Failure {
    let message = format!(
        "the vectors of the collection `{name}` were made with the model `{own}`, and `{configured}` is configured; {} \
         makes them again",
        embed_command(name)
    );
    Failure::new(Code::InvalidInput, message)
}

/// The failure of a call that needs more vectors in a collection than a query scans.
fn too_many_vectors(name: &str, count: u64) -> Failure {
    let message = format!(
        "the collection `{name}` would have {count} chunks with vectors; {MAX_VECTORS} are supported. A vector database \
         such as that of `powerstrip add qdrant` holds more"
    );
    Failure::new(Code::Unsupported, message)
}

fn unreadable(error: StoreError) -> Failure {
    Failure::new(Code::Unavailable, "the collections cannot be read").caused_by(error)
}

fn unwritable(error: StoreError) -> Failure {
    Failure::new(Code::Unavailable, "the collections cannot be changed").caused_by(error)
}

#[cfg(test)]
mod tests;
