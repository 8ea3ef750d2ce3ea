//! How the definitions of tools are listed to MCP clients.

use schema::portable::{self, Api};
use serde_json::Value;

use super::entry::{BUILT_IN, Entry};
use crate::tool::Part;

/// The form of input schemas in lists. Calls are checked against the original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemaForm {
    /// As the server or the toolpack wrote them.
    #[default]
    AsIs,
    /// Rewritten to what every model API accepts.
    Portable,
}

impl Entry {
    /// Whether the tool is part of the gateway.
    pub fn is_built_in(&self) -> bool {
        self.source.starts_with(BUILT_IN) || self.tool.part() != Part::Data
    }

    /// The input schema for lists, if it differs from the tool's own. Built-in tools are always listed in a short and
    /// portable form.
    pub fn rewritten_input(&self, form: SchemaForm) -> Option<Value> {
        let schema = &self.descriptor.input_schema;
        let rewritten = match form {
            _ if self.is_built_in() => portable::brief(schema),
            SchemaForm::AsIs => return None,
            SchemaForm::Portable => portable::portable(schema),
        };
        Some(Value::Object(rewritten))
    }

    /// The output schema for lists. Those of workflow tools are large and no model sees them, so they are left out;
    /// answers are checked all the same.
    pub fn listed_output(&self) -> Option<&Value> {
        let output = self.descriptor.output_schema.as_ref();
        output.filter(|_| self.tool.part() != Part::Workflow)
    }

    /// Why a model API refuses the tool's own input schema, if one does.
    pub fn unportable(&self) -> Option<&str> {
        self.refusal.get_or_init(|| refusal(&self.descriptor.input_schema)).as_deref()
    }
}

/// Why a model API refuses an input schema: the first reason of each. What clients usually repair is left out, and so is
/// the strict conversion, after which clients fall back to the schema as it is.
pub fn refusal(schema: &Value) -> Option<String> {
    // As in lists, the root is an object.
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.insert("type".to_owned(), "object".into());
    let schema = Value::Object(schema);
    let reason = |api: Api| {
        let breaches = api.breaches(&schema);
        let breach = breaches.iter().find(|breach| !breach.repaired_by_clients)?;
        let path = if breach.path.is_empty() { "the root" } else { &breach.path };
        Some(format!("{} refuses {path}: {}", api.name(), breach.reason))
    };
    let reasons: Vec<_> = [Api::Gemini, Api::OpenAi].into_iter().filter_map(reason).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}
