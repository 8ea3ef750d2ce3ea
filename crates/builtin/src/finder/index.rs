use std::collections::HashMap;
use std::sync::Arc;

use language::model::StaticModel;
use language::tools::{ToolIndex, ToolText};
use proto::ToolId;
use serde_json::Value;
use strip::catalog::{Entry, Snapshot};

/// A search index of the tools of one catalog.
pub(super) struct Index {
    /// The indexed catalog.
    pub(super) catalog: Arc<Snapshot>,
    pub(super) words: Arc<Words>,
}

/// The indexed tools and their search index.
pub(super) struct Words {
    pub(super) entries: Vec<Arc<Entry>>,
    pub(super) positions: HashMap<ToolId, usize>,
    pub(super) tools: ToolIndex,
}

impl Index {
    /// Indexes a catalog; reuses the previous index if the tools are the same.
    pub(super) fn build(
        catalog: Arc<Snapshot>,
        model: Option<Arc<StaticModel>>,
        before: Option<Arc<Words>>,
    ) -> Self {
        let entries: Vec<_> =
            catalog.entries().iter().filter(|e| is_searchable(e)).cloned().collect();
        let same = |words: &Arc<Words>| {
            words.entries.len() == entries.len()
                && words.entries.iter().zip(&entries).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        if let Some(words) = before.filter(same) {
            return Self { catalog, words };
        }
        let positions = entries
            .iter()
            .enumerate()
            .map(|(position, entry)| (entry.descriptor.id.clone(), position))
            .collect();
        let parameters: Vec<_> = entries.iter().map(|entry| parameters(entry)).collect();
        let texts: Vec<_> = entries
            .iter()
            .zip(&parameters)
            .map(|(entry, parameters)| ToolText {
                name: entry.descriptor.id.as_str(),
                title: entry.descriptor.title.as_deref().unwrap_or_default(),
                description: &entry.descriptor.description,
                parameters,
            })
            .collect();
        let tools = ToolIndex::build(&texts, model);
        Self { catalog, words: Arc::new(Words { entries, positions, tools }) }
    }
}

/// Search leaves out old major versions, the search and control-flow tools, which agents know already, and tools that only
/// the apps of their server may call.
fn is_searchable(entry: &Entry) -> bool {
    entry.superseded_by.is_none()
        && entry.tool.part() == strip::Part::Data
        && entry.descriptor.is_for_models()
}

/// The name and description of each parameter.
fn parameters(entry: &Entry) -> Vec<(&str, &str)> {
    let properties = entry.descriptor.input_schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name.as_str(), description(schema).unwrap_or_default()))
        .collect()
}

fn description(schema: &Value) -> Option<&str> {
    schema.get("description")?.as_str()
}
