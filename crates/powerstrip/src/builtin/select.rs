use async_trait::async_trait;
use proto::{Code, Descriptor};
use serde_json::{Value, json};
use serde_json_path::JsonPath;
use strip::{Call, Failure, Output, Tool};

use super::Sheet;

/// Picks parts out of a JSON document by JSONPath (RFC 9535).
pub(super) struct Select(Descriptor);

impl Default for Select {
    fn default() -> Self {
        Self(
            Sheet {
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
        )
    }
}

#[async_trait]
impl Tool for Select {
    fn descriptor(&self) -> &Descriptor {
        &self.0
    }

    async fn run(&self, call: &Call) -> Result<Output, Failure> {
        let path = call.input["path"].as_str().unwrap_or_default();
        let path = JsonPath::parse(path).map_err(|error| {
            Failure::new(
                Code::InvalidInput,
                format!("`{path}` is not a JSONPath expression: {error}"),
            )
            .details(json!({"violations": [{"path": "/path", "message": error.to_string()}]}))
        })?;
        let limit = call.input["limit"]
            .as_u64()
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(100);
        let found = path.query(&call.input["document"]);
        let total = found.len();
        let matches: Vec<Value> = found.into_iter().take(limit).cloned().collect();
        Ok(Output::new(json!({"matches": matches, "total": total})))
    }
}
