//! Large parts of an answer: stored as files and replaced by references.

use std::collections::HashMap;
use std::sync::Arc;

use base64::engine::GeneralPurpose;
use bytes::Bytes;
use futures_util::stream;
use proto::{Failure, FileId, FileKind, Principal, canonical};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use store::{FileRecord, Origin};

use super::base64_text::{alphabet, decode_pieces, is_data_url};
use super::blobs::{Blob, Blobs};
use super::files::Files;
use super::inline::{InlineLimits, encoded};
use super::picture::CopyBudget;
use super::record::{NewFile, hex, uri};
use super::secrets::Secrets;

/// How many bytes of a replaced text stay in the answer.
pub(super) const BEGINNING_BYTES: usize = 4 * 1024;

/// How many bytes stay of a value that is stored because an answer has no room for it.
const SHORT_BEGINNING_BYTES: usize = 200;

/// A shorter text takes less room than its reference.
pub(super) const LEAST_STORED: usize = 2_000;

/// The share of a text that its reference may show; less where the whole answer is too long.
const HALF: usize = 2;
pub(super) const EIGHTH: usize = 8;

/// A stored part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub id: FileId,
    pub name: String,
    pub media_type: String,
    pub size: u64,
}

impl Reference {
    /// The URI by which MCP clients read it.
    pub fn uri(&self) -> String {
        uri(&self.id)
    }
}

/// The references in an answer that is repeated.
pub fn references_in(value: &Value) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(map) => {
                let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
                let reference = || {
                    Some(Reference {
                        id: text("ref_id")?.parse().ok()?,
                        name: text("name").unwrap_or_else(|| "result".to_owned()),
                        media_type: text("media_type")?,
                        size: map.get("size")?.as_u64()?,
                    })
                };
                found.extend(reference());
                open.extend(map.values());
            }
            _ => {}
        }
    }
    found
}

/// Replaces the large parts of one answer.
pub struct LargeParts<'a> {
    pub files: &'a Arc<Files>,
    pub principal: &'a Principal,
    /// The server that answered.
    pub server: Option<&'a str>,
    pub limits: InlineLimits,
    pub blobs: Option<Blobs>,
    /// A part that begins like a file that the tool got is stored even if it is small: it may be that file.
    pub secrets: Secrets,
    /// The parts that were stored.
    pub references: Vec<Reference>,
    /// References by the digest of the text that they replace: servers repeat themselves.
    pub known: HashMap<[u8; 32], Value>,
    /// The length in base64 of the image and audio blocks that were left in the answer.
    pub media: usize,
    /// For smaller copies of pictures.
    pub copies: CopyBudget,
}

/// A large part of an answer.
pub(super) enum Large {
    /// In base64 of this alphabet.
    Binary(Source, &'static GeneralPurpose),
    Text(String),
}

impl Large {
    fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        match self {
            Self::Binary(Source::Blob(blob), _) => {
                blob.pieces.iter().for_each(|piece| digest.update(piece))
            }
            Self::Binary(Source::Text(text), _) | Self::Text(text) => digest.update(text),
        }
        digest.finalize().into()
    }
}

pub(super) enum Source {
    Text(String),
    Blob(Blob),
}

