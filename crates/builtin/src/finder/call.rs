use async_trait::async_trait;
use proto::{Annotations, Code, Descriptor, Failure};
use schemars::JsonSchema;
use serde_json::{Map, Value};
use strip::agents::CALL_TOOL;
use strip::typed::About;
use strip::{Job, Output, Part, Tool};

/// Calls another tool.
pub(super) struct CallTool(Descriptor);

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: the strip makes the call instead")]
struct Input {
    /// Id or name.
    #[schemars(length(min = 1, max = 300))]
    id: String,
    arguments: Option<Map<String, Value>>,
}

impl Default for CallTool {
    fn default() -> Self {
        let description = "Calls a tool that search_tools found.";
        let about = About::reader(CALL_TOOL, "Call a tool", description);
        // Output and effects are those of the called tool.
        Self(Descriptor { annotations: Annotations::default(), ..about.without_output::<Input>() })
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
