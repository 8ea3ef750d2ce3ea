//! What a server keeps between calls: the bytes of an answer under a reference, so that they enter nobody's context.
//! The server's own tools take the reference back; a gateway reads it by its address when another server wants it.

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

/// How much a server keeps, and for how long. What is oldest goes when there is no more room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keeping {
    /// How many references at most.
    pub references: usize,
    /// How many bytes at most, all together.
    pub bytes: usize,
    /// How long each stays.
    pub lasts: Duration,
}

impl Default for Keeping {
    fn default() -> Self {
        Self { references: 256, bytes: 64 << 20, lasts: Duration::from_secs(24 * 3600) }
    }
}

/// A reference that a server issues: as good as the bytes, and small enough for a model to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// What other calls name it by.
    pub ref_id: String,
    pub media_type: String,
    pub name: String,
    /// In bytes.
    pub size: usize,
    /// Where it can be read; answers say so in links.
    #[serde(skip)]
    pub uri: String,
}

/// Something that is kept, given out again.
#[derive(Debug, Clone)]
pub struct KeptBytes {
    pub bytes: Bytes,
    pub kept: Kept,
}

/// A structured answer with links to what was kept for it.
#[derive(Debug)]
pub struct Linked<T> {
    answer: T,
    kept: Vec<Kept>,
}

impl<T> Linked<T> {
    /// An answer that links to what it names by `ref_id`.
    pub fn new(answer: T, kept: impl IntoIterator<Item = Kept>) -> Self {
        Self { answer, kept: kept.into_iter().collect() }
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
        result.content.extend(self.kept.into_iter().map(Kept::link));
        Ok(result.into())
    }
}

impl Kept {
    fn link(self) -> ContentBlock {
        let size = u64::try_from(self.size).unwrap_or(u64::MAX);
        let resource = Resource::new(self.uri, self.name);
        ContentBlock::resource_link(resource.with_mime_type(self.media_type).with_size(size))
    }
}

/// The references of one server.
#[derive(Debug)]
pub(crate) struct Pantry {
    server: &'static str,
    keeping: Keeping,
    /// The oldest first.
    entries: Mutex<VecDeque<Entry>>,
}

#[derive(Debug)]
struct Entry {
    found: KeptBytes,
    until: Instant,
}

impl Pantry {
    pub(crate) fn new(server: &'static str, keeping: Keeping) -> Self {
        Self { server, keeping, entries: Mutex::default() }
    }

    pub(crate) fn template(&self) -> ResourceTemplate {
        let template = format!("{}{{ref_id}}/{{name}}", self.prefix());
        ResourceTemplate::new(template, "kept")
            .with_description("What earlier answers named by `ref_id`.")
    }

    fn prefix(&self) -> String {
        format!("kept://{}/", self.server)
    }

    pub(crate) fn keep(&self, bytes: Bytes, media_type: &str, name: &str) -> Result<Kept, Fault> {
        let Keeping { references, bytes: room, lasts } = self.keeping;
        if bytes.len() > room || references == 0 {
            let message = format!("{} bytes are too many to be kept; {room} are not", bytes.len());
            return Err(Fault::new(Code::Unsupported, message));
        }
        let name = tame(name);
        // Nobody guesses it: whoever names it was told it.
        let ref_id = format!("kept_{}", Uuid::new_v4().simple());
        let uri = format!("{}{ref_id}/{name}", self.prefix());
        let kept = Kept { ref_id, media_type: media_type.to_owned(), name, size: bytes.len(), uri };
        let now = Instant::now();
        let entry = Entry {
            found: KeptBytes { bytes, kept: kept.clone() },
            until: now.checked_add(lasts).unwrap_or(now),
        };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| entry.until > now);
        entries.push_back(entry);
        let size = |entries: &VecDeque<Entry>| -> usize {
            entries.iter().map(|entry| entry.found.bytes.len()).sum()
        };
        while entries.len() > references || size(&entries) > room {
            entries.pop_front();
        }
        Ok(kept)
    }

    /// What stands under a reference; whoever does not know it is told what to do instead.
    pub(crate) fn find(&self, ref_id: &str) -> Result<KeptBytes, Fault> {
        let now = Instant::now();
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.iter().find(|entry| entry.found.kept.ref_id == ref_id);
        entry.filter(|entry| entry.until > now).map(|entry| entry.found.clone()).ok_or_else(|| {
            let shown: String = ref_id.chars().take(80).collect();
            Fault::not_found(format!(
                "nothing is kept under `{shown}` any more: make it again, with the tool that named it"
            ))
        })
    }

    /// The resource at an address of ours; none if it is none of ours.
    pub(crate) fn read(&self, uri: &str) -> Option<Result<ResourceContents, Fault>> {
        let rest = uri.strip_prefix(&self.prefix())?;
        let ref_id = rest.split('/').next().unwrap_or_default();
        Some(self.find(ref_id).map(|found| {
            ResourceContents::blob(STANDARD.encode(&found.bytes), uri)
                .with_mime_type(found.kept.media_type)
        }))
    }
}

/// A name that can stand in an address.
fn tame(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let tamed: String = name.chars().take(100).map(|c| if fits(c) { c } else { '_' }).collect();
    if tamed.trim_matches(['.', '_']).is_empty() { "kept".to_owned() } else { tamed }
}

#[cfg(test)]
mod tests;