impl LargeParts<'_> {
    /// Whether a value may contain large parts.
    pub fn may_be_in(&self, value: &Value) -> bool {
        self.blobs.is_some() || has_longer_text(value, self.limits.least())
    }

    /// Replaces every large text in a value.
    pub async fn replace_in(&mut self, value: &mut Value) -> Result<(), Failure> {
        let mut found = Vec::new();
        self.find_large(value, &mut String::new(), &mut found);
        for (pointer, name) in found {
            let Some(part) = value.pointer_mut(&pointer) else { continue };
            let Value::String(text) = part else { continue };
            match self.large(text, self.limits.data) {
                Some(large) => *part = self.reference(large, None, &name, HALF).await?,
                // Restored, it is neither base64 nor large.
                None => *text = self.restore(text),
            }
        }
        Ok(())
    }

    /// Replaces the longest texts, the longest first, until the value has at most `limit` bytes as JSON or only short
    /// texts are left.
    pub async fn fit(&mut self, value: &mut Value, limit: usize) -> Result<(), Failure> {
        while canonical::len(value) > limit {
            let mut longest = (LEAST_STORED, None);
            find_longest(value, &mut String::new(), &mut longest);
            let Some(pointer) = longest.1 else { break };
            let Some(part) = value.pointer_mut(&pointer) else { break };
            let Value::String(text) = std::mem::take(part) else { break };
            *part = self.reference(Large::Text(text), None, key_of(&pointer), EIGHTH).await?;
        }
        Ok(())
    }

    /// The JSON pointers of large texts, with a name for each.
    fn find_large(&self, value: &Value, at: &mut String, found: &mut Vec<(String, String)>) {
        let length = at.len();
        match value {
            Value::String(text) if self.looks_large(text, self.limits.data) => {
                found.push((at.clone(), key_of(at).replace("~1", "/").replace("~0", "~")));
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    at.push_str(&format!("/{index}"));
                    self.find_large(item, at, found);
                    at.truncate(length);
                }
            }
            Value::Object(map) => {
                for (key, item) in map {
                    at.push('/');
                    at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    self.find_large(item, at, found);
                    at.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// Whether a text may be large, where binary of more bytes than `limit` is.
    fn looks_large(&self, text: &str, limit: usize) -> bool {
        text.len() > encoded(limit).min(self.limits.text)
            || self.blobs.as_ref().is_some_and(|blobs| blobs.is_in(text))
            || self.secrets.is_in(text)
    }

    pub(crate) fn restore(&self, text: &str) -> String {
        self.blobs.as_ref().map_or_else(|| text.to_owned(), |blobs| blobs.restore(text))
    }

    fn large(&self, text: &str, limit: usize) -> Option<Large> {
        if let Some((before, blob)) = self.blobs.as_ref().and_then(|blobs| blobs.find(text))
            && blob.length > encoded(limit)
            && (before.is_empty() || is_data_url(before))
            && let Some(engine) = alphabet(blob.length, blob.pieces.iter().flatten().copied())
        {
            return Some(Large::Binary(Source::Blob(blob.clone()), engine));
        }
        let text = self.restore(text);
        let base64 = match text.split_once(";base64,") {
            Some((before, base64)) if is_data_url(&format!("{before};base64,")) => base64,
            _ => &text,
        };
        let is_base64 = |text: &str| alphabet(text.len(), text.bytes());
        if (base64.len() > encoded(limit) || self.secrets.is_prefix_of(base64))
            && let Some(engine) = is_base64(base64)
        {
            return Some(Large::Binary(Source::Text(base64.to_owned()), engine));
        }
        // A short text of base64 stays, even if it is longer than a text may be.
        let small = || base64.len() <= encoded(limit) && is_base64(base64).is_some();
        (text.len() > self.limits.text && !small()).then_some(Large::Text(text))
    }

    /// The reference for one field of a block, if the field is large: a text, or binary of more bytes than `limit`.
    pub(crate) async fn in_field(
        &mut self,
        fields: &mut Map<String, Value>,
        field: &str,
        name: Option<&str>,
        limit: usize,
    ) -> Result<Option<Value>, Failure> {
        let Some(text) = fields.get(field).and_then(Value::as_str) else { return Ok(None) };
        if !self.looks_large(text, limit) {
            return Ok(None);
        }
        let Some(large) = self.large(text, limit) else {
            let whole = self.restore(text);
            fields.insert(field.to_owned(), Value::from(whole));
            return Ok(None);
        };
        let media_type = fields.get("mimeType").and_then(Value::as_str);
        let name = name.and_then(|uri| uri.rsplit('/').find(|part| !part.is_empty()));
        self.reference(large, media_type, name.unwrap_or("result"), HALF).await.map(Some)
    }

    /// Stores a part, and returns its reference. Of a text, its beginning stays, at most one part in `share` of it.
    pub(super) async fn reference(
        &mut self,
        large: Large,
        declared: Option<&str>,
        name: &str,
        share: usize,
    ) -> Result<Value, Failure> {
        let digest = large.digest();
        if let Some(known) = self.known.get(&digest) {
            return Ok(known.clone());
        }
        let new = NewFile {
            origin: self.server.map(|server| Origin {
                server: server.to_owned(),
                reference: None,
                agent: None,
            }),
            ..NewFile::new(FileKind::Reference, name)
        };
        let (record, preview) = match large {
            Large::Binary(source, engine) => {
                let pieces = match source {
                    Source::Text(text) => vec![Bytes::from(text)],
                    Source::Blob(blob) => blob.pieces,
                };
                (self.files.put(self.principal, new, decode_pieces(pieces, engine)).await?, None)
            }
            Large::Text(text) => {
                let most = BEGINNING_BYTES.min(text.len() / share);
                let mut preview = beginning(&text, 2 * most).to_owned();
                self.secrets.scrub_text(&mut preview);
                let preview = beginning(&preview, most).to_owned();
                let whole = stream::iter([Ok(Bytes::from(text))]);
                (self.files.put(self.principal, new, whole).await?, Some(preview))
            }
        };
        let reference = describe(&record, declared, preview);
        self.known.insert(digest, reference.clone());
        self.references.push(Reference {
            id: record.id,
            name: record.name,
            media_type: record.media_type,
            size: record.size,
        });
        Ok(reference)
    }
}

impl Files {
    /// Stores a value of a run, and returns the reference that takes its place in an answer. The media type says whether it
    /// is a text as it is or a value as JSON: the bytes do not, because a text may be JSON.
    pub async fn put_value(
        &self,
        principal: &Principal,
        value: &Value,
        new: NewFile,
    ) -> Result<Value, Failure> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let preview = beginning(&text, SHORT_BEGINNING_BYTES).to_owned();
        let whole = stream::iter([Ok(Bytes::from(text))]);
        let media_type = Some(if value.is_string() { "text/plain" } else { "application/json" });
        let record = self.put(principal, NewFile { media_type, ..new }, whole).await?;
        Ok(describe(&record, None, Some(preview)))
    }
}

/// Finds the text with the most bytes as JSON.
fn find_longest(value: &Value, at: &mut String, longest: &mut (usize, Option<String>)) {
    let length = at.len();
    match value {
        Value::String(text) if text.len() > LEAST_STORED && canonical::len(value) > longest.0 => {
            *longest = (canonical::len(value), Some(at.clone()));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at.push_str(&format!("/{index}"));
                find_longest(item, at, longest);
                at.truncate(length);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                at.push('/');
                at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                find_longest(item, at, longest);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

/// The last key of a JSON pointer.
fn key_of(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or_default()
}

/// What a caller sees of a stored part.
fn describe(record: &FileRecord, declared: Option<&str>, preview: Option<String>) -> Value {
    let generic = record.media_type == "application/octet-stream";
    let media_type = declared.filter(|_| generic).unwrap_or(&record.media_type);
    let mut shown = json!({
        "ref_id": record.id,
        "media_type": media_type,
        "name": record.name,
        "size": record.size,
        "sha256": hex(&record.sha256),
    });
    if let Some(preview) = preview {
        shown["preview"] = Value::from(preview);
        shown["truncated"] = Value::from(true);
    }
    shown
}

/// The longest beginning of a text that has at most so many bytes.
fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Whether a value contains a text of more bytes.
pub fn has_longer_text(value: &Value, least: usize) -> bool {
    match value {
        Value::String(text) => text.len() > least,
        Value::Array(items) => items.iter().any(|item| has_longer_text(item, least)),
        Value::Object(map) => map.values().any(|item| has_longer_text(item, least)),
        _ => false,
    }
}
