//! The tools and prompts of a caller, as the check of a DAG asks for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dag::plan::{MAX_HINTS, TaskPosition, ToolInfo, Tools, UnknownName};
use proto::{Principal, PromptRef};
use serde_json::Value;
use strip::catalog::{Entry, Snapshot};
use strip::{Part, Strip};

/// The tools of a catalog, or of an agent's view of it, and the prompts that are served.
pub struct CatalogTools {
    tools: Arc<Snapshot>,
    prompts: Arc<prompts::Snapshot>,
    /// How many tools were asked for that do not exist.
    unknown: AtomicUsize,
}

impl CatalogTools {
    /// What a caller can use.
    pub fn of(strip: &Strip, principal: &Principal) -> Self {
        Self {
            tools: Arc::clone(strip.view(principal).tools()),
            prompts: strip.prompts().snapshot(),
            unknown: AtomicUsize::new(0),
        }
    }
}

impl Tools for CatalogTools {
    fn find(&self, name: &str) -> Result<ToolInfo, UnknownName> {
        let entry = if self.unknown.load(Ordering::Relaxed) < MAX_HINTS {
            self.tools.resolve(name)
        } else {
            self.tools.resolve_without_hint(name)
        };
        let entry = entry.map_err(|failure| {
            self.unknown.fetch_add(1, Ordering::Relaxed);
            let nearest = failure.details.as_ref().and_then(|details| details.get("nearest"));
            let nearest = nearest.and_then(Value::as_array).into_iter().flatten();
            let nearest = nearest.filter_map(Value::as_str).map(ToOwned::to_owned).collect();
            UnknownName { message: failure.message, nearest }
        })?;
        Ok(info_of(entry))
    }

    fn prompt(&self, reference: &str) -> Result<String, UnknownName> {
        let reference: PromptRef = reference.parse().map_err(|_| UnknownName {
            message: "the name of a prompt has the form `domain/name` or `domain/name@1`"
                .to_owned(),
            nearest: Vec::new(),
        })?;
        match self.prompts.get(&reference) {
            Ok(prompt) => Ok(format!("{}@{}", prompt.id(), prompt.major)),
            Err(error) => {
                let nearest = match &error {
                    prompts::PromptError::Unknown { nearest, .. } => nearest.clone(),
                    _ => Vec::new(),
                };
                Err(UnknownName { message: error.to_string(), nearest })
            }
        }
    }
}

fn info_of(entry: &Arc<Entry>) -> ToolInfo {
    let descriptor = &entry.descriptor;
    let checked = Arc::clone(entry);
    ToolInfo {
        pinned: format!("{}@{}", descriptor.id, descriptor.version.major),
        check_input: Arc::new(move |arguments, unknown| {
            let schema = &checked.descriptor.input_schema;
            let without = schema::without_optional_nulls(schema, arguments);
            checked.input.known_violations(without.as_ref().unwrap_or(arguments), unknown)
        }),
        output_schema: descriptor.output_schema.clone().map(Arc::new),
        position: position_of(entry.tool.part()),
        deterministic: descriptor.deterministic,
    }
}

fn position_of(part: Part) -> TaskPosition {
    match part {
        Part::Data | Part::Control | Part::Reader => TaskPosition::Anywhere,
        Part::End => TaskPosition::End,
        Part::Finder | Part::Forwarder | Part::Alias | Part::Workflow => TaskPosition::Nowhere,
    }
}
