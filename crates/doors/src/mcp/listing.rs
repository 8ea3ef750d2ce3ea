//! `tools/list`, prepared once per view of the catalog. Clients of the newest revision receive the same serialised page.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use arc_swap::ArcSwapOption;
use proto::{Annotations, Principal};
use rmcp::model::{
    CacheScope, ErrorData, JsonObject, ListToolsResult, MetaObject, Tool, ToolAnnotations,
};
use schema::protocols;
use serde_json::Value;
use serde_json::value::RawValue;
use strip::Strip;
use strip::agents::View;
use strip::catalog::{Entry, NameStyle, SchemaForm};
use strip::servers::ClientIdentity;

use super::apps::Links;

/// The size of a page; large, because many clients read only the first one.
const PAGE: usize = 1_000;

/// How long a client may cache a list; it is also notified of changes.
pub(super) const TTL_MS: u64 = 5_000;

const CURSOR: &str = "after:";

#[derive(Default)]
pub(super) struct Listing {
    plain: Slot,
    agents: RwLock<HashMap<String, Arc<Slot>>>,
    /// The latest lists for clients with their own instances of servers.
    own: Mutex<Vec<Arc<Prepared>>>,
}

/// How many lists for clients with their own instances of servers are kept.
const MAX_OWN: usize = 16;

/// The latest list for one agent, or for callers without one.
#[derive(Default)]
struct Slot {
    prepared: ArcSwapOption<Prepared>,
    preparing: Mutex<()>,
}

struct Prepared {
    view: View,
    style: ListStyle,
    /// The servers by which the links of tools to their apps were translated.
    servers: Arc<strip::servers::Listing>,
    /// Sorted by name.
    tools: Vec<Listed>,
    /// From wire name to the index in `tools`.
    by_wire: HashMap<String, usize>,
    /// The pages for clients of 2026-07-28, each serialised when it is first requested.
    serialised: Vec<OnceLock<Option<Arc<RawValue>>>>,
}

/// What an operator sets about lists.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ListStyle {
    names: NameStyle,
    schemas: SchemaForm,
}

