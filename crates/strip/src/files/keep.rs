//! The way out: what is large in an answer is kept, and a reference handed on in its place.

use std::collections::HashMap;
use std::sync::Arc;

use base64::engine::GeneralPurpose;
use bytes::Bytes;
use futures_util::stream;
use proto::FileKind;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use store::{FileRecord, Origin};

use super::carve::{Carved, Run};
use super::letters::{alphabet, decoded, is_data_url};
use super::reference::Reference;
use super::{Files, NewFile, Secrets};
use crate::catalog::Entry;
use crate::{Failure, Output, Request};

/// How much of a kept text is shown.
const PREVIEW_CHARS: usize = 200;

/// What of an answer is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepRules {
    /// Binary of more bytes than this.
    pub binary: usize,
    /// Text of more bytes than this, where the tool does not declare that it answers with more.
    pub text: usize,
}

impl Default for KeepRules {
    fn default() -> Self {
        Self { binary: super::BINARY_BYTES, text: 64 * 1024 }
    }
}

/// What was kept of an answer that is given again.
pub(crate) fn references_in(value: &Value) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(map) => {
                let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
                let told = || {
                    Some(Reference {
                        id: text("ref_id")?.parse().ok()?,
                        name: text("name").unwrap_or_else(|| "result".to_owned()),
                        media_type: text("media_type")?,
                        size: map.get("size")?.as_u64()?,
                    })
                };
                found.extend(told());
                open.extend(map.values());
            }
            _ => {}
        }
    }
    found
}

/// Whether anything in an output is so large that it may have to be kept.
pub(crate) fn is_large(
    rules: KeepRules,
    entry: &Entry,
    secrets: &Secrets,
    output: &Output,
) -> bool {
    let least = (rules.binary / 3 * 4).min(longest_text(rules, entry));
    let value = output.native.as_ref().unwrap_or(&output.data);
    output.carved.is_some() || has_longer(value, least) || secrets.are_in(value)
}

/// A tool that declares that it answers with so much is taken at its word: search results are to be read.
fn longest_text(rules: KeepRules, entry: &Entry) -> usize {
    let declared = entry.descriptor.limits.max_output_bytes;
    rules.text.max(declared.map_or(0, |_| entry.limits.max_output_bytes))
}

/// Keeps what is large in an output.
pub(crate) async fn keep(
    files: &Arc<Files>,
    rules: KeepRules,
    entry: &Entry,
    (call, secrets): (&Request, &Secrets),
    mut output: Output,
) -> Result<Output, Failure> {
    let mut keeper = Keeper::new(files, rules, entry, call, output.carved.take());
    keeper.secrets = secrets.clone();
    match &mut output.native {
        Some(native) => {
            let result = Arc::make_mut(native);
            keeper.result(result).await?;
            output.data = Arc::new(data_of(result));
        }
        None => keeper.value(Arc::make_mut(&mut output.data)).await?,
    }
    output.references = keeper.kept;
    Ok(output)
}

/// Keeps what is large in a failed result of a server.
pub(crate) async fn keep_failed(
    files: &Arc<Files>,
    rules: KeepRules,
    entry: &Entry,
    call: &Request,
    mut failure: Failure,
) -> Failure {
    let Some(native) = &mut failure.native else { return failure };
    let mut keeper = Keeper::new(files, rules, entry, call, None);
    if keeper.is_large_in(native)
        && let Err(unkept) = keeper.result(Arc::make_mut(native)).await
    {
        return unkept;
    }
    failure
}

/// What the envelope carries of a server's result.
pub fn data_of(result: &Value) -> Value {
    match result.get("structuredContent") {
        Some(structured) if !structured.is_null() => structured.clone(),
        _ => json!({"content": result.get("content").cloned().unwrap_or_else(|| json!([]))}),
    }
}

struct Keeper<'a> {
    files: &'a Arc<Files>,
    entry: &'a Entry,
    call: &'a Request,
    binary: usize,
    text: usize,
    carved: Option<Carved>,
    kept: Vec<Reference>,
    /// What begins like a file that the tool was given is kept, however small it is: it may be the file, or made of it.
    secrets: Secrets,
    /// What was kept already, by its text: servers repeat themselves.
    known: HashMap<[u8; 32], Value>,
}

