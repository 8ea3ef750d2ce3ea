//! Which input schemas the model APIs accept in the declaration of a function, and how to rewrite the others.
//!
//! An API that refuses one declaration refuses the whole request, so one tool can make all others unusable. The rules
//! and where they come from are listed in `docs/src/reference/schemas.md`.

mod flat;
mod gemini;
mod openai;
mod openai_strict;
mod rewrite;
mod size;

use serde::Serialize;
use serde_json::Value;

pub use gemini::gemini;
pub use openai::openai;
pub use openai_strict::openai_strict;
pub use rewrite::{brief, portable};
pub use size::estimated_tokens;

/// The most parts of one schema that are reported.
const MAX_BREACHES: usize = 100;

/// The names of types in JSON Schema.
const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

/// A part of a schema that an API refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Breach {
    /// A JSON Pointer into the schema; empty for the schema itself.
    pub path: String,
    pub reason: String,
    /// Whether most clients of the API repair it before they send a request.
    pub repaired_by_clients: bool,
}

/// A model API, or what its SDK does with schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Function declarations of Gemini.
    Gemini,
    /// Functions of OpenAI without `strict`.
    OpenAi,
    /// The conversion to `strict` of the OpenAI Agents SDK.
    OpenAiStrict,
}

impl Api {
    pub const ALL: [Self; 3] = [Self::Gemini, Self::OpenAi, Self::OpenAiStrict];

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gemini => "Gemini",
            Self::OpenAi => "OpenAI",
            Self::OpenAiStrict => "the OpenAI Agents SDK in strict mode",
        }
    }

    /// The parts of an input schema that it refuses; at most 100.
    pub fn breaches(self, schema: &Value) -> Vec<Breach> {
        match self {
            Self::Gemini => gemini(schema),
            Self::OpenAi => openai(schema),
            Self::OpenAiStrict => openai_strict(schema),
        }
    }
}

/// Collects what is refused, up to the limit.
#[derive(Default)]
struct Report(Vec<Breach>);

impl Report {
    fn add(&mut self, path: &str, reason: impl Into<String>) {
        self.push(path, reason, false);
    }

    fn push(&mut self, path: &str, reason: impl Into<String>, repaired_by_clients: bool) {
        if !self.is_full() {
            let (path, reason) = (path.to_owned(), reason.into());
            self.0.push(Breach { path, reason, repaired_by_clients });
        }
    }

    fn is_full(&self) -> bool {
        self.0.len() >= MAX_BREACHES
    }
}

/// The JSON Pointer of a member.
fn child(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The schemas below a node, each with its JSON Pointer: of properties, items and the lists of schemas.
fn children<'a>(
    node: &'a serde_json::Map<String, Value>,
    path: &str,
    lists: &[&str],
) -> Vec<(String, &'a Value)> {
    let mut found = Vec::new();
    if let Some(Value::Object(properties)) = node.get("properties") {
        let base = child(path, "properties");
        found.extend(properties.iter().map(|(name, schema)| (child(&base, name), schema)));
    }
    if let Some(items) = node.get("items") {
        found.push((child(path, "items"), items));
    }
    for keyword in lists {
        let members = node.get(*keyword).and_then(Value::as_array).into_iter().flatten();
        let base = child(path, keyword);
        found.extend(members.enumerate().map(|(at, schema)| (format!("{base}/{at}"), schema)));
    }
    found
}

/// Whether a `type` names this type, alone or in a list.
fn has_type(node: &serde_json::Map<String, Value>, name: &str) -> bool {
    match node.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
