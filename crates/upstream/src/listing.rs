//! Fetches a server's lists, page by page and within limits, and makes tools of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use proto::{ToolId, UI_META, UI_RESOURCE, UI_RESOURCE_META, clean};
use serde_json::{Map, Value, json};

use crate::caller::Caller;
use crate::definition::{Definition, ROUNDED};
use crate::deps::OtherOfferings;
use crate::error::{TransportError, shown};
use crate::rpc::{Params, RpcRequest};
use crate::selection::Selection;
use crate::server::Server;
use crate::status::ListFault;
use crate::tool::UpstreamTool;
use crate::transport::Transport;

/// More tools than this of one server are left out.
const MAX_TOOLS: usize = 10_000;

/// The longest URI of an app.
const MAX_URI: usize = 2_000;

const MAX_PAGES: usize = 1_000;

/// All pages together.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// More faults than this are only counted in the log.
const MAX_FAULTS: usize = 100;

/// Fetches every page of `tools/list`, for all or from the instance that a caller has.
pub(crate) async fn fetch(
    transport: &Transport,
    caller: Option<&Caller>,
) -> Result<Vec<Arc<Value>>, TransportError> {
    if let Transport::OpenApi(service) = transport {
        return service.list().await;
    }
    pages(transport, caller, "tools/list", "tools").await
}

/// Fetches what a server offers in addition to tools. A list that cannot be fetched stays as it was.
pub(crate) async fn fetch_other(
    server: &str,
    transport: &Transport,
    caller: Option<&Caller>,
    stated: &Value,
    before: &OtherOfferings,
) -> OtherOfferings {
    let get = async |capability: &str, method, key, before: &Vec<Arc<Value>>| {
        if stated.get(capability).is_none_or(Value::is_null) {
            return Vec::new();
        }
        pages(transport, caller, method, key).await.unwrap_or_else(|error| {
            tracing::debug!(%error, method, "a list cannot be fetched");
            before.clone()
        })
    };
    let templates = "resourceTemplates";
    let mut other = OtherOfferings {
        prompts: get("prompts", "prompts/list", "prompts", &before.prompts).await,
        resources: get("resources", "resources/list", "resources", &before.resources).await,
        templates: get("resources", "resources/templates/list", templates, &before.templates).await,
        capabilities: stated.clone(),
        claims: before.claims.clone(),
    };
    for (list, key) in [(&mut other.resources, "uri"), (&mut other.templates, "uriTemplate")] {
        leave_out_own_uris(server, list, key);
    }
    other
}

/// Leaves out resources under the gateway's own scheme: they would be taken for its files.
fn leave_out_own_uris(server: &str, list: &mut Vec<Arc<Value>>, key: &str) {
    let own = files::URI.split_once(':').map(|(scheme, _)| scheme);
    let is_own = |entry: &Value| {
        let scheme = entry[key].as_str().and_then(|uri| uri.split_once(':'));
        scheme.zip(own).is_some_and(|((scheme, _), own)| scheme.eq_ignore_ascii_case(own))
    };
    let listed = list.len();
    list.retain(|entry| !is_own(entry));
    let left_out = listed - list.len();
    if left_out > 0 {
        let why = "resources with URIs of the gateway itself are not offered";
        tracing::warn!(server, left_out, "{why}");
    }
}

/// The URIs of the apps that a list of tools names (MCP Apps).
pub(crate) fn apps(tools: &[Arc<Value>]) -> Vec<String> {
    let named = |tool: &Arc<Value>| {
        let meta = &tool["_meta"];
        let uri =
            meta[UI_META][UI_RESOURCE].as_str().or_else(|| meta[UI_RESOURCE_META].as_str())?;
        (uri.len() <= MAX_URI).then(|| uri.to_owned())
    };
    let apps: BTreeSet<String> = tools.iter().filter_map(named).collect();
    apps.into_iter().collect()
}