/// A large part of an answer.
enum Large {
    /// In base64 of these letters.
    Binary(Source, &'static GeneralPurpose),
    Text(String),
}

impl Large {
    fn sum(&self) -> [u8; 32] {
        let mut sum = Sha256::new();
        match self {
            Self::Binary(Source::Run(run), _) => {
                run.pieces.iter().for_each(|piece| sum.update(piece))
            }
            Self::Binary(Source::Text(text), _) | Self::Text(text) => sum.update(text),
        }
        sum.finalize().into()
    }
}

enum Source {
    Text(String),
    Run(Run),
}

impl<'a> Keeper<'a> {
    fn new(
        files: &'a Arc<Files>,
        rules: KeepRules,
        entry: &'a Entry,
        call: &'a Request,
        carved: Option<Carved>,
    ) -> Self {
        let text = longest_text(rules, entry);
        let (kept, known) = (Vec::new(), HashMap::new());
        let secrets = Secrets::default();
        Self { files, entry, call, binary: rules.binary, text, carved, kept, secrets, known }
    }

    /// Whether a walk is worth its while.
    fn is_large_in(&self, value: &Value) -> bool {
        self.carved.is_some() || {
            let least = (self.binary / 3 * 4).min(self.text);
            has_longer(value, least)
        }
    }

