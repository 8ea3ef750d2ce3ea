//! Bytes that a server stores between calls under a reference, so that they do not enter a model's context. The server's
//! own tools accept the reference; a gateway reads it by its URI when another server needs it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use rmcp::handler::server::tool::schema_for_output;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, JsonObject, Resource, ResourceContents,
    ResourceTemplate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

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
        Some(schema_for_output::<T>())
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
    fn link(self) -> ContentBlock {
        let size = u64::try_from(self.size).unwrap_or(u64::MAX);
        let resource = Resource::new(self.uri, self.name);
        ContentBlock::resource_link(resource.with_mime_type(self.media_type).with_size(size))
    }
}

/// The references of one server.
#[derive(Debug)]
pub(crate) struct ReferenceStore {
    server: &'static str,
    limits: StorageLimits,
    /// The oldest first.
    entries: Mutex<VecDeque<Entry>>,
}

#[derive(Debug)]
struct Entry {
    stored: StoredBytes,
    expires: Instant,
}

impl ReferenceStore {
    pub(crate) fn new(server: &'static str, limits: StorageLimits) -> Self {
        Self { server, limits, entries: Mutex::default() }
    }

    pub(crate) fn template(&self) -> ResourceTemplate {
        let template = format!("{}{{ref_id}}/{{name}}", self.prefix());
        ResourceTemplate::new(template, "kept")
            .with_description("Stored results that earlier answers named by `ref_id`.")
    }

    fn prefix(&self) -> String {
        format!("kept://{}/", self.server)
    }

    pub(crate) fn store(
        &self,
        bytes: Bytes,
        media_type: &str,
        name: &str,
    ) -> Result<StoredRef, Fault> {
        let StorageLimits { references, bytes: max_bytes, lifetime } = self.limits;
        if bytes.len() > max_bytes || references == 0 {
            let message =
                format!("{} bytes are too many to store; the limit is {max_bytes}", bytes.len());
            return Err(Fault::new(Code::Unsupported, message));
        }
        let name = uri_safe(name);
        // Random, so that it cannot be guessed.
        let ref_id = format!("kept_{}", Uuid::new_v4().simple());
        let uri = format!("{}{ref_id}/{name}", self.prefix());
        let reference =
            StoredRef { ref_id, media_type: media_type.to_owned(), name, size: bytes.len(), uri };
        let now = Instant::now();
        let entry = Entry {
            stored: StoredBytes { bytes, reference: reference.clone() },
            expires: now.checked_add(lifetime).unwrap_or(now),
        };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| entry.expires > now);
        entries.push_back(entry);
        let size = |entries: &VecDeque<Entry>| -> usize {
            entries.iter().map(|entry| entry.stored.bytes.len()).sum()
        };
        while entries.len() > references || size(&entries) > max_bytes {
            entries.pop_front();
        }
        Ok(reference)
    }

    /// The bytes of a reference; the error says how to get a new one.
    pub(crate) fn find(&self, ref_id: &str) -> Result<StoredBytes, Fault> {
        let now = Instant::now();
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.iter().find(|entry| entry.stored.reference.ref_id == ref_id);
        entry.filter(|entry| entry.expires > now).map(|entry| entry.stored.clone()).ok_or_else(
            || {
                let shown: String = ref_id.chars().take(80).collect();
                Fault::not_found(format!(
                    "`{shown}` is unknown or has expired: call the tool that named it again"
                ))
            },
        )
    }

    /// The resource at a URI of this store; `None` for other URIs.
    pub(crate) fn read(&self, uri: &str) -> Option<Result<ResourceContents, Fault>> {
        let rest = uri.strip_prefix(&self.prefix())?;
        let ref_id = rest.split('/').next().unwrap_or_default();
        Some(self.find(ref_id).map(|stored| {
            ResourceContents::blob(STANDARD.encode(&stored.bytes), uri)
                .with_mime_type(stored.reference.media_type)
        }))
    }
}

/// Replaces characters that are not safe in a URI.
fn uri_safe(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let safe: String = name.chars().take(100).map(|c| if fits(c) { c } else { '_' }).collect();
    if safe.trim_matches(['.', '_']).is_empty() { "kept".to_owned() } else { safe }
}

#[cfg(test)]
mod tests;
