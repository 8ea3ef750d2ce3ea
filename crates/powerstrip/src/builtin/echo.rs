use async_trait::async_trait;
use proto::Descriptor;
use serde_json::json;
use strip::{Failure, Job, Output, Tool};

use super::sheet::Sheet;

/// Returns its input: the first tool to call on a new gateway.
pub(super) struct Echo(Descriptor);

impl Default for Echo {
    fn default() -> Self {
        Self(
            Sheet {
                id: "demo.echo",
                title: "Echo",
                description: "Returns the given message unchanged. Use it to check that the gateway is reachable \
                              and that calls arrive as they were sent.",
                deterministic: true,
                input: json!({
                    "type": "object",
                    "properties": {
                        "message": {"type": "string", "description": "The text to return."},
                    },
                    "required": ["message"],
                    "additionalProperties": false,
                }),
                output: json!({
                    "type": "object",
                    "properties": {
                        "message": {"type": "string", "description": "The text as it arrived."},
                    },
                    "required": ["message"],
                    "additionalProperties": false,
                }),
            }
            .descriptor(),
        )
    }
}

#[async_trait]
impl Tool for Echo {
    fn descriptor(&self) -> &Descriptor {
        &self.0
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        Ok(Output {
            data: std::sync::Arc::clone(&call.request.input),
            ..Output::new(serde_json::Value::Null)
        })
    }
}
