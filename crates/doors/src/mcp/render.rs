//! Renders answers as MCP tool results.

use std::mem;
use std::sync::Arc;

use files::Reference;
use proto::{Failure, Meta};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::apps::Links;

/// In a request: the idempotency key of a call that must run once.
pub(super) const IDEMPOTENCY_KEY: &str = "powerstrip/idempotency-key";
/// In a request: run a recorded call again and compare.
pub(super) const VERIFY: &str = "powerstrip/verify";
/// In a request: how long the caller will wait.
pub(super) const TIMEOUT_MS: &str = "powerstrip/timeout-ms";
/// In a request: the run that the call belongs to, by either name.
pub(super) const RUN: [&str; 2] = ["powerstrip/run-id", "run_id"];
/// In a result: the envelope's `meta`.
pub(super) const CALL: &str = "powerstrip/call";
/// In a failed result: the envelope's error, for programs.
pub(super) const ERROR: &str = "powerstrip/error";

/// Data as structured content, and for models as the tool's text or else as JSON.
pub(super) fn success(
    data: Arc<Value>,
    text: Option<String>,
    wrapped: bool,
    meta: Meta,
) -> CallToolResult {
    let mut result = CallToolResult::default();
    result.content = vec![ContentBlock::text(text.unwrap_or_else(|| data.to_string()))];
    let data = Arc::unwrap_or_clone(data);
    result.structured_content = Some(if wrapped {
        Value::Object(Map::from_iter([("result".to_owned(), data)]))
    } else {
        data
    });
    result.is_error = Some(false);
    result.meta = Some(MetaObject(Map::from_iter([(CALL.to_owned(), call(meta))])));
    result
}

/// A link to a stored part of an answer.
pub(super) fn link(reference: &Reference) -> ContentBlock {
    let resource = Resource::new(reference.uri(), reference.name.clone())
        .with_mime_type(reference.media_type.clone())
        .with_size(reference.size);
    ContentBlock::resource_link(resource)
}

/// A failure with its code, message and details in the text, where the model reads them.
pub(super) fn failure(failure: &Failure, meta: Meta) -> CallToolResult {
    let item = failure.item();
    let mut text = format!("{} {}", item.label(), failure.message);
    if let Some(details) = failure.details.as_ref().filter(|_| item.answered_by().is_none()) {
        text.push_str("\nDetails: ");
        text.push_str(&details.to_string());
    }
    if let Some(wait) = failure.retry_after {
        text.push_str(&format!("\nTry again after {:.1} s.", wait.as_secs_f32()));
    } else if failure.retryable {
        text.push_str("\nThe same call may succeed later.");
    }
    let error = json!(item);
    let mut result = CallToolResult::default();
    result.content = vec![ContentBlock::text(text)];
    result.is_error = Some(true);
    result.meta = Some(MetaObject(Map::from_iter([
        (CALL.to_owned(), call(meta)),
        (ERROR.to_owned(), error),
    ])));
    result
}

/// The result of an MCP server, forwarded unchanged. It is moved, and copied only if it is shared.
pub(super) struct Native(Map<String, Value>);

impl Native {
    /// Takes the fields of a server's result.
    pub(super) fn of(result: Arc<Value>) -> Option<Self> {
        match Arc::unwrap_or_clone(result) {
            Value::Object(fields) => Some(Self(fields)),
            _ => None,
        }
    }

    /// Translates the server's links to its resources.
    pub(super) fn translate(&mut self, links: &Links<'_>) {
        links.translate_result(&mut self.0);
    }

    /// Content, structured content and `_meta` of the server, with the facts of the call added.
    pub(super) fn success(mut self, wraps: impl Fn(&Value) -> bool, meta: Meta) -> CallToolResult {
        let structured = self.structured().map(|data| {
            if wraps(&data) {
                Value::Object(Map::from_iter([("result".to_owned(), data)]))
            } else {
                data
            }
        });
        let mut result = self.result(meta);
        result.structured_content = structured;
        result.is_error = Some(false);
        result
    }

    /// A failed result of the server, with our error code added.
    pub(super) fn failure(mut self, failure: &Failure, meta: Meta) -> CallToolResult {
        // Clients before 2026-07-28 accept only objects.
        let structured = self.structured().filter(Value::is_object);
        let mut result = self.result(meta);
        result.structured_content = structured;
        result.is_error = Some(true);
        let error = json!(failure.item());
        result.meta.get_or_insert_default().0.insert(ERROR.to_owned(), error);
        result
    }

    fn result(mut self, meta: Meta) -> CallToolResult {
        let mut result = CallToolResult::default();
        if let Some(Value::Array(blocks)) = self.0.remove("content") {
            result.content = blocks.into_iter().map(block).collect();
        }
        let mut meta_fields = match self.0.remove("_meta") {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        meta_fields.insert(CALL.to_owned(), call(meta));
        result.meta = Some(MetaObject(meta_fields));
        result
    }

    fn structured(&mut self) -> Option<Value> {
        self.0.remove("structuredContent").filter(|data| !data.is_null())
    }
}

/// A block of content.
fn block(mut block: Value) -> ContentBlock {
    // Most blocks are plain text, which needs no full parse.
    if let Some(fields) = block.as_object_mut()
        && fields.len() == 2
        && fields.get("type").is_some_and(|kind| kind == "text")
        && let Some(Value::String(text)) = fields.get_mut("text")
    {
        return ContentBlock::text(mem::take(text));
    }
    // may fail: a block of a kind that rmcp does not know becomes JSON text.
    ContentBlock::deserialize(&block).unwrap_or_else(|_| ContentBlock::text(block.to_string()))
}

/// The `meta` of the envelope, moved instead of copied.
fn call(meta: Meta) -> Value {
    Value::Object(Map::from_iter([
        ("tool".to_owned(), (*meta.tool).into()),
        ("version".to_owned(), (*meta.version).into()),
        ("durationMs".to_owned(), meta.duration_ms.into()),
        ("traceId".to_owned(), meta.trace_id.to_string().into()),
        ("warnings".to_owned(), meta.warnings.into()),
    ]))
}

#[cfg(test)]
mod tests;