async fn pages(
    transport: &Transport,
    caller: Option<&Caller>,
    method: &str,
    key: &str,
) -> Result<Vec<Arc<Value>>, TransportError> {
    let mut entries = Vec::new();
    let mut cursors = HashSet::new();
    let mut params = Map::new();
    let mut bytes = 0;
    for _ in 0..MAX_PAGES {
        let request = RpcRequest::plain(method, Params::Map(&params));
        let answer = match caller {
            Some(caller) => transport.ask_own(caller, &request).await?,
            None => transport.ask(None, &request).await?,
        };
        let page = match answer {
            Ok(page) => page,
            // A server without such a list does not know the method.
            Err(error) if error.code == -32601 && entries.is_empty() => return Ok(entries),
            Err(error) => {
                let said = clean::line(&shown(&error.message));
                let why = format!("{method} failed with {}: {said}", error.code);
                return Err(TransportError::malformed(why));
            }
        };
        let page = page.whole();
        bytes += page.len();
        if bytes > MAX_BYTES {
            return Err(TransportError::TooLarge(MAX_BYTES as u64));
        }
        let rounded = proto::big_integers(page.as_bytes());
        let mut page: Map<String, Value> = serde_json::from_str(&page)
            .map_err(|why| TransportError::malformed(format!("the answer to {method}: {why}")))?;
        mark_rounded(&mut page, key, &rounded);
        let Some(Value::Array(listed)) = page.remove(key) else {
            return Err(TransportError::malformed(format!(
                "the answer to {method} has no list of {key}"
            )));
        };
        entries.extend(listed.into_iter().map(Arc::new));
        let Some(Value::String(cursor)) = page.remove("nextCursor") else { return Ok(entries) };
        if entries.len() > MAX_TOOLS {
            return Ok(entries);
        }
        if !cursors.insert(cursor.clone()) {
            return Err(TransportError::malformed(format!("{method} repeats a cursor")));
        }
        params.insert("cursor".to_owned(), Value::String(cursor));
    }
    Err(TransportError::malformed(format!("{method} has more than {MAX_PAGES} pages")))
}

/// Marks entries with integers that were rounded: a change of such a value could not be seen.
fn mark_rounded(page: &mut Map<String, Value>, key: &str, paths: &[String]) {
    let Some(Value::Array(entries)) = page.get_mut(key) else { return };
    for path in paths {
        let mut steps = path.splitn(4, '/').skip(1);
        let (list, index, inner) = (steps.next(), steps.next(), steps.next());
        let index = index.filter(|_| list == Some(key)).and_then(|index| index.parse().ok());
        let Some((index, inner)) = index.zip(inner) else { continue };
        if let Some(Value::Object(entry)) = entries.get_mut::<usize>(index) {
            let meta = entry.entry("_meta").or_insert_with(|| json!({}));
            if !meta.is_object() {
                *meta = json!({});
            }
            meta[ROUNDED] = json!(format!("/{inner}"));
        }
    }
}

/// The tools that are offered from a list.
#[derive(Default)]
pub(crate) struct Offer {
    pub(crate) tools: Vec<Arc<UpstreamTool>>,
    pub(crate) faults: Vec<ListFault>,
}

impl Offer {
    /// Makes tools of a list. Unchanged ones are reused, so that the catalog can skip them.
    pub(crate) fn of(
        listed: &[Arc<Value>],
        server: &Arc<Server>,
        before: &[Arc<UpstreamTool>],
    ) -> Self {
        let mut known: HashMap<&str, Vec<&Arc<UpstreamTool>>> = HashMap::new();
        for tool in before {
            known.entry(tool.remote()).or_default().push(tool);
        }
        let mut offer = Self::default();
        let mut names: HashSet<ToolId> = HashSet::new();
        if listed.len() > MAX_TOOLS {
            let reason =
                format!("the server lists more than {MAX_TOOLS} tools; the rest is left out");
            offer.faults.push(ListFault::new("…", &reason));
        }
        for listed in listed.iter().take(MAX_TOOLS) {
            match Self::tool(listed, server, &known) {
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
        server: &Arc<Server>,
        known: &HashMap<&str, Vec<&Arc<UpstreamTool>>>,
    ) -> Result<Option<Arc<UpstreamTool>>, String> {
        let same = listed["name"]
            .as_str()
            .and_then(|name| known.get(name)?.iter().find(|tool| tool.is_defined_by(listed)));
        if let Some(same) = same {
            return Ok(Some(Arc::clone(same)));
        }
        let definition = Definition::read(&server.name, listed, Selection(&server.config))?;
        Ok(definition.map(|definition| {
            Arc::new(UpstreamTool::new(definition, Arc::clone(listed), Arc::clone(server)))
        }))
    }

    fn fault(&mut self, listed: &Value, reason: String) {
        if self.faults.len() < MAX_FAULTS {
            let name = listed["name"].as_str().unwrap_or_default();
            self.faults.push(ListFault::new(name, &reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use server_entry::ServerConfig;

    use super::*;

    #[test]
    fn a_definition_with_a_rounded_integer_is_not_used() {
        let page = r#"{"tools": [{"name": "a", "inputSchema": {"maximum": 18446744073709551615}},
            {"name": "b", "_meta": 7, "inputSchema": {"properties": {"n": {"maximum": 18446744073709551616}}}}],
            "other": [99999999999999999999]}"#;
        let rounded = proto::big_integers(page.as_bytes());
        let mut page: Map<String, Value> = serde_json::from_str(page).expect("JSON");
        mark_rounded(&mut page, "tools", &rounded);
        let config = ServerConfig::default();
        let read = |at: usize| Definition::read("s", &page["tools"][at], Selection(&config));
        assert!(read(0).is_ok());
        let why = read(1).err().unwrap_or_default();
        assert_eq!(
            why,
            "the integer at `/inputSchema/properties/n/maximum` does not fit into 64 bits"
        );
    }
}
