//! Adding chunks to a collection.

use std::collections::{BTreeSet, HashMap};

use proto::{Code, Failure, digest_of_parts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{AddedChunks, ChunkRow, CollectionRow, NewChunks, VectorModel};
use tokio::task::spawn_blocking;

use super::document::DIGEST;
use super::embedder::Embedder;
use super::{
    CollectionName, Collections, Embedding, MAX_VECTORS, embed_command, matrix, other_model, terms,
    too_many_vectors, unreadable, unwritable,
};

/// The most items of one call.
pub const MAX_ITEMS: usize = 500;

/// The longest text of an item, in code points.
pub const MAX_TEXT_CHARS: usize = 8_000;

/// The longest source, in bytes.
pub const MAX_SOURCE_BYTES: usize = 2_000;

const MAX_ID_CHARS: usize = 200;
const MAX_META_BYTES: usize = 16_000;

/// How often chunks are prepared again because the collection's model changed meanwhile.
const TRIES: usize = 3;

/// A text for a collection.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// By default, made of text and source. An item replaces the one with the same id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub id: Option<String>,
    #[schemars(length(min = 1, max = 8000))]
    pub text: String,
    /// Values that a search can ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// Where the text comes from, such as a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2000))]
    pub source: Option<String>,
}

/// What was added.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Added {
    pub collection: String,
    pub added: u64,
    pub replaced: u64,
    /// The chunks that the collection has now.
    pub total: u64,
    pub revision: u64,
    /// The model of its vectors.
    pub embedding: Option<Embedding>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The rows to store, apart from vectors.
struct Prepared {
    chunks: Vec<ChunkRow>,
    languages: Vec<&'static str>,
}

/// The model that a collection has after items were added, and whether they get vectors.
struct Vectors<'a> {
    model: Option<VectorModel>,
    embedder: Option<&'a Embedder>,
    warning: Option<String>,
}

impl Collections {
    /// Adds items to a collection of a tenant, which is created if need be. They replace items with the same ids.
    pub async fn add(
        &self,
        tenant: &str,
        name: &CollectionName,
        items: Vec<Item>,
    ) -> Result<Added, Failure> {
        if items.is_empty() || items.len() > MAX_ITEMS {
            let message =
                format!("`items` has {} items; 1 to {MAX_ITEMS} are allowed", items.len());
            return Err(at("/items", message));
        }
        self.add_all(tenant, name, None, items).await
    }

    /// Adds all items of a source, and removes what the collection had of it before. An empty text leaves nothing.
    pub async fn replace_source(
        &self,
        tenant: &str,
        name: &CollectionName,
        source: &str,
        items: Vec<Item>,
    ) -> Result<Added, Failure> {
        let complete = items.first().filter(|_| items.len() > MAX_ITEMS).cloned();
        let mut items = items.into_iter().peekable();
        if complete.is_some()
            && let Some(meta) = items.peek_mut().and_then(|first| first.meta.as_mut())
        {
            // Of a document that is added in several steps, the first chunk has the digest only once all others are there:
            // one that an interruption has cut off is added again.
            meta.remove(DIGEST);
        }
        let mut sum: Option<Added> = None;
        while sum.is_none() || items.peek().is_some() {
            // The first chunk alone is written twice.
            let most = if sum.is_none() && complete.is_some() { 1 } else { MAX_ITEMS };
            let some: Vec<_> = items.by_ref().take(most).collect();
            let replaced = sum.is_none().then_some(source);
            let added = self.add_all(tenant, name, replaced, some).await?;
            sum = Some(match sum {
                Some(before) => Added {
                    added: before.added + added.added,
                    replaced: before.replaced + added.replaced,
                    ..added
                },
                None => added,
            });
        }
        let sum = sum.ok_or_else(|| Failure::new(Code::Internal, "nothing was added"))?;
        let Some(first) = complete else { return Ok(sum) };
        let last = self.add_all(tenant, name, None, vec![first]).await?;
        Ok(Added { added: sum.added, replaced: sum.replaced, ..last })
    }

