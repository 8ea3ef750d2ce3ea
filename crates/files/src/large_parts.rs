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
use super::record::{NewFile, hex, uri};
use super::secrets::Secrets;

/// How much of a stored text a reference shows.
const PREVIEW_CHARS: usize = 200;

/// A shorter text takes less room than its reference.
const LEAST_STORED: usize = 2_000;

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
    /// Binary of more bytes is large.
    pub binary: usize,
    /// Text of more bytes is large.
    pub text: usize,
    pub blobs: Option<Blobs>,
    /// What begins like a file that the tool got is stored even if it is small: it may be that file.
    pub secrets: Secrets,
    /// What was stored.
    pub references: Vec<Reference>,
    /// References by the digest of the text that they replace: servers repeat themselves.
    pub known: HashMap<[u8; 32], Value>,
}

/// A large part of an answer.
enum Large {
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

enum Source {
    Text(String),
    Blob(Blob),
}

impl LargeParts<'_> {
    /// Whether a value may contain large parts.
    pub fn may_be_in(&self, value: &Value) -> bool {
        self.blobs.is_some() || {
            let least = (self.binary / 3 * 4).min(self.text);
            has_longer_text(value, least)
        }
    }

    /// Replaces the large parts of an MCP result.
    pub async fn replace_in_result(&mut self, result: &mut Value) -> Result<(), Failure> {
        let structured = result.get("structuredContent").filter(|value| !value.is_null()).cloned();
        if let Some(content) = result.get_mut("structuredContent") {
            self.replace_in(content).await?;
        }
        let replaced = result.get("structuredContent").cloned();
        for (key, value) in result.as_object_mut().into_iter().flatten() {
            if key != "content" && key != "structuredContent" {
                self.replace_in(value).await?;
            }
        }
        let Some(blocks) = result.get_mut("content").and_then(Value::as_array_mut) else {
            return Ok(());
        };
        for block in blocks {
            let Some(fields) = block.as_object_mut() else { continue };
            let repeats = |text: &str| {
                let read: Option<Value> = serde_json::from_str(text).ok();
                read.is_some() && read == structured
            };
            match fields.get("type").and_then(Value::as_str) {
                Some("image" | "audio") => {
                    if let Some(reference) = self.in_field(fields, "data", None).await? {
                        *block = as_text(&reference);
                    }
                }
                Some("resource") => {
                    let Some(resource) = fields.get_mut("resource").and_then(Value::as_object_mut)
                    else {
                        continue;
                    };
                    let name = resource.get("uri").and_then(Value::as_str).map(str::to_owned);
                    let mut found = self.in_field(resource, "blob", name.as_deref()).await?;
                    if found.is_none() {
                        found = self.in_field(resource, "text", name.as_deref()).await?;
                    }
                    if let Some(reference) = found {
                        *block = as_text(&reference);
                    }
                }
                Some("text") => {
                    let text = fields.get("text").and_then(Value::as_str).unwrap_or_default();
                    if let Some(replaced) =
                        replaced.as_ref().filter(|_| text.len() > 2 && repeats(text))
                    {
                        block["text"] = Value::from(replaced.to_string());
                    } else if let Some(mut inner) = self.json(text) {
                        self.replace_in(&mut inner).await?;
                        block["text"] = Value::from(inner.to_string());
                    } else if let Some(reference) = self.in_field(fields, "text", None).await? {
                        *block = as_text(&reference);
                    }
                }
                _ => self.replace_in(block).await?,
            }
        }
        Ok(())
    }

    /// The JSON in a text, if it contains something large.
    fn json(&self, text: &str) -> Option<Value> {
        let extracted = self.blobs.as_ref().is_some_and(|blobs| blobs.is_in(text));
        let large = extracted || text.len() > self.binary || self.secrets.is_in(text);
        if !large || !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let value: Value = serde_json::from_str(text).ok()?;
        (self.may_be_in(&value) || self.secrets.are_in(&value)).then_some(value)
    }

