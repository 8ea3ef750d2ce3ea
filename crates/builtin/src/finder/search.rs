use std::sync::Arc;

use async_trait::async_trait;
use language::tools::ToolSearch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::agents::SEARCH_TOOLS;
use strip::catalog::Entry;
use strip::typed::{About, TypedOutput, TypedTool};
use strip::{Failure, Job, Part};

use super::Finder;

/// The default number of tools to return.
const LIMIT: usize = 10;

/// How many characters of a description are shown; `describe_tool` returns all of it.
const DESCRIPTION_CHARACTERS: usize = 240;

/// Finds tools that fit a task.
pub(super) struct SearchTools {
    pub(super) finder: Arc<Finder>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// What you want done, such as `send an invoice by mail`.
    #[schemars(length(min = 1, max = 2000))]
    query: String,
    /// The most tools to return.
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
        let description = "Finds the tools that fit a task, best first. Say in your own words what you want done; one \
                           query may describe several tasks.";
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
        let revision = strip.catalog().snapshot().revision();
        let index = self.finder.index(revision).await?;
        let view = strip.view(&job.request.principal);
        let sight = self.finder.sights.of(&job.request.principal, &view, &index, &strip.agents());
        let sees = sight.as_deref().map(|sight| move |position: usize| sight[position]);
        let words = &index.words;

        let used = strip.recent_tools(&job.request.principal);
        let mut history = Vec::new();
        for (position, share) in
            used.iter().filter_map(|(id, used)| Some((*words.positions.get(id)?, used)))
        {
            history.resize(words.entries.len(), 0.0);
            history[position] = *share;
        }
        let hits = words.tools.find(&ToolSearch {
            query: &query,
            limit,
            history: (!history.is_empty()).then_some(&history),
            visible: sees.as_ref().map(|sees| sees as &dyn Fn(usize) -> bool),
        });
        let tools = hits.iter().map(|hit| shown(&words.entries[hit.index])).collect();
        let searched = match &sight {
            None => words.entries.len(),
            Some(sight) => sight.iter().filter(|seen| **seen).count(),
        };
        Ok(SearchResult { tools, searched }.into())
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