    async fn add_all(
        &self,
        tenant: &str,
        name: &CollectionName,
        source: Option<&str>,
        items: Vec<Item>,
    ) -> Result<Added, Failure> {
        for (index, item) in items.iter().enumerate() {
            check(item, index)?;
        }
        let prepared = spawn_blocking(move || prepare(items)).await.map_err(|error| {
            Failure::new(Code::Internal, "the text could not be read").caused_by(error)
        })?;
        let Prepared { mut chunks, languages } = prepared;
        let embedder = self.embedder.get().await?;
        for _ in 0..TRIES {
            let row = self.database.collection(tenant, name.as_str()).await.map_err(unreadable)?;
            let vectors = choose(name, row.as_ref(), embedder.as_deref())?;
            let present = row.as_ref().map_or(0, |row| row.vectors);
            set_vectors(name, &mut chunks, vectors.embedder, present).await?;
            let new = NewChunks {
                tenant,
                collection: name.as_str(),
                chunks: &chunks,
                replaced_source: source,
                languages: &languages,
                model: vectors.model.as_ref(),
                limits: self.limits(),
                now_unix_ms: self.clock.unix_ms(),
            };
            let added = self.database.add_chunks(new).await;
            self.changes.note(name);
            let (added, replaced, row) = match added.map_err(unwritable)? {
                AddedChunks::Stored { added, replaced, collection } => {
                    (added, replaced, collection)
                }
                AddedChunks::OtherModel(_) => continue,
                refused => return Err(self.refusal(&refused)),
            };
            return Ok(Added {
                collection: name.to_string(),
                added,
                replaced,
                total: row.chunks,
                revision: row.revision,
                embedding: row.model.map(Embedding::from),
                warnings: vectors.warning.into_iter().collect(),
            });
        }
        let message = format!("the model of the collection `{name}` is being changed; try again");
        Err(Failure::new(Code::Unavailable, message))
    }

    fn refusal(&self, refused: &AddedChunks) -> Failure {
        let limits = self.limits();
        let (would, limit, what, setting) = match refused {
            AddedChunks::TooManyBytes(bytes) => (*bytes, limits.bytes, "bytes", "max_bytes"),
            AddedChunks::TooManyCollections(count) => {
                let message = format!(
                    "there would be {count} collections; {} are allowed",
                    limits.collections
                );
                return Failure::new(Code::InvalidInput, message);
            }
            AddedChunks::TooManyChunks(chunks) => (*chunks, limits.chunks, "chunks", "max_chunks"),
            AddedChunks::Stored { .. } | AddedChunks::OtherModel(_) => {
                return Failure::new(Code::Internal, "the chunks were not refused");
            }
        };
        let message = format!(
            "the collections would have {would} {what}; {limit} are allowed (`research.collections.{setting}`). \
             Delete what is not needed"
        );
        Failure::new(Code::InvalidInput, message).details(json!({"would": would, "limit": limit}))
    }
}

/// Refuses an item that cannot be stored.
fn check(item: &Item, index: usize) -> Result<(), Failure> {
    let path = |field: &str| format!("/items/{index}/{field}");
    let chars = item.text.chars().take(MAX_TEXT_CHARS + 1).count();
    if item.text.trim().is_empty() {
        return Err(at(&path("text"), "the text is empty"));
    }
    if chars > MAX_TEXT_CHARS {
        let count = item.text.chars().count();
        let message = format!("the text has {count} characters; {MAX_TEXT_CHARS} are allowed");
        return Err(at(&path("text"), message));
    }
    let id = item.id.as_ref().map_or(1, |id| id.chars().take(MAX_ID_CHARS + 1).count());
    if !(1..=MAX_ID_CHARS).contains(&id) {
        return Err(at(&path("id"), format!("an id has 1 to {MAX_ID_CHARS} characters")));
    }
    if item.source.as_ref().is_some_and(|source| source.len() > MAX_SOURCE_BYTES) {
        return Err(at(&path("source"), format!("a source has at most {MAX_SOURCE_BYTES} bytes")));
    }
    let meta = item.meta.as_ref().map_or(0, |meta| {
        meta.iter().map(|(key, value)| key.len() + proto::canonical::len(value)).sum()
    });
    if meta > MAX_META_BYTES {
        let message = format!("the metadata has {meta} bytes; {MAX_META_BYTES} are allowed");
        return Err(at(&path("meta"), message));
    }
    Ok(())
}

