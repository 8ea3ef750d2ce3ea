use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::template::{self, Budget, Engine, TemplateError, UndefinedBehavior};

/// The longest text that a prompt can become.
pub(super) const MAX_RENDERED_BYTES: usize = 256 * 1024;

/// Steps of the template engine: far more than a text of that length needs.
const FUEL: u64 = 500_000;

static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(FUEL, UndefinedBehavior::SemiStrict));

/// Renders a body.
pub(super) fn render(
    body: &str,
    arguments: &Value,
    budget: &Budget,
) -> Result<String, TemplateError> {
    ENGINE.render_within(body, template::value(arguments), MAX_RENDERED_BYTES, budget)
}

/// The names that a body takes from its arguments, or why it is not a template.
pub(super) fn names(body: &str) -> Result<BTreeSet<String>, TemplateError> {
    ENGINE.variables(body, false)
}

/// A value that fits a schema well enough to try a body with it.
pub(super) fn sample(schema: &Value) -> Value {
    let first = |key: &str| schema.get(key).and_then(|values| values.get(0)).cloned();
    let known = schema.get("default").or_else(|| schema.get("const")).cloned();
    if let Some(value) = known.or_else(|| first("enum")).or_else(|| first("examples")) {
        return value;
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first(),
        kind => kind,
    };
    match kind.and_then(Value::as_str) {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        Some("array") => json!([schema.get("items").map_or(json!("sample"), sample)]),
        Some("object") => schema
            .get("properties")
            .and_then(Value::as_object)
            .map(|fields| fields.iter().map(|(name, field)| (name.clone(), sample(field))))
            .map_or(json!({}), |fields| Value::Object(fields.collect())),
        _ => json!("sample"),
    }
}
