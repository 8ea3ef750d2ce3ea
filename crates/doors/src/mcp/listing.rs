//! `tools/list`, prepared once per catalog revision: a request copies a page and nothing is worked out again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use proto::Annotations;
use rmcp::model::{
    CacheScope, ErrorData, JsonObject, ListToolsResult, MetaObject, Tool, ToolAnnotations,
};
use serde_json::{Map, Value};
use strip::Strip;
use strip::catalog::{Entry, NameStyle, Snapshot};

use crate::schema;

/// Many clients read only the first page, so a page is large.
const PAGE: usize = 1_000;

/// How long a client may rely on a list without asking again; changes are announced anyway.
pub(super) const TTL_MS: u64 = 5_000;

const CURSOR: &str = "after:";

#[derive(Default)]
pub(super) struct Listing {
    prepared: ArcSwapOption<Prepared>,
    preparing: Mutex<()>,
}

struct Prepared {
    revision: u64,
    style: NameStyle,
    /// By name.
    tools: Vec<Listed>,
    /// From wire name to the place in `tools`.
    by_wire: HashMap<String, usize>,
}

#[derive(Clone)]
struct Listed {
    entry: Arc<Entry>,
    tool: Tool,
    /// What clients before 2026-07-28 are shown instead, where their rules are narrower.
    object_output: Option<Arc<JsonObject>>,
    /// Whether some of its arguments travel in headers, too.
    takes_headers: bool,
}

impl Listing {
    /// The page behind a cursor.
    pub(super) fn page(
        &self,
        strip: &Strip,
        cursor: Option<&str>,
        modern: bool,
    ) -> Result<ListToolsResult, ErrorData> {
        let prepared = self.current(strip);
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let last = cursor.strip_prefix(CURSOR).ok_or_else(|| {
                    ErrorData::invalid_params(
                        "the cursor is not one that this server gave out",
                        None,
                    )
                })?;
                prepared.tools.partition_point(|listed| *listed.tool.name <= *last)
            }
        };
        let rest = &prepared.tools[start..];
        let page = &rest[..rest.len().min(PAGE)];
        let tools = page.iter().map(|listed| listed.shown(modern)).collect();
        let mut result = ListToolsResult::with_all_items(tools);
        if rest.len() > PAGE {
            result.next_cursor = page.last().map(|last| format!("{CURSOR}{}", last.tool.name));
        }
        result.ttl_ms = modern.then_some(TTL_MS);
        result.cache_scope = modern.then_some(CacheScope::Private);
        Ok(result)
    }

    /// The input schema of a tool by any of its names, as it is listed.
    pub(super) fn input_schema(&self, strip: &Strip, name: &str) -> Option<Arc<JsonObject>> {
        let prepared = self.current(strip);
        Some(Arc::clone(&prepared.find(strip, name)?.tool.input_schema))
    }

    /// Whether some of a tool's arguments must be repeated in headers.
    pub(super) fn takes_headers(&self, strip: &Strip, name: &str) -> bool {
        let prepared = self.current(strip);
        prepared.find(strip, name).is_some_and(|listed| listed.takes_headers)
    }

    fn current(&self, strip: &Strip) -> Arc<Prepared> {
        let snapshot = strip.catalog().snapshot();
        let style = strip.name_style();
        let fresh = |prepared: &Arc<Prepared>| {
            prepared.revision == snapshot.revision() && prepared.style == style
        };
        if let Some(prepared) = self.prepared.load_full().filter(fresh) {
            return prepared;
        }
        let _one_at_a_time = self.preparing.lock().unwrap_or_else(PoisonError::into_inner);
        let previous = self.prepared.load_full();
        if let Some(prepared) = previous.clone().filter(fresh) {
            return prepared;
        }
        let prepared = Arc::new(Prepared::new(&snapshot, style, previous.as_deref()));
        self.prepared.store(Some(Arc::clone(&prepared)));
        prepared
    }
}

impl Prepared {
    fn new(snapshot: &Snapshot, style: NameStyle, previous: Option<&Self>) -> Self {
        // The catalog keeps the entries of unchanged tools: what was prepared for them stands.
        let known: HashMap<*const Entry, &Listed> = previous
            .filter(|previous| previous.style == style)
            .iter()
            .flat_map(|previous| &previous.tools)
            .map(|listed| (Arc::as_ptr(&listed.entry), listed))
            .collect();
        let mut tools: Vec<_> = snapshot
            .entries()
            .iter()
            .map(|entry| match known.get(&Arc::as_ptr(entry)) {
                Some(listed) => (*listed).clone(),
                None => Listed::new(entry, style),
            })
            .collect();
        tools.sort_by(|a, b| a.tool.name.cmp(&b.tool.name));
        let by_wire = tools
            .iter()
            .enumerate()
            .map(|(place, listed)| (listed.entry.wire.clone(), place))
            .collect();
        Self { revision: snapshot.revision(), style, tools, by_wire }
    }

    fn find(&self, strip: &Strip, name: &str) -> Option<&Listed> {
        let place = match self.by_wire.get(name) {
            Some(place) => *place,
            None => {
                let snapshot = strip.catalog().snapshot();
                *self.by_wire.get(&snapshot.resolve(name).ok()?.wire)?
            }
        };
        self.tools.get(place)
    }
}

impl Listed {
    fn new(entry: &Arc<Entry>, style: NameStyle) -> Self {
        let descriptor = &entry.descriptor;
        let input = schema::object_input(&descriptor.input_schema);
        let output = descriptor.output_schema.as_ref().and_then(Value::as_object);
        let mut tool = Tool::new(name(entry, style), description(entry), input);
        tool.title = descriptor.title.clone();
        tool.output_schema = output.map(|output| Arc::new(output.clone()));
        tool.annotations = annotations(&descriptor.annotations);
        tool.meta = Some(meta(entry));
        let object_output = output.and_then(schema::object_output).map(Arc::new);
        let takes_headers = schema::marks_headers(&tool.input_schema);
        Self { entry: Arc::clone(entry), tool, object_output, takes_headers }
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
    let mut meta = Map::new();
    meta.insert("powerstrip/tool".to_owned(), descriptor.id.to_string().into());
    meta.insert("powerstrip/version".to_owned(), descriptor.version.to_string().into());
    if entry.superseded_by.is_some() {
        meta.insert("powerstrip/deprecated".to_owned(), true.into());
    }
    MetaObject(meta)
}
