use std::sync::Arc;

use async_trait::async_trait;
use jsonpath::JsonPath;
use proto::{Code, Descriptor};
use serde_json::json;
use strip::{Failure, Job, Output, Tool};
use tokio::sync::Semaphore;

use super::sheet::Sheet;

/// Picks parts out of a JSON document by JSONPath (RFC 9535).
pub(super) struct Select {
    descriptor: Descriptor,
    /// One permit per running query: at most half of the processors compute queries at a time.
    running: Arc<Semaphore>,
}

impl Default for Select {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            running: Arc::new(Semaphore::new((processors / 2).max(1))),
            descriptor: Sheet {
                id: "json.select",
                title: "Select from JSON",
                description: "Selects the parts of a JSON document that a JSONPath expression (RFC 9535) matches, \
                              such as `$.items[?@.price < 10].name`. Use it to pick values out of a large JSON \
                              answer instead of reading all of it.",
                deterministic: true,
                input: json!({
                    "type": "object",
                    "properties": {
                        "document": {"description": "The JSON document to select from."},
                        "path": {
                            "type": "string",
                            "description": "A JSONPath expression; it begins with `$`.",
                            "minLength": 1,
                            "maxLength": 1000,
                        },
                        "limit": {
                            "type": "integer",
                            "description": "The most matches to return.",
                            "minimum": 1,
                            "maximum": 1000,
                            "default": 100,
                        },
                    },
                    "required": ["document", "path"],
                    "additionalProperties": false,
                }),
                output: json!({
                    "type": "object",
                    "properties": {
                        "matches": {"type": "array", "description": "The matching values, in document order."},
                        "total": {"type": "integer", "description": "How many values match, returned or not."},
                    },
                    "required": ["matches", "total"],
                    "additionalProperties": false,
                }),
            }
            .descriptor(),
        }
    }
}

#[async_trait]
impl Tool for Select {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        let text = call.request.input["path"].as_str().unwrap_or_default();
        let path = JsonPath::parse(text).map_err(|fault| {
            Failure::new(
                Code::InvalidInput,
                format!("`{text}` is not a JSONPath expression: {fault}"),
            )
            .details(json!({"violations": [{"path": "/path", "message": fault.to_string()}]}))
        })?;
        let limit = call.request.input["limit"]
            .as_u64()
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(100);
        let stopped = || Failure::new(Code::Unavailable, "the gateway is shutting down");
        let permit = Arc::clone(&self.running).acquire_owned().await.map_err(|_| stopped())?;
        let input = Arc::clone(&call.request.input);
        let query = tokio::task::spawn_blocking(move || {
            let selected = path.select(&input["document"], limit);
            // Held until here even if the caller is gone: the thread does not stop early.
            drop(permit);
            selected
        });
        let selected = query.await.map_err(|error| stopped().caused_by(error))?;
        let selected = selected.map_err(|limit| {
            Failure::new(Code::InvalidInput, limit.to_string())
                .details(json!({"violations": [{"path": "/path", "message": limit.to_string()}]}))
        })?;
        Ok(Output::new(json!({"matches": selected.matches, "total": selected.total})))
    }
}
