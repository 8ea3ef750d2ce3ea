//! Large parts of an MCP result. What a model can look at stays up to a limit; of a larger text its beginning stays, and
//! of a larger picture a smaller copy.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use proto::{Failure, FileId, canonical};
use serde_json::{Map, Value, json};

use super::inline::encoded;
use super::large_parts::LargeParts;

impl LargeParts<'_> {
    /// Replaces the large parts of an MCP result.
    pub async fn replace_in_result(&mut self, result: &mut Value) -> Result<(), Failure> {
        let structured = result.get("structuredContent").filter(|value| !value.is_null()).cloned();
        if let Some(content) = result.get_mut("structuredContent") {
            self.replace_in(content).await?;
        }
        let replaced = result.get("structuredContent").cloned();
        let structured = Structured { whole: structured, replaced };
        for (key, value) in result.as_object_mut().into_iter().flatten() {
            if key != "content" && key != "structuredContent" {
                self.replace_in(value).await?;
            }
        }
        let Some(blocks) = result.get_mut("content").and_then(Value::as_array_mut) else {
            return Ok(());
        };
        for block in std::mem::take(blocks) {
            self.replace_in_block(block, &structured, blocks).await?;
        }
        match self.limits.result {
            Some(limit) => self.fit_media(result, limit).await,
            None => Ok(()),
        }
    }

    /// Replaces images and audio, the largest first, until the result has at most `limit` bytes as JSON.
    async fn fit_media(&mut self, result: &mut Value, limit: usize) -> Result<(), Failure> {
        let mut size = canonical::len(result);
        let Some(blocks) = result.get_mut("content").and_then(Value::as_array_mut) else {
            return Ok(());
        };
        let length = |block: &Value| block.get("data").and_then(Value::as_str).map_or(0, str::len);
        let mut media: Vec<_> = (0..blocks.len()).filter(|at| is_media(&blocks[*at])).collect();
        media.sort_by_key(|at| Reverse(length(&blocks[*at])));
        let mut replaced: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
        for at in media {
            if size <= limit {
                break;
            }
            let Some(fields) = blocks[at].as_object_mut() else { continue };
            let before = fields.get("data").and_then(Value::as_str).map_or(0, str::len);
            let Some(reference) = self.in_field(fields, "data", None, 0).await? else { continue };
            size = size.saturating_sub(before);
            self.media = self.media.saturating_sub(before);
            let mut new = Vec::new();
            if fields.get("type").is_some_and(|kind| kind == "image")
                && let Some(copy) = self.smaller_copy(fields, &reference).await
                && size + canonical::len(&copy) <= limit
            {
                size += canonical::len(&copy);
                new.push(copy);
            }
            new.extend(as_blocks(reference));
            size += new.iter().skip(new.len() - 1).map(canonical::len).sum::<usize>();
            replaced.insert(at, new);
        }
        if !replaced.is_empty() {
            let old = std::mem::take(blocks).into_iter().enumerate();
            blocks.extend(old.flat_map(|(at, block)| replaced.remove(&at).unwrap_or(vec![block])));
        }
        Ok(())
    }

    /// Adds a block to `blocks`, or what replaces it.
    async fn replace_in_block(
        &mut self,
        mut block: Value,
        structured: &Structured,
        blocks: &mut Vec<Value>,
    ) -> Result<(), Failure> {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(fields) = block.as_object_mut() else {
            blocks.push(block);
            return Ok(());
        };
        let reference = match kind.as_str() {
            "image" | "audio" => {
                if self.keep_media(fields) {
                    None
                } else {
                    let found = self.in_field(fields, "data", None, 0).await?;
                    if let Some(reference) = found.as_ref().filter(|_| kind == "image") {
                        blocks.extend(self.smaller_copy(fields, reference).await);
                    }
                    found
                }
            }
            "resource" => match fields.get_mut("resource").and_then(Value::as_object_mut) {
                None => None,
                Some(resource) => {
                    let (name, limit) =
                        (resource.get("uri").and_then(Value::as_str), self.limits.data);
                    let name = name.map(str::to_owned);
                    match self.in_field(resource, "blob", name.as_deref(), limit).await? {
                        None => self.in_field(resource, "text", name.as_deref(), limit).await?,
                        found => found,
                    }
                }
            },
            "text" => self.in_text(fields, structured).await?,
            _ => {
                self.replace_in(&mut block).await?;
                None
            }
        };
        match reference {
            Some(reference) => blocks.extend(as_blocks(reference)),
            None => blocks.push(block),
        }
        Ok(())
    }

    /// Leaves an image or audio block in the answer if it is small enough and not a copy of the caller's own file.
    fn keep_media(&mut self, fields: &mut Map<String, Value>) -> bool {
        let Some(data) = fields.get("data").and_then(Value::as_str) else { return true };
        let length = match self.blobs.as_ref().and_then(|blobs| blobs.find(data)) {
            Some(("", blob)) => blob.length,
            _ => data.len(),
        };
        let media = self.media.saturating_add(length);
        if length > encoded(self.limits.media)
            || media > self.limits.media_of_answer()
            || self.is_own_file(data)
        {
            return false;
        }
        let whole = self.restore(data);
        self.media = media;
        fields.insert("data".to_owned(), Value::from(whole));
        true
    }

    /// Whether base64 begins like a file that the tool got.
    fn is_own_file(&self, data: &str) -> bool {
        let head = match self.blobs.as_ref().and_then(|blobs| blobs.find(data)) {
            Some(("", blob)) => blob.pieces.first().map(|head| String::from_utf8_lossy(head)),
            _ => Some(data.into()),
        };
        self.secrets.is_in(data) || self.secrets.is_prefix_of(&head.unwrap_or_default())
    }

    /// The reference for a text block, if the text is large. Only large parts of JSON are replaced, if that is enough.
    async fn in_text(
        &mut self,
        fields: &mut Map<String, Value>,
        structured: &Structured,
    ) -> Result<Option<Value>, Failure> {
        let text = fields.get("text").and_then(Value::as_str).unwrap_or_default();
        if let Some(replaced) = structured.repeated_by(text) {
            // Clients compare the two: both have the same references.
            if let Some(replaced) = replaced {
                fields.insert("text".to_owned(), Value::from(replaced.to_string()));
            }
            return Ok(None);
        }
        if let Some(whole) = self.json(text) {
            let mut inner = whole.clone();
            self.replace_in(&mut inner).await?;
            if inner != whole {
                fields.insert("text".to_owned(), Value::from(inner.to_string()));
            }
        }
        self.in_field(fields, "text", None, self.limits.data).await
    }

    /// The JSON in a text, if it contains something large.
    fn json(&self, text: &str) -> Option<Value> {
        let extracted = self.blobs.as_ref().is_some_and(|blobs| blobs.is_in(text));
        let large = extracted || text.len() > self.limits.data || self.secrets.is_in(text);
        if !large || !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let value: Value = serde_json::from_str(text).ok()?;
        (self.may_be_in(&value) || self.secrets.are_in(&value)).then_some(value)
    }

    /// A block with a smaller copy of a stored picture, unless it is the caller's own file or no copy can be made.
    async fn smaller_copy(
        &mut self,
        fields: &Map<String, Value>,
        reference: &Value,
    ) -> Option<Value> {
        let data = fields.get("data").and_then(Value::as_str).unwrap_or_default();
        if self.is_own_file(data) || self.copies.is_spent() {
            return None;
        }
        let id: FileId = reference.get("ref_id")?.as_str()?.parse().ok()?;
        let record = self.files.find(self.principal, id.as_str()).await.ok()?;
        let copy = self.files.smaller_picture(&record, &mut self.copies).await?;
        let data = BASE64_STANDARD.encode(&copy.bytes);
        let media = self.media.saturating_add(data.len());
        if data.len() > encoded(self.limits.media) || media > self.limits.media_of_answer() {
            return None;
        }
        self.media = media;
        Some(json!({"type": "image", "data": data, "mimeType": copy.media_type}))
    }
}

pub(super) fn is_media(block: &Value) -> bool {
    block.get("type").is_some_and(|kind| kind == "image" || kind == "audio")
}

/// The structured content of a result, which servers repeat as text.
pub(super) struct Structured {
    pub(super) whole: Option<Value>,
    /// With references.
    pub(super) replaced: Option<Value>,
}

impl Structured {
    /// Set if a text repeats the structured content: what replaces it, if anything.
    pub(super) fn repeated_by(&self, text: &str) -> Option<Option<&Value>> {
        let whole = self.whole.as_ref().filter(|_| text.len() > 2)?;
        let read: Value = serde_json::from_str(text).ok()?;
        (read == *whole).then(|| self.replaced.as_ref().filter(|replaced| *replaced != whole))
    }
}

/// A reference as blocks of text, which every model reads: the beginning of a text, and the reference without it. The
/// link in the answer has the name.
pub(super) fn as_blocks(mut reference: Value) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(fields) = reference.as_object_mut() {
        fields.remove("name");
        if let Some(beginning) = fields.remove("preview") {
            blocks.push(json!({"type": "text", "text": beginning}));
        }
    }
    blocks.push(json!({"type": "text", "text": reference.to_string()}));
    blocks
}