/// A tool that may be called; most of them are not listed for an agent that searches.
enum FoundTool<'a> {
    Listed(&'a Listed),
    Unlisted(&'a Entry),
}

#[derive(Clone)]
struct Listed {
    entry: Arc<Entry>,
    tool: Tool,
    /// The output schema for clients before 2026-07-28, if it must differ.
    object_output: Option<Arc<JsonObject>>,
    /// Whether some of its arguments must be repeated in headers.
    takes_headers: bool,
}

impl Listing {
    /// The page after a cursor.
    pub(super) fn page(
        &self,
        strip: &Strip,
        client: &ClientIdentity,
        cursor: Option<&str>,
        modern: bool,
    ) -> Result<ListToolsResult, ErrorData> {
        let prepared = self.for_client(strip, client);
        let start = prepared
            .start(cursor)
            .ok_or_else(|| ErrorData::invalid_params("the cursor is not from this server", None))?;
        Ok(prepared.page(start, modern))
    }

    /// The page after a cursor, serialised for a client of 2026-07-28; `None` if no page begins there.
    pub(super) fn serialised_page(
        &self,
        strip: &Strip,
        client: &ClientIdentity,
        cursor: Option<&str>,
    ) -> Option<Arc<RawValue>> {
        let prepared = self.for_client(strip, client);
        let start = prepared.start(cursor)?;
        let page = prepared.serialised.get(start / PAGE).filter(|_| start % PAGE == 0)?;
        page.get_or_init(|| {
            let page = prepared.page(start, true);
            let text = match prepared.with_extra(&page) {
                Some(whole) => whole.to_string(),
                None => serde_json::to_string(&page).ok()?,
            };
            RawValue::from_string(text).ok().map(Arc::from)
        })
        .clone()
    }

    /// The page as JSON with fields that the library does not know; none if it has no such fields.
    pub(super) fn with_extra(
        &self,
        strip: &Strip,
        client: &ClientIdentity,
        page: &ListToolsResult,
    ) -> Option<Value> {
        self.for_client(strip, client).with_extra(page)
    }

    /// The input schema of a tool by any of its names, as it is listed.
    pub(super) fn input_schema(
        &self,
        strip: &Strip,
        principal: &Principal,
        name: &str,
    ) -> Option<Arc<JsonObject>> {
        let prepared = self.current(strip, principal);
        match prepared.find(name)? {
            FoundTool::Listed(listed) => Some(Arc::clone(&listed.tool.input_schema)),
            FoundTool::Unlisted(entry) => {
                Some(Arc::new(protocols::object_input(&entry.descriptor.input_schema)))
            }
        }
    }

    /// Whether some of a tool's arguments must be repeated in headers.
    pub(super) fn takes_headers(&self, strip: &Strip, client: &ClientIdentity, name: &str) -> bool {
        match self.for_client(strip, client).find(name) {
            None => false,
            Some(FoundTool::Listed(listed)) => listed.takes_headers,
            Some(FoundTool::Unlisted(entry)) => {
                let schema = entry.descriptor.input_schema.as_object();
                schema.is_some_and(protocols::marks_headers)
            }
        }
    }

    /// The list for a client, with the tools of its own instances of servers.
    fn for_client(&self, strip: &Strip, client: &ClientIdentity) -> Arc<Prepared> {
        let shared = self.current(strip, &client.principal);
        let view = strip.view_of(client);
        let servers = strip.servers().listing_of(client);
        if shared.view.is(&view) && Arc::ptr_eq(&shared.servers, &servers) {
            return shared;
        }
        let is_fresh = |known: &&Arc<Prepared>| {
            known.view.is(&view)
                && known.style == shared.style
                && Arc::ptr_eq(&known.servers, &servers)
        };
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = own.iter().find(is_fresh) {
            return Arc::clone(known);
        }
        let prepared = Arc::new(Prepared::new(&view, shared.style, servers, Some(&*shared)));
        if own.len() >= MAX_OWN {
            own.remove(0);
        }
        own.push(Arc::clone(&prepared));
        prepared
    }

    fn current(&self, strip: &Strip, principal: &Principal) -> Arc<Prepared> {
        let view = strip.view(principal);
        let style = ListStyle { names: strip.name_style(), schemas: strip.schema_form(principal) };
        let Some(agent) = &principal.agent else {
            return self.plain.current(&view, style, strip);
        };
        let known = self.agents.read().unwrap_or_else(PoisonError::into_inner).get(agent).cloned();
        let slot = known.unwrap_or_else(|| {
            let mut slots = self.agents.write().unwrap_or_else(PoisonError::into_inner);
            // Agents that the config no longer has are removed when a new one is added.
            let profiles = strip.agents();
            slots.retain(|agent, _| profiles.agents.contains_key(agent));
            Arc::clone(slots.entry(agent.clone()).or_default())
        });
        slot.current(&view, style, strip)
    }
}

impl Slot {
    fn current(&self, view: &View, style: ListStyle, strip: &Strip) -> Arc<Prepared> {
        let servers = strip.servers().listing();
        let fresh = |prepared: &Arc<Prepared>| {
            prepared.view.is(view)
                && prepared.style == style
                && Arc::ptr_eq(&prepared.servers, &servers)
        };
        if let Some(prepared) = self.prepared.load_full().filter(fresh) {
            return prepared;
        }
        let _one_at_a_time = self.preparing.lock().unwrap_or_else(PoisonError::into_inner);
        let previous = self.prepared.load_full();
        if let Some(prepared) = previous.clone().filter(fresh) {
            return prepared;
        }
        let prepared = Arc::new(Prepared::new(view, style, servers, previous.as_deref()));
        self.prepared.store(Some(Arc::clone(&prepared)));
        prepared
    }
}

impl Prepared {
    fn new(
        view: &View,
        style: ListStyle,
        servers: Arc<strip::servers::Listing>,
        previous: Option<&Self>,
    ) -> Self {
        // The catalog keeps the entries of unchanged tools, so what was prepared for them is still valid.
        let known: HashMap<*const Entry, &Listed> = previous
            .filter(|previous| previous.style == style)
            .iter()
            .flat_map(|previous| &previous.tools)
            // A link to an app depends on the lists of all servers and on the view.
            .filter(|listed| listed.entry.descriptor.ui_resource().is_none())
            .map(|listed| (Arc::as_ptr(&listed.entry), listed))
            .collect();
        let mut tools: Vec<_> = view
            .listed()
            .map(|entry| match known.get(&Arc::as_ptr(entry)) {
                Some(listed) => (*listed).clone(),
                None => {
                    let mut listed = Listed::new(entry, style);
                    listed.translate(&servers, view);
                    listed
                }
            })
            .collect();
        tools.sort_by(|a, b| a.tool.name.cmp(&b.tool.name));
        let by_wire = tools
            .iter()
            .enumerate()
            .map(|(index, listed)| (listed.entry.wire.clone(), index))
            .collect();
        // Without any tool there is one empty page.
        let pages = tools.len().div_ceil(PAGE).max(1);
        let serialised = (0..pages).map(|_| OnceLock::new()).collect();
        Self { view: view.clone(), style, servers, tools, by_wire, serialised }
    }

    /// The index of the first tool after a cursor.
    fn start(&self, cursor: Option<&str>) -> Option<usize> {
        let Some(cursor) = cursor else { return Some(0) };
        let last = cursor.strip_prefix(CURSOR)?;
        Some(self.tools.partition_point(|listed| *listed.tool.name <= *last))
    }

    fn page(&self, start: usize, modern: bool) -> ListToolsResult {
        let rest = &self.tools[start..];
        let page = &rest[..rest.len().min(PAGE)];
        let tools = page.iter().map(|listed| listed.shown(modern)).collect();
        let mut result = ListToolsResult::with_all_items(tools);
        if rest.len() > PAGE {
            result.next_cursor = page.last().map(|last| format!("{CURSOR}{}", last.tool.name));
        }
        result.ttl_ms = modern.then_some(TTL_MS);
        result.cache_scope = modern.then_some(CacheScope::Private);
        result
    }

    /// The page as JSON with fields that the library does not know; none if it has no such fields.
    fn with_extra(&self, page: &ListToolsResult) -> Option<Value> {
        let extra = |tool: &Tool| {
            let place = self.tools.binary_search_by(|listed| listed.tool.name.cmp(&tool.name));
            let extra = &self.tools.get(place.ok()?)?.entry.descriptor.extra;
            (!extra.is_empty()).then_some(extra)
        };
        let extras: Vec<_> = page.tools.iter().map(extra).collect();
        if extras.iter().all(Option::is_none) {
            return None;
        }
        let mut whole = serde_json::to_value(page).ok()?;
        let tools = whole.get_mut("tools").and_then(Value::as_array_mut)?;
        for (tool, extra) in tools.iter_mut().zip(extras) {
            for (field, value) in extra.into_iter().flatten() {
                match (tool.get_mut(field), value) {
                    (Some(Value::Object(known)), Value::Object(more)) => {
                        known.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
                    }
                    _ => tool[field] = value.clone(),
                }
            }
        }
        Some(whole)
    }

    fn find(&self, name: &str) -> Option<FoundTool<'_>> {
        if let Some(listed) = self.listed(name) {
            return Some(FoundTool::Listed(listed));
        }
        let entry = self.view.tools().resolve(name).ok()?;
        Some(self.listed(&entry.wire).map_or(FoundTool::Unlisted(entry), FoundTool::Listed))
    }

    fn listed(&self, wire: &str) -> Option<&Listed> {
        self.tools.get(*self.by_wire.get(wire)?)
    }
}