    /// Replaces every large text in a value.
    pub async fn replace_in(&mut self, value: &mut Value) -> Result<(), Failure> {
        let mut found = Vec::new();
        self.find_large(value, &mut String::new(), &mut found);
        for (pointer, name) in found {
            let Some(part) = value.pointer_mut(&pointer) else { continue };
            let Value::String(text) = part else { continue };
            match self.large(text) {
                Some(large) => *part = self.reference(large, None, &name).await?,
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
            *part = self.reference(Large::Text(text), None, key_of(&pointer)).await?;
        }
        Ok(())
    }

    /// The JSON pointers of large texts, with a name for each.
    fn find_large(&self, value: &Value, at: &mut String, found: &mut Vec<(String, String)>) {
        let length = at.len();
        match value {
            Value::String(text) if self.looks_large(text) => {
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

    fn looks_large(&self, text: &str) -> bool {
        text.len() > (self.binary / 3 * 4).min(self.text)
            || self.blobs.as_ref().is_some_and(|blobs| blobs.is_in(text))
            || self.secrets.is_in(text)
    }

    fn restore(&self, text: &str) -> String {
        self.blobs.as_ref().map_or_else(|| text.to_owned(), |blobs| blobs.restore(text))
    }

    fn large(&self, text: &str) -> Option<Large> {
        if let Some((before, blob)) = self.blobs.as_ref().and_then(|blobs| blobs.find(text))
            && (before.is_empty() || is_data_url(before))
            && let Some(engine) = alphabet(blob.length, blob.pieces.iter().flatten().copied())
        {
            return Some(Large::Binary(Source::Blob(blob.clone()), engine));
        }
        let text = self.restore(text);
        let encoded = match text.split_once(";base64,") {
            Some((before, encoded)) if is_data_url(&format!("{before};base64,")) => encoded,
            _ => &text,
        };
        if (encoded.len() > self.binary / 3 * 4 || self.secrets.is_prefix_of(encoded))
            && let Some(engine) = alphabet(encoded.len(), encoded.bytes())
        {
            return Some(Large::Binary(Source::Text(encoded.to_owned()), engine));
        }
        (text.len() > self.text).then_some(Large::Text(text))
    }

    /// The reference for one field of a block, if the field is large.
    async fn in_field(
        &mut self,
        fields: &mut Map<String, Value>,
        field: &str,
        name: Option<&str>,
    ) -> Result<Option<Value>, Failure> {
        let Some(text) = fields.get(field).and_then(Value::as_str) else { return Ok(None) };
        if !self.looks_large(text) {
            return Ok(None);
        }
        let Some(large) = self.large(text) else {
            let whole = self.restore(text);
            fields.insert(field.to_owned(), Value::from(whole));
            return Ok(None);
        };
        let media_type = fields.get("mimeType").and_then(Value::as_str);
        let name = name.and_then(|uri| uri.rsplit('/').find(|part| !part.is_empty()));
        self.reference(large, media_type, name.unwrap_or("result")).await.map(Some)
    }

    async fn reference(
        &mut self,
        large: Large,
        declared: Option<&str>,
        name: &str,
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
                let mut preview: String = text.chars().take(20 * PREVIEW_CHARS).collect();
                self.secrets.scrub_text(&mut preview);
                let preview = preview.chars().take(PREVIEW_CHARS).collect();
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
    /// Stores a value of a run, as text or as JSON, and returns the reference that takes its place in an answer.
    pub async fn put_value(
        &self,
        principal: &Principal,
        value: &Value,
        new: NewFile,
    ) -> Result<Value, Failure> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let preview = text.chars().take(PREVIEW_CHARS).collect();
        let whole = stream::iter([Ok(Bytes::from(text))]);
        let record = self.put(principal, new, whole).await?;
        let declared = (!value.is_string()).then_some("application/json");
        Ok(describe(&record, declared, Some(preview)))
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
    }
    shown
}

/// A reference as a block of text, which every model reads. The link next to it has the name.
fn as_text(reference: &Value) -> Value {
    let mut shown = reference.clone();
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("name");
    }
    json!({"type": "text", "text": shown.to_string()})
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
