use std::sync::Arc;

use async_trait::async_trait;
use proto::Descriptor;
use serde_json::json;
use strip::agents::DESCRIBE_TOOL;
use strip::{Failure, Job, Output, Part, Tool};

use super::Finder;
use crate::builtin::Sheet;

/// Describes one tool.
pub(super) struct DescribeTool {
    descriptor: Descriptor,
    finder: Arc<Finder>,
}

impl DescribeTool {
    pub(super) fn new(finder: Arc<Finder>) -> Self {
        let descriptor = Sheet {
            id: DESCRIBE_TOOL,
            title: "Describe a tool",
            description: "Tells all about one tool: what it does, what it takes and gives as JSON Schema, and whether \
                          its server is up. Read it before you call a tool that you only know from a search.",
            deterministic: false,
            input: json!({
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "The tool's id or name.", "minLength": 1, "maxLength": 300},
                },
                "required": ["id"],
                "additionalProperties": false,
            }),
            output: json!({
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "name": {"type": "string"},
                    "version": {"type": "string"},
                    "title": {"type": ["string", "null"]},
                    "description": {"type": "string"},
                    "server": {"type": ["string", "null"]},
                    "health": {"type": "string"},
                    "deprecated": {"type": "boolean"},
                    "inputSchema": {},
                    "outputSchema": {},
                    "annotations": {"type": "object"},
                },
                "required": ["id", "name", "version", "description", "health", "inputSchema"],
            }),
        }
        .descriptor();
        Self { descriptor, finder }
    }
}

#[async_trait]
impl Tool for DescribeTool {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn part(&self) -> Part {
        Part::Finder
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        let strip = self.finder.strip()?;
        let view = strip.view(&call.request.principal);
        let entry = view.tools().resolve(call.request.input["id"].as_str().unwrap_or_default())?;
        let descriptor = &entry.descriptor;
        let server = descriptor.id.server().filter(|server| *server != super::SOURCE);
        // A tool without a server is always ready.
        let state = server.and_then(|server| (self.finder.server_state)(server));
        Ok(Output::new(json!({
            "id": descriptor.id,
            "name": entry.wire,
            "version": descriptor.version.to_string(),
            "title": descriptor.title,
            "description": descriptor.description,
            "server": server,
            "health": state.unwrap_or_else(|| "ready".to_owned()),
            "deprecated": entry.superseded_by.is_some(),
            "inputSchema": descriptor.input_schema,
            "outputSchema": descriptor.output_schema,
            "annotations": descriptor.annotations,
        })))
    }
}
