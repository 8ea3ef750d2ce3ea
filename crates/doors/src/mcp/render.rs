//! How an answer becomes an MCP tool result.

use std::sync::Arc;

use proto::Meta;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value};
use strip::Failure;

/// In a request: the caller's own key for a call that must run once.
pub(super) const IDEMPOTENCY_KEY: &str = "powerstrip/idempotency-key";
/// In a request: run a recorded call again and compare.
pub(super) const VERIFY: &str = "powerstrip/verify";
/// In a request: how long the caller will wait.
pub(super) const TIMEOUT_MS: &str = "powerstrip/timeout-ms";
/// In a result: the envelope's `meta`.
pub(super) const CALL: &str = "powerstrip/call";
/// In a failed result: the envelope's error, for programs.
pub(super) const ERROR: &str = "powerstrip/error";

/// Data as structured content and, for clients that read only text, as JSON text.
pub(super) fn success(data: Arc<Value>, wrapped: bool, meta: Meta) -> CallToolResult {
    let mut result = CallToolResult::default();
    result.content = vec![ContentBlock::text(data.to_string())];
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

/// Code, message and details in the text, where the model that must recover will read them.
pub(super) fn failure(failure: &Failure, meta: Meta) -> CallToolResult {
    let mut text = format!("{}: {}", failure.code, failure.message);
    if let Some(details) = &failure.details {
        text.push_str("\nDetails: ");
        text.push_str(&details.to_string());
    }
    if let Some(wait) = failure.retry_after {
        text.push_str(&format!("\nTry again after {:.1} s.", wait.as_secs_f32()));
    } else if failure.retryable {
        text.push_str("\nThe same call may succeed later.");
    }
    let error = serde_json::to_value(failure.item()).unwrap_or_default();
    let mut result = CallToolResult::default();
    result.content = vec![ContentBlock::text(text)];
    result.is_error = Some(true);
    result.meta = Some(MetaObject(Map::from_iter([
        (CALL.to_owned(), call(meta)),
        (ERROR.to_owned(), error),
    ])));
    result
}

/// The envelope's `meta`, moved rather than copied.
fn call(meta: Meta) -> Value {
    Value::Object(Map::from_iter([
        ("tool".to_owned(), meta.tool.into()),
        ("version".to_owned(), meta.version.into()),
        ("durationMs".to_owned(), meta.duration_ms.into()),
        ("traceId".to_owned(), meta.trace_id.to_string().into()),
        ("warnings".to_owned(), meta.warnings.into()),
    ]))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proto::{Code, TraceId};
    use serde_json::json;

    use super::*;

    fn meta() -> Meta {
        Meta {
            tool: "a.b".to_owned(),
            version: "1.0.0".to_owned(),
            duration_ms: 3,
            trace_id: TraceId::random(),
            warnings: vec!["w".to_owned()],
        }
    }

    #[test]
    fn the_call_facts_are_the_envelopes_meta() {
        let meta = meta();
        assert_eq!(call(meta.clone()), serde_json::to_value(&meta).expect("meta serialises"));
    }

    #[test]
    fn old_clients_get_objects_and_new_ones_the_data_itself() {
        let wrapped = success(Arc::new(json!([1])), true, meta());
        assert_eq!(wrapped.structured_content, Some(json!({"result": [1]})));
        let bare = success(Arc::new(json!([1])), false, meta());
        assert_eq!(bare.structured_content, Some(json!([1])));
    }

    #[test]
    fn a_failure_tells_the_model_what_to_do() {
        let failed = Failure::new(Code::RateLimit, "too many calls")
            .details(json!({"limit": 2}))
            .retry_after(Duration::from_millis(1500));
        let result = serde_json::to_value(failure(&failed, meta())).expect("a result serialises");
        assert_eq!(result["isError"], json!(true));
        let text = result["content"][0]["text"].as_str().expect("text");
        assert_eq!(
            text,
            "RATE_LIMIT: too many calls\nDetails: {\"limit\":2}\nTry again after 1.5 s."
        );
        assert_eq!(result["_meta"][ERROR]["code"], json!("RATE_LIMIT"));
        assert!(result.get("structuredContent").is_none());
    }
}