fn at(path: &str, message: impl Into<String>) -> Failure {
    let message = format!("{path}: {}", message.into());
    Failure::new(Code::InvalidInput, message).details(json!({"path": path}))
}

/// The chunks of items. Of items with the same id, the last one counts.
fn prepare(items: Vec<Item>) -> Prepared {
    let mut languages = BTreeSet::new();
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut chunks: Vec<ChunkRow> = Vec::with_capacity(items.len());
    for item in items {
        let stems = terms::of_chunk(&item.text);
        languages.insert(stems.language);
        let id = item.id.unwrap_or_else(|| id_of(&item.text, item.source.as_deref()));
        let chunk = ChunkRow {
            id: id.clone(),
            text: item.text,
            terms: stems.terms,
            length: stems.length,
            meta: item.meta.unwrap_or_default(),
            source: item.source,
            vector: None,
        };
        match at.get(&id) {
            Some(at) => chunks[*at] = chunk,
            None => {
                at.insert(id, chunks.len());
                chunks.push(chunk);
            }
        }
    }
    Prepared { chunks, languages: languages.into_iter().collect() }
}

/// The id of an item that has none.
fn id_of(text: &str, source: Option<&str>) -> String {
    let digest = digest_of_parts([source.unwrap_or_default().as_bytes(), text.as_bytes()]);
    let digits: String = digest.as_bytes()[..12].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("chunk_{digits}")
}

/// Which vectors new chunks of a collection get.
fn choose<'a>(
    name: &CollectionName,
    row: Option<&CollectionRow>,
    embedder: Option<&'a Embedder>,
) -> Result<Vectors<'a>, Failure> {
    let row = row.filter(|row| row.chunks > 0);
    let without = |model: Option<VectorModel>, warning| Vectors { model, embedder: None, warning };
    Ok(match (row.map(|row| row.model.as_ref()), embedder) {
        (None, embedder) => {
            let model = embedder.map(|embedder| embedder.about().clone());
            Vectors { model, embedder, warning: None }
        }
        (Some(None), None) => without(None, None),
        (Some(None), Some(_)) => {
            let warning = format!(
                "the collection `{name}` was made without vectors; {} adds them",
                embed_command(name.as_str())
            );
            without(None, Some(warning))
        }
        (Some(Some(model)), None) => {
            let warning = format!(
                "the new chunks have no vectors: no model is configured, and the collection has those of `{}`",
                model.name
            );
            without(Some(model.clone()), Some(warning))
        }
        (Some(Some(model)), Some(embedder)) if embedder.about() == model => {
            Vectors { model: Some(model.clone()), embedder: Some(embedder), warning: None }
        }
        (Some(Some(model)), Some(embedder)) => {
            return Err(other_model(name.as_str(), &model.name, &embedder.about().name));
        }
    })
}

async fn set_vectors(
    name: &CollectionName,
    chunks: &mut [ChunkRow],
    embedder: Option<&Embedder>,
    present: u64,
) -> Result<(), Failure> {
    let Some(embedder) = embedder else {
        chunks.iter_mut().for_each(|chunk| chunk.vector = None);
        return Ok(());
    };
    let count = present + chunks.len() as u64;
    if count > MAX_VECTORS {
        return Err(too_many_vectors(name.as_str(), count));
    }
    let texts = chunks.iter().map(|chunk| chunk.text.clone()).collect();
    let vectors = embedder.embed(texts).await?;
    for (chunk, vector) in chunks.iter_mut().zip(vectors) {
        chunk.vector = vector.map(|vector| matrix::stored(&vector));
    }
    Ok(())
}
