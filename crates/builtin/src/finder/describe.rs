use std::sync::Arc;

use async_trait::async_trait;
use proto::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strip::agents::DESCRIBE_TOOL;
use strip::typed::{About, TypedOutput, TypedTool};
use strip::{Job, Part};

use super::Finder;

/// Describes one tool.
pub(super) struct DescribeTool {
    pub(super) finder: Arc<Finder>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 300))]
    id: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolDescription {
    id: String,
    name: String,
    version: String,
    title: Option<String>,
    description: String,
    server: Option<String>,
    health: String,
    deprecated: bool,
    input_schema: Value,
    output_schema: Option<Value>,
    annotations: Map<String, Value>,
}

#[async_trait]
impl TypedTool for DescribeTool {
    type Input = Input;
    type Output = ToolDescription;

    fn about(&self) -> About {
        let description = "Returns a tool's description and schemas; read them before you call it.";
        About::reader(DESCRIBE_TOOL, "Describe a tool", description)
    }

    fn part(&self) -> Part {
        Part::Finder
    }

    async fn run(
        &self,
        Input { id }: Input,
        job: &Job,
    ) -> Result<TypedOutput<ToolDescription>, Failure> {
        let strip = self.finder.strip()?;
        let view = strip.view_of_job(job);
        let entry = view.tools().resolve_for(&id, strip.shown_names(job.request().door))?;
        let descriptor = &entry.descriptor;
        let server = entry.server().filter(|server| *server != super::SOURCE);
        // A tool without a server is always ready.
        let state = server.and_then(|server| (self.finder.server_state)(server));
        let annotations = match serde_json::to_value(&descriptor.annotations) {
            Ok(Value::Object(annotations)) => annotations,
            _ => Map::new(),
        };
        Ok(ToolDescription {
            id: descriptor.id.to_string(),
            name: entry.wire.to_string(),
            version: descriptor.version.to_string(),
            title: descriptor.title.clone(),
            description: descriptor.description.clone(),
            server: server.map(str::to_owned),
            health: state.unwrap_or_else(|| "ready".to_owned()),
            deprecated: entry.superseded_by.is_some(),
            input_schema: descriptor.input_schema.clone(),
            output_schema: descriptor.output_schema.clone(),
            annotations,
        }
        .into())
    }
}