impl Listed {
    fn new(entry: &Arc<Entry>, style: ListStyle) -> Self {
        let descriptor = &entry.descriptor;
        let rewritten = entry.rewritten_input(style.schemas);
        let input = protocols::object_input(rewritten.as_ref().unwrap_or(&descriptor.input_schema));
        let output = entry.listed_output().and_then(Value::as_object);
        let mut tool = Tool::new(name(entry, style.names), description(entry), input);
        tool.title = descriptor.title.clone();
        tool.output_schema =
            output.map(|output| Arc::new(protocols::without_booleans(output.clone())));
        tool.annotations = annotations(&descriptor.annotations);
        tool.meta = Some(meta(entry));
        let object_output = output.and_then(protocols::object_output).map(Arc::new);
        let takes_headers = protocols::marks_headers(&tool.input_schema);
        Self { entry: Arc::clone(entry), tool, object_output, takes_headers }
    }

    /// Translates the tool's link to its app.
    fn translate(&mut self, listing: &strip::servers::Listing, view: &View) {
        let Some(server) = self.entry.server() else { return };
        let links = Links { listing, server, readable: view.holds_server(server) };
        if let Some(MetaObject(meta)) = &mut self.tool.meta {
            links.translate_meta(meta);
        }
    }

    fn shown(&self, modern: bool) -> Tool {
        let mut tool = self.tool.clone();
        if !modern && let Some(output) = &self.object_output {
            tool.output_schema = Some(Arc::clone(output));
        }
        tool
    }
}

fn name(entry: &Entry, style: NameStyle) -> String {
    let descriptor = &entry.descriptor;
    match style {
        NameStyle::Wire => entry.wire.clone(),
        NameStyle::Canonical if entry.superseded_by.is_some() => {
            format!("{}@{}", descriptor.id, descriptor.version.major)
        }
        NameStyle::Canonical => descriptor.id.to_string(),
    }
}

fn description(entry: &Entry) -> String {
    let description = &entry.descriptor.description;
    match entry.superseded_by {
        None => description.clone(),
        Some(newer) => format!("Deprecated: major {newer} of this tool replaces it. {description}"),
    }
}

fn annotations(annotations: &Annotations) -> Option<ToolAnnotations> {
    (*annotations != Annotations::default()).then(|| {
        ToolAnnotations::from_raw(
            annotations.title.clone(),
            annotations.read_only_hint,
            annotations.destructive_hint,
            annotations.idempotent_hint,
            annotations.open_world_hint,
        )
    })
}

fn meta(entry: &Entry) -> MetaObject {
    let descriptor = &entry.descriptor;
    let mut meta = descriptor.meta.clone().unwrap_or_default();
    meta.insert("powerstrip/tool".to_owned(), descriptor.id.to_string().into());
    meta.insert("powerstrip/version".to_owned(), descriptor.version.to_string().into());
    if entry.superseded_by.is_some() {
        meta.insert("powerstrip/deprecated".to_owned(), true.into());
    }
    MetaObject(meta)
}
