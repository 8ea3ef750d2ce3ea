//! Bytes that a server stores between calls under a reference, so that they do not enter a model's context. The server's
//! own tools accept the reference; a gateway reads it by its URI when another server needs it.

mod folder;
mod memory;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, JsonObject, Resource, ResourceContents,
    ResourceTemplate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use self::folder::FolderStore;
use self::memory::MemoryStore;
use crate::answer::schema_of_answers;
use crate::{Answer, Code, Fault};

/// Limits on stored bytes. The oldest are removed when a limit is exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageLimits {
    /// The most references.
    pub references: usize,
    /// The most bytes in total.
    pub bytes: usize,
    /// The lifetime of a reference.
    pub lifetime: Duration,
}

impl Default for StorageLimits {
    fn default() -> Self {
        Self { references: 256, bytes: 64 << 20, lifetime: Duration::from_secs(24 * 3600) }
    }
}

impl StorageLimits {
    /// The limits of a folder: 1 GB instead of the memory of a process.
    const IN_FOLDER: Self =
        Self { references: 10_000, bytes: 1 << 30, lifetime: Duration::from_secs(24 * 3600) };
}

/// A reference to stored bytes, small enough for a model to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredRef {
    /// The id for later calls.
    pub ref_id: String,
    pub media_type: String,
    pub name: String,
    /// In bytes.
    pub size: usize,
    /// The URI for links in answers.
    #[serde(skip)]
    pub uri: String,
}

/// Stored bytes with their reference.
#[derive(Debug, Clone)]
pub struct StoredBytes {
    pub bytes: Bytes,
    pub reference: StoredRef,
}

/// A structured answer with links to stored bytes.
#[derive(Debug)]
pub struct Linked<T> {
    answer: T,
    references: Vec<StoredRef>,
}

impl<T> Linked<T> {
    /// An answer that links to the references.
    pub fn new(answer: T, references: impl IntoIterator<Item = StoredRef>) -> Self {
        Self { answer, references: references.into_iter().collect() }
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> Answer for Linked<T> {
    fn output_schema() -> Option<Arc<JsonObject>> {
        Some(schema_of_answers::<T>())
    }

    fn into_response(self) -> Result<CallToolResponse, Fault> {
        let value = serde_json::to_value(self.answer)
            .map_err(|error| Fault::internal(format!("the answer is not JSON: {error}")))?;
        let mut result = CallToolResult::structured(value);
        result.content.extend(self.references.into_iter().map(StoredRef::link));
        Ok(result.into())
    }
}

impl StoredRef {
    pub(crate) fn link(self) -> ContentBlock {
        let size = u64::try_from(self.size).unwrap_or(u64::MAX);
        let resource = Resource::new(self.uri, self.name);
        ContentBlock::resource_link(resource.with_mime_type(self.media_type).with_size(size))
    }
}

/// The references of one server, whose clones share them.
#[derive(Debug, Clone)]
pub(crate) struct ReferenceStore {
    server: &'static str,
    storage: Arc<Storage>,
}

/// Where bytes are kept.
#[derive(Debug)]
enum Storage {
    /// They end with the process.
    Memory(MemoryStore),
    /// They outlive the process, and replicas that share the folder have each other's.
    Folder(FolderStore),
}

impl ReferenceStore {
    pub(crate) fn in_memory(server: &'static str, limits: StorageLimits) -> Self {
        let storage = Storage::Memory(MemoryStore::new(limits));
        Self { server, storage: Arc::new(storage) }
    }

    pub(crate) fn in_folder(server: &'static str, folder: PathBuf) -> io::Result<Self> {
        let storage = Storage::Folder(FolderStore::open(&folder, StorageLimits::IN_FOLDER)?);
        Ok(Self { server, storage: Arc::new(storage) })
    }

    pub(crate) fn template(&self) -> ResourceTemplate {
        let template = format!("{}{{ref_id}}/{{name}}", self.prefix());
        ResourceTemplate::new(template, "kept")
            .with_description("Stored results that earlier answers named by `ref_id`.")
    }

    fn prefix(&self) -> String {
        format!("kept://{}/", self.server)
    }

    fn uri(&self, ref_id: &str, name: &str) -> String {
        format!("{}{ref_id}/{name}", self.prefix())
    }

    /// Stores bytes under an id that begins with `prefix`, a word of small ASCII characters.
    pub(crate) async fn store(
        &self,
        prefix: &str,
        bytes: Bytes,
        media_type: &str,
        name: &str,
    ) -> Result<StoredRef, Fault> {
        let name = uri_safe(name);
        // Random, so that it cannot be guessed.
        let ref_id = format!("{prefix}_{}", Uuid::new_v4().simple());
        let uri = self.uri(&ref_id, &name);
        let reference =
            StoredRef { ref_id, media_type: media_type.to_owned(), name, size: bytes.len(), uri };
        let stored = StoredBytes { bytes, reference: reference.clone() };
        self.with_storage(move |storage| match storage {
            Storage::Memory(memory) => memory.store(stored),
            Storage::Folder(folder) => folder.store(&stored),
        })
        .await?;
        Ok(reference)
    }

    /// A reference that was stored without its URI.
    pub(crate) fn with_uri(&self, mut reference: StoredRef) -> StoredRef {
        reference.uri = self.uri(&reference.ref_id, &reference.name);
        reference
    }

    /// The bytes of a reference; the error says how to get a new one.
    pub(crate) async fn find(&self, ref_id: &str) -> Result<StoredBytes, Fault> {
        let id = ref_id.to_owned();
        let found = self
            .with_storage(move |storage| match storage {
                Storage::Memory(memory) => Ok(memory.find(&id)),
                Storage::Folder(folder) => folder.find(&id),
            })
            .await?;
        let Some(mut stored) = found else {
            let shown: String = ref_id.chars().take(80).collect();
            return Err(Fault::not_found(format!(
                "`{shown}` is unknown or has expired: call the tool that named it again"
            )));
        };
        stored.reference.uri = self.uri(&stored.reference.ref_id, &stored.reference.name);
        Ok(stored)
    }

    /// The resource at a URI of this store; `None` for other URIs.
    pub(crate) async fn read(&self, uri: &str) -> Option<Result<ResourceContents, Fault>> {
        let rest = uri.strip_prefix(&self.prefix())?;
        let ref_id = rest.split('/').next().unwrap_or_default();
        Some(self.find(ref_id).await.map(|stored| {
            ResourceContents::blob(STANDARD.encode(&stored.bytes), uri)
                .with_mime_type(stored.reference.media_type)
        }))
    }

    /// Does blocking work.
    async fn with_storage<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Storage) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let storage = Arc::clone(&self.storage);
        tokio::task::spawn_blocking(move || work(&storage))
            .await
            .map_err(|error| Fault::internal(format!("the storage failed: {error}")))?
    }
}

/// The fault of bytes that exceed the limits.
fn too_large(size: usize, limit: usize) -> Fault {
    let message = format!("{size} bytes are too many to store; the limit is {limit}");
    Fault::new(Code::Unsupported, message)
}

/// Replaces characters that are not safe in a URI.
fn uri_safe(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let safe: String = name.chars().take(100).map(|c| if fits(c) { c } else { '_' }).collect();
    if safe.trim_matches(['.', '_']).is_empty() { "kept".to_owned() } else { safe }
}

#[cfg(test)]
mod tests;
