use async_trait::async_trait;
use proto::{Annotations, Code, Descriptor};
use serde_json::{Map, Value, json};
use strip::agents::CALL_TOOL;
use strip::{Failure, Job, Output, Part, Tool};

use crate::builtin::Sheet;

/// Calls another tool.
pub(super) struct CallTool(Descriptor);

impl Default for CallTool {
    fn default() -> Self {
        let mut descriptor = Sheet {
            id: CALL_TOOL,
            title: "Call a tool",
            description: "Calls a tool that was found with search_tools, with arguments that fit its input schema, \
                          and gives its result.",
            deterministic: false,
            input: json!({
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "The tool's id or name.", "minLength": 1, "maxLength": 300},
                    "arguments": {"type": "object", "description": "What the tool takes."},
                },
                "required": ["id"],
                "additionalProperties": false,
            }),
            output: Value::Null,
        }
        .descriptor();
        // Output and effects are those of the called tool.
        descriptor.output_schema = None;
        descriptor.annotations = Annotations::default();
        Self(descriptor)
    }
}

#[async_trait]
impl Tool for CallTool {
    fn descriptor(&self) -> &Descriptor {
        &self.0
    }

    fn part(&self) -> Part {
        Part::Forwarder
    }

    /// `None` for an input that does not fit the schema: validation then refuses it.
    fn forwards_to(&self, input: &Value) -> Option<(String, Value)> {
        let input = input.as_object()?;
        if input.keys().any(|key| key != "id" && key != "arguments") {
            return None;
        }
        let id = input.get("id")?.as_str().filter(|id| (1..=300).contains(&id.chars().count()))?;
        let arguments = match input.get("arguments") {
            None => Value::Object(Map::new()),
            Some(arguments @ Value::Object(_)) => arguments.clone(),
            Some(_) => return None,
        };
        Some((id.to_owned(), arguments))
    }

    async fn run(&self, _: &Job) -> Result<Output, Failure> {
        Err(Failure::new(
            Code::InvalidInput,
            format!("`{CALL_TOOL}` calls other tools, not itself; name the tool that you want"),
        ))
    }
}
