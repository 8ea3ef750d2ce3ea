use std::sync::Arc;

use async_trait::async_trait;
use language::tools::ToolSearch;
use proto::Descriptor;
use serde_json::{Value, json};
use strip::agents::SEARCH_TOOLS;
use strip::catalog::Entry;
use strip::{Failure, Job, Output, Part, Tool};

use super::Finder;
use crate::builtin::Sheet;

/// The default number of tools to return.
const LIMIT: usize = 10;

/// How many characters of a description are shown; `describe_tool` returns all of it.
const DESCRIPTION_CHARACTERS: usize = 240;

/// Finds tools that fit a task.
pub(super) struct SearchTools {
    descriptor: Descriptor,
    finder: Arc<Finder>,
}

impl SearchTools {
    pub(super) fn new(finder: Arc<Finder>) -> Self {
        let descriptor = Sheet {
            id: SEARCH_TOOLS,
            title: "Search tools",
            description: "Finds the tools that fit a task, best first. Say in your own words what you want done; \
                          several wishes may stand in one query.",
            deterministic: false,
            input: json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "What you want done, such as `send an invoice by mail`.",
                        "minLength": 1,
                        "maxLength": 2000,
                    },
                    "limit": {
                        "type": "integer",
                        "description": "The most tools to return.",
                        "minimum": 1,
                        "maximum": 50,
                        "default": LIMIT,
                    },
                },
                "required": ["query"],
                "additionalProperties": false,
            }),
            output: json!({
                "type": "object",
                "properties": {
                    "tools": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "id": {"type": "string"},
                                "name": {"type": "string"},
                                "description": {"type": "string"},
                            },
                            "required": ["id", "name", "description"],
                        },
                    },
                    "searched": {"type": "integer", "description": "How many tools were looked at."},
                },
                "required": ["tools", "searched"],
            }),
        }
        .descriptor();
        Self { descriptor, finder }
    }
}

#[async_trait]
impl Tool for SearchTools {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn part(&self) -> Part {
        Part::Finder
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        let strip = self.finder.strip()?;
        let query = call.request.input["query"].as_str().unwrap_or_default();
        let limit =
            call.request.input["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok());
        let revision = strip.catalog().snapshot().revision();
        let index = self.finder.index(revision).await?;
        let view = strip.view(&call.request.principal);
        let sight = self.finder.sights.of(&call.request.principal, &view, &index, &strip.agents());
        let sees = sight.as_deref().map(|sight| move |position: usize| sight[position]);
        let words = &index.words;

        let used = strip.recent_tools(&call.request.principal);
        let mut history = Vec::new();
        for (position, share) in
            used.iter().filter_map(|(id, used)| Some((*words.positions.get(id)?, used)))
        {
            history.resize(words.entries.len(), 0.0);
            history[position] = *share;
        }
        let hits = words.tools.find(&ToolSearch {
            query,
            limit: limit.unwrap_or(LIMIT),
            history: (!history.is_empty()).then_some(&history),
            visible: sees.as_ref().map(|sees| sees as &dyn Fn(usize) -> bool),
        });
        let found: Vec<_> = hits.iter().map(|hit| shown(&words.entries[hit.index])).collect();
        let searched = match &sight {
            None => words.entries.len(),
            Some(sight) => sight.iter().filter(|seen| **seen).count(),
        };
        Ok(Output::new(json!({"tools": found, "searched": searched})))
    }
}

fn shown(entry: &Entry) -> Value {
    let descriptor = &entry.descriptor;
    let text = descriptor.description.split_whitespace().collect::<Vec<_>>().join(" ");
    let description = match text.char_indices().nth(DESCRIPTION_CHARACTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    };
    json!({"id": descriptor.id, "name": entry.wire, "description": description})
}
