//! `knowledge:research_domain`, another name of `research.execute` with one argument.

use async_trait::async_trait;
use proto::{Annotations, Code, Descriptor, Failure};
use schemars::JsonSchema;
use serde_json::{Value, json};
use strip::typed::About;
use strip::{Job, Output, Part, Tool};

/// The name of the server whose tool this would be; a server of the config with this name has it instead.
pub const SERVER: &str = "knowledge";

const ID: &str = "knowledge:research_domain";

/// Forwards to `research.execute`.
pub(crate) struct ResearchDomain(Descriptor);

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: the strip makes the call instead")]
struct Input {
    /// What to research.
    #[schemars(length(min = 1, max = 500))]
    domain: Option<String>,
    /// Another name for `domain`.
    #[schemars(length(min = 1, max = 500))]
    query: Option<String>,
}

impl Default for ResearchDomain {
    fn default() -> Self {
        let about =
            About::reader(ID, "Research a domain", "Researches a topic; see research.execute.");
        // Output and effects are those of the called tool.
        Self(Descriptor { annotations: Annotations::default(), ..about.without_output::<Input>() })
    }
}

#[async_trait]
impl Tool for ResearchDomain {
    fn descriptor(&self) -> &Descriptor {
        &self.0
    }

    fn part(&self) -> Part {
        Part::Alias
    }

    /// `None` unless exactly one of the two texts is given: the tool itself then says so.
    fn forwards_to(&self, input: &Value) -> Option<(String, Value)> {
        let input = input.as_object().filter(|input| input.len() == 1)?;
        let topic = input.get("domain").or_else(|| input.get("query"))?.as_str()?;
        Some(("research.execute".to_owned(), json!({"topic": topic})))
    }

    async fn run(&self, _: &Job) -> Result<Output, Failure> {
        Err(Failure::new(Code::InvalidInput, "give exactly one of `domain` and `query`"))
    }
}
