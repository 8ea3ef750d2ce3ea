//! A server's lists, page by page and within bounds, and what of it is offered.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

use proto::{ToolId, clean};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::broken::{Broken, shown};
use crate::definition::Definition;
use crate::link::Link;
use crate::rpc::{Ask, Params};
use crate::selection::Selection;
use crate::tool::UpstreamTool;
use crate::upstream::Shared;
use crate::{Beside, ServerConfig};

/// More tools than this of one server are left out.
const MAX_TOOLS: usize = 10_000;

const MAX_PAGES: usize = 1_000;

/// All pages together.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// More faults than this are only counted in the log.
const MAX_FAULTS: usize = 100;

/// The longest name and the longest reason of a fault.
const MAX_NAME_CHARS: usize = 80;
const MAX_REASON_CHARS: usize = 1_000;

/// A tool that was listed but is not offered, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListFault {
    /// The server's own name for it, shortened.
    pub tool: String,
    pub reason: String,
}

impl ListFault {
    /// Both texts may hold a server's own words, which are made fit for a terminal and a log.
    pub(crate) fn new(tool: &str, reason: &str) -> Self {
        let tool = tool.chars().take(MAX_NAME_CHARS).collect::<String>();
        let reason = reason.chars().take(MAX_REASON_CHARS).collect::<String>();
        Self { tool: clean::line(&tool), reason: clean::line(&reason) }
    }
}

/// Asks for every page of `tools/list`. The error says why there is no list.
pub(crate) async fn fetch(link: &Link) -> Result<Vec<Arc<Value>>, Broken> {
    if let Link::OpenApi(link) = link {
        return link.list().await;
    }
    pages(link, "tools/list", "tools").await
}

/// Asks for what a server offers beside tools. A list that cannot be had stays as it was.
pub(crate) async fn fetch_beside(link: &Link, stated: &Value, before: &Beside) -> Beside {
    let get = async |capability: &str, method, key, before: &Vec<Arc<Value>>| {
        if stated.get(capability).is_none_or(Value::is_null) {
            return Vec::new();
        }
        pages(link, method, key).await.unwrap_or_else(|broken| {
            tracing::debug!(%broken, method, "a list cannot be had");
            before.clone()
        })
    };
    let templates = "resourceTemplates";
    Beside {
        prompts: get("prompts", "prompts/list", "prompts", &before.prompts).await,
        resources: get("resources", "resources/list", "resources", &before.resources).await,
        templates: get("resources", "resources/templates/list", templates, &before.templates).await,
        capabilities: stated.clone(),
        claims: before.claims.clone(),
    }
}

async fn pages(link: &Link, method: &str, key: &str) -> Result<Vec<Arc<Value>>, Broken> {
    let mut entries = Vec::new();
    let mut cursors = HashSet::new();
    let mut params = Map::new();
    let mut bytes = 0;
    for _ in 0..MAX_PAGES {
        let ask = Ask::plain(method, Params::Map(&params));
        let page = match link.ask(None, &ask).await? {
            Ok(page) => page,
            // A server without any does not know the method.
            Err(error) if error.code == -32601 && entries.is_empty() => return Ok(entries),
            Err(error) => {
                let said = clean::line(&shown(&error.message));
                let why = format!("{method} failed with {}: {said}", error.code);
                return Err(Broken::malformed(why));
            }
        };
        let page = page.whole();
        bytes += page.len();
        if bytes > MAX_BYTES {
            return Err(Broken::TooLarge(MAX_BYTES as u64));
        }
        let mut page: Map<String, Value> = serde_json::from_str(&page)
            .map_err(|why| Broken::malformed(format!("the answer to {method}: {why}")))?;
        let Some(Value::Array(listed)) = page.remove(key) else {
            return Err(Broken::malformed(format!("the answer to {method} has no list of {key}")));
        };
        entries.extend(listed.into_iter().map(Arc::new));
        let Some(Value::String(cursor)) = page.remove("nextCursor") else { return Ok(entries) };
        if entries.len() > MAX_TOOLS {
            return Ok(entries);
        }
        if !cursors.insert(cursor.clone()) {
            return Err(Broken::malformed(format!("{method} goes round in circles")));
        }
        params.insert("cursor".to_owned(), Value::String(cursor));
    }
    Err(Broken::malformed(format!("{method} has more than {MAX_PAGES} pages")))
}

/// What of a list is offered.
#[derive(Default)]
pub(crate) struct Offer {
    pub(crate) tools: Vec<Arc<UpstreamTool>>,
    pub(crate) faults: Vec<ListFault>,
}

impl Offer {
    /// Makes tools of a list. Those that have not changed stay the very same, so that the catalog need not look at them.
    pub(crate) fn of(
        listed: &[Arc<Value>],
        config: &ServerConfig,
        shared: &Arc<Shared>,
        before: &[Arc<UpstreamTool>],
    ) -> Self {
        let known: HashMap<&str, &Arc<UpstreamTool>> =
            before.iter().map(|tool| (tool.remote(), tool)).collect();
        let mut offer = Self::default();
        let mut names: HashSet<ToolId> = HashSet::new();
        if listed.len() > MAX_TOOLS {
            let reason =
                format!("the server lists more than {MAX_TOOLS} tools; the rest is left out");
            offer.faults.push(ListFault::new("…", &reason));
        }
        for listed in listed.iter().take(MAX_TOOLS) {
            match Self::tool(listed, config, shared, &known) {
                Ok(None) => {}
                Ok(Some(tool)) if names.insert(tool.id().clone()) => offer.tools.push(tool),
                Ok(Some(tool)) => {
                    offer.fault(listed, format!("`{}` is listed twice", tool.id()));
                }
                Err(reason) => offer.fault(listed, reason),
            }
        }
        offer
    }

    fn tool(
        listed: &Arc<Value>,
        config: &ServerConfig,
        shared: &Arc<Shared>,
        known: &HashMap<&str, &Arc<UpstreamTool>>,
    ) -> Result<Option<Arc<UpstreamTool>>, String> {
        let same = listed["name"]
            .as_str()
            .and_then(|name| known.get(name))
            .filter(|tool| tool.is_defined_by(listed));
        if let Some(same) = same {
            return Ok(Some(Arc::clone(same)));
        }
        let definition = Definition::read(&shared.name, listed, Selection(config))?;
        Ok(definition.map(|definition| {
            Arc::new(UpstreamTool::new(definition, Arc::clone(listed), Arc::clone(shared)))
        }))
    }

    fn fault(&mut self, listed: &Value, reason: String) {
        if self.faults.len() < MAX_FAULTS {
            let name = listed["name"].as_str().unwrap_or_default();
            self.faults.push(ListFault::new(name, &reason));
        }
    }
}