    /// A result as MCP servers write it.
    async fn result(&mut self, result: &mut Value) -> Result<(), Failure> {
        let structured = result.get("structuredContent").filter(|value| !value.is_null()).cloned();
        if let Some(place) = result.get_mut("structuredContent") {
            self.value(place).await?;
        }
        let kept = result.get("structuredContent").cloned();
        for (key, value) in result.as_object_mut().into_iter().flatten() {
            if key != "content" && key != "structuredContent" {
                self.value(value).await?;
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
                        *block = told(&reference);
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
                        *block = told(&reference);
                    }
                }
                Some("text") => {
                    let text = fields.get("text").and_then(Value::as_str).unwrap_or_default();
                    if let Some(kept) = kept.as_ref().filter(|_| text.len() > 2 && repeats(text)) {
                        block["text"] = Value::from(kept.to_string());
                    } else if let Some(mut inner) = self.json(text) {
                        self.value(&mut inner).await?;
                        block["text"] = Value::from(inner.to_string());
                    } else if let Some(reference) = self.in_field(fields, "text", None).await? {
                        *block = told(&reference);
                    }
                }
                _ => self.value(block).await?,
            }
        }
        Ok(())
    }

    /// A text that is JSON and holds something large.
    fn json(&self, text: &str) -> Option<Value> {
        let marked = self.carved.as_ref().is_some_and(|carved| carved.marks(text));
        let large = marked || text.len() > self.binary || self.secrets.is_in(text);
        if !large || !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let value: Value = serde_json::from_str(text).ok()?;
        (self.is_large_in(&value) || self.secrets.are_in(&value)).then_some(value)
    }

    /// Any value: every large text in it gives way to a reference.
    async fn value(&mut self, value: &mut Value) -> Result<(), Failure> {
        let mut places = Vec::new();
        self.places(value, &mut String::new(), &mut places);
        for (pointer, name) in places {
            let Some(place) = value.pointer_mut(&pointer) else { continue };
            let Value::String(text) = place else { continue };
            match self.large(text) {
                Some(large) => *place = self.reference(large, None, &name).await?,
                // Restored, it is not large after all, or no base64.
                None => *text = self.restored(text),
            }
        }
        Ok(())
    }

    /// Where large texts are, as JSON pointers, with a name for each.
    fn places(&self, value: &Value, at: &mut String, found: &mut Vec<(String, String)>) {
        let length = at.len();
        match value {
            Value::String(text) if self.looks_large(text) => {
                let key = at.rsplit('/').next().unwrap_or_default();
                found.push((at.clone(), key.replace("~1", "/").replace("~0", "~")));
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    at.push_str(&format!("/{index}"));
                    self.places(item, at, found);
                    at.truncate(length);
                }
            }
            Value::Object(map) => {
                for (key, item) in map {
                    at.push('/');
                    at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    self.places(item, at, found);
                    at.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn looks_large(&self, text: &str) -> bool {
        text.len() > (self.binary / 3 * 4).min(self.text)
            || self.carved.as_ref().is_some_and(|carved| carved.marks(text))
            || self.secrets.is_in(text)
    }

    fn restored(&self, text: &str) -> String {
        self.carved.as_ref().map_or_else(|| text.to_owned(), |carved| carved.restored(text))
    }

    fn large(&self, text: &str) -> Option<Large> {
        if let Some((before, run)) = self.carved.as_ref().and_then(|carved| carved.run(text))
            && (before.is_empty() || is_data_url(before))
            && let Some(engine) = alphabet(run.length, run.pieces.iter().flatten().copied())
        {
            return Some(Large::Binary(Source::Run(run.clone()), engine));
        }
        let text = self.restored(text);
        let encoded = match text.split_once(";base64,") {
            Some((before, encoded)) if is_data_url(&format!("{before};base64,")) => encoded,
            _ => &text,
        };
        if (encoded.len() > self.binary / 3 * 4 || self.secrets.begin(encoded))
            && let Some(engine) = alphabet(encoded.len(), encoded.bytes())
        {
            return Some(Large::Binary(Source::Text(encoded.to_owned()), engine));
        }
        (text.len() > self.text).then_some(Large::Text(text))
    }

    /// The reference that takes the place of one field of a block, if it is large.
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
            let whole = self.restored(text);
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
        let digest = large.sum();
        if let Some(known) = self.known.get(&digest) {
            return Ok(known.clone());
        }
        let new = NewFile {
            origin: self.entry.descriptor.id.server().map(|server| Origin {
                server: server.to_owned(),
                reference: None,
                agent: None,
            }),
            ..NewFile::new(FileKind::Reference, name)
        };
        let principal = &self.call.principal;
        let (record, preview) = match large {
            Large::Binary(source, engine) => {
                let pieces = match source {
                    Source::Text(text) => vec![Bytes::from(text)],
                    Source::Run(run) => run.pieces,
                };
                (self.files.put(principal, new, decoded(pieces, engine)).await?, None)
            }
            Large::Text(text) => {
                let mut preview: String = text.chars().take(20 * PREVIEW_CHARS).collect();
                self.secrets.out_of_text(&mut preview);
                let preview = preview.chars().take(PREVIEW_CHARS).collect();
                let whole = stream::iter([Ok(Bytes::from(text))]);
                (self.files.put(principal, new, whole).await?, Some(preview))
            }
        };
        let reference = shown(&record, declared, preview);
        self.known.insert(digest, reference.clone());
        self.kept.push(Reference {
            id: record.id,
            name: record.name,
            media_type: record.media_type,
            size: record.size,
        });
        Ok(reference)
    }
}

/// What a caller is told of a kept part.
fn shown(record: &FileRecord, declared: Option<&str>, preview: Option<String>) -> Value {
    let generic = record.media_type == "application/octet-stream";
    let media_type = declared.filter(|_| generic).unwrap_or(&record.media_type);
    let mut shown = json!({
        "ref_id": record.id,
        "media_type": media_type,
        "name": record.name,
        "size": record.size,
        "sha256": record.sha256.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
    });
    if let Some(preview) = preview {
        shown["preview"] = Value::from(preview);
    }
    shown
}

/// A reference as a block of text, which every model reads. Its name stands in the link beside it.
fn told(reference: &Value) -> Value {
    let mut told = reference.clone();
    if let Some(fields) = told.as_object_mut() {
        fields.remove("name");
    }
    json!({"type": "text", "text": told.to_string()})
}

fn has_longer(value: &Value, least: usize) -> bool {
    match value {
        Value::String(text) => text.len() > least,
        Value::Array(items) => items.iter().any(|item| has_longer(item, least)),
        Value::Object(map) => map.values().any(|item| has_longer(item, least)),
        _ => false,
    }
}
