use std::sync::Arc;

use async_trait::async_trait;
use proto::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::agents::SEARCH_TOOLS;
use strip::catalog::Entry;
use strip::typed::{About, TypedOutput, TypedTool};
use strip::{Job, Part};

use super::Finder;

/// The default number of tools to return.
const LIMIT: usize = 10;

/// How many characters of a description are shown; `describe_tool` returns all of it.
const DESCRIPTION_CHARACTERS: usize = 240;

/// Starts a workflow. It is neither listed nor found where an agent searches, so results name it.
const EXECUTE_DAG: &str = "powerstrip:execute_dag";

const WORKFLOWS: &str = "To run several tools as one durable workflow, call powerstrip:execute_dag; describe_tool shows \
                         its input.";

/// Finds tools that fit a task.
pub(super) struct SearchTools {
    pub(super) finder: Arc<Finder>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 2000))]
    query: String,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn default_limit() -> usize {
    LIMIT
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SearchResult {
    tools: Vec<FoundTool>,
    /// How many tools were searched.
    searched: usize,
    /// A note on other tools that the caller may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct FoundTool {
    id: String,
    name: String,
    description: String,
}

#[async_trait]
impl TypedTool for SearchTools {
    type Input = Input;
    type Output = SearchResult;

    fn about(&self) -> About {
        let description = "Finds tools for a task, best first. Say what you want done.";
        About::reader(SEARCH_TOOLS, "Search tools", description)
    }

    fn part(&self) -> Part {
        Part::Finder
    }

    async fn run(
        &self,
        Input { query, limit }: Input,
        job: &Job,
    ) -> Result<TypedOutput<SearchResult>, Failure> {
        let strip = self.finder.strip()?;
        let view = strip.view(&job.request().principal);
        let searcher = self.finder.searcher(&job.request().principal).await?;
        let hits = searcher.find(&query, limit);
        let tools = hits.iter().map(|&(tool, _)| shown(&searcher.entries()[tool])).collect();
        let searched = searcher.count();
        let starts_workflows = view.searches() && view.tools().resolve(EXECUTE_DAG).is_ok();
        let note = starts_workflows.then_some(WORKFLOWS);
        Ok(SearchResult { tools, searched, note }.into())
    }
}

fn shown(entry: &Entry) -> FoundTool {
    let descriptor = &entry.descriptor;
    let text = descriptor.description.split_whitespace().collect::<Vec<_>>().join(" ");
    let description = match text.char_indices().nth(DESCRIPTION_CHARACTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    };
    FoundTool { id: descriptor.id.to_string(), name: entry.wire.to_string(), description }
}
