use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proto::{Principal, PromptRef};
use schema::{Unknowns, Violation};
use serde_json::Value;
use strip::catalog::{Entry, Snapshot};
use strip::{Part, Strip};

use super::limits::MAX_HINTS;

/// The tools and prompts that the owner of a workflow can use.
pub trait Tools {
    /// Finds a tool by any of its names.
    fn find(&self, name: &str) -> Result<ToolInfo, UnknownName>;

    /// Finds a prompt, and pins it to its major: `domain/name@1`.
    fn prompt(&self, reference: &str) -> Result<String, UnknownName>;
}

/// Checks arguments of which some parts are templates.
pub type InputCheck = Arc<dyn Fn(&Value, &Unknowns) -> Vec<Violation> + Send + Sync>;

/// What the check of a DAG needs to know of a tool.
#[derive(Clone)]
pub struct ToolInfo {
    /// Its id with its major: `server:tool@1`.
    pub pinned: String,
    pub check_input: InputCheck,
    pub output_schema: Option<Arc<Value>>,
    pub part: Part,
    pub deterministic: bool,
}

/// A name that nothing has which the owner can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    pub message: String,
    /// The nearest names, best first.
    pub nearest: Vec<String>,
}

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
        Ok(ToolInfo::of(entry))
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

impl ToolInfo {
    fn of(entry: &Arc<Entry>) -> Self {
        let descriptor = &entry.descriptor;
        let checked = Arc::clone(entry);
        Self {
            pinned: format!("{}@{}", descriptor.id, descriptor.version.major),
            check_input: Arc::new(move |arguments, unknown| {
                let schema = &checked.descriptor.input_schema;
                let without = schema::without_optional_nulls(schema, arguments);
                checked.input.known_violations(without.as_ref().unwrap_or(arguments), unknown)
            }),
            output_schema: descriptor.output_schema.clone().map(Arc::new),
            part: entry.tool.part(),
            deterministic: descriptor.deterministic,
        }
    }
}
