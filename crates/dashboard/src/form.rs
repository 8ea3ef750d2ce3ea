//! A form made from a JSON Schema. It is read on the server: what somebody typed is a `Draft`, which becomes a value, or
//! faults at the fields where they belong. Adding and removing items are forms, too, so that all of it works without
//! script.

mod draft;
mod faults;
mod show;

use serde_json::Value;

pub(super) use draft::Draft;
pub(super) use faults::Faults;

/// Deeper parts are written as JSON.
const MAX_DEPTH: usize = 5;

/// So many references in a row are followed.
const MAX_REFERENCES: usize = 8;

/// A form for values of one schema.
pub(super) struct Form<'a> {
    root: &'a Value,
}

/// One place of a form.
#[derive(Clone, Copy)]
struct Field<'a> {
    schema: &'a Value,
    kind: Kind<'a>,
    /// Whether nothing may be said by `null`.
    nullable: bool,
    depth: usize,
}

/// How a place is filled in.
#[derive(Clone, Copy)]
enum Kind<'a> {
    Text,
    Number {
        whole: bool,
    },
    Flag,
    Choice(&'a [Value]),
    Object(&'a serde_json::Map<String, Value>),
    List(&'a Value),
    /// What no simpler form fits.
    Json,
}

impl<'a> Form<'a> {
    pub(super) fn of(schema: &'a Value) -> Self {
        Self { root: schema }
    }

    fn top(&self) -> Field<'a> {
        self.field(self.root, 0)
    }

    fn field(&self, schema: &'a Value, depth: usize) -> Field<'a> {
        let (schema, mut nullable) = self.plain(schema);
        let kind = if depth > MAX_DEPTH { Kind::Json } else { kind(schema, &mut nullable) };
        Field { schema, kind, nullable, depth }
    }

    /// The schema behind references, and behind a choice between something and nothing.
    fn plain(&self, schema: &'a Value) -> (&'a Value, bool) {
        let (mut schema, mut nullable) = (schema, false);
        for _ in 0..MAX_REFERENCES {
            let target = schema.get("$ref").and_then(Value::as_str);
            let target = target.and_then(|place| place.strip_prefix('#'));
            if let Some(next) = target.and_then(|pointer| self.root.pointer(pointer)) {
                schema = next;
            } else if let Some(next) = either_or_nothing(schema) {
                (schema, nullable) = (next, true);
            } else {
                break;
            }
        }
        (schema, nullable)
    }

    /// The places below an object, in the schema's order, the required ones marked.
    fn properties(&self, field: &Field<'a>) -> Vec<(&'a str, Field<'a>, bool)> {
        let Kind::Object(properties) = field.kind else { return Vec::new() };
        let required = field.schema.get("required").and_then(Value::as_array);
        let needs = |name: &str| {
            required.is_some_and(|names| names.iter().any(|held| held.as_str() == Some(name)))
        };
        let listed = properties.iter().map(|(name, schema)| {
            (name.as_str(), self.field(schema, field.depth + 1), needs(name))
        });
        let mut listed: Vec<_> = listed.collect();
        // Nobody should have to look for what must be filled in.
        listed.sort_by_key(|(_, _, required)| !required);
        listed
    }
}

/// `anyOf: [X, null]`, as many generators write what may be missing.
fn either_or_nothing(schema: &Value) -> Option<&Value> {
    let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let is_null = |choice: &&Value| choice.get("type").and_then(Value::as_str) == Some("null");
    let something: Vec<_> = choices.iter().filter(|choice| !is_null(choice)).collect();
    match something.as_slice() {
        [one] if choices.len() == 2 => Some(one),
        _ => None,
    }
}

fn kind<'a>(schema: &'a Value, nullable: &mut bool) -> Kind<'a> {
    if let Some(Value::Array(values)) = schema.get("enum")
        && !values.is_empty()
    {
        return Kind::Choice(values);
    }
    let composed = ["oneOf", "anyOf", "allOf", "not", "if", "const", "$ref"];
    if composed.iter().any(|key| schema.get(key).is_some()) {
        return Kind::Json;
    }
    let named = match schema.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => {
            let named: Vec<_> = names.iter().filter_map(Value::as_str).collect();
            *nullable |= named.contains(&"null");
            match named.iter().filter(|name| **name != "null").collect::<Vec<_>>().as_slice() {
                [one] => Some(**one),
                _ => None,
            }
        }
        _ if schema.get("properties").is_some() => Some("object"),
        _ => None,
    };
    match named {
        Some("string") => Kind::Text,
        Some("number") => Kind::Number { whole: false },
        Some("integer") => Kind::Number { whole: true },
        Some("boolean") => Kind::Flag,
        Some("object") => match schema.get("properties").and_then(Value::as_object) {
            Some(properties) if !properties.is_empty() => Kind::Object(properties),
            // An object that takes nothing needs no field.
            _ if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                static NONE: std::sync::LazyLock<serde_json::Map<String, Value>> =
                    std::sync::LazyLock::new(serde_json::Map::new);
                Kind::Object(&NONE)
            }
            _ => Kind::Json,
        },
        Some("array") => match schema.get("items") {
            Some(items @ Value::Object(_)) if schema.get("prefixItems").is_none() => {
                Kind::List(items)
            }
            _ => Kind::Json,
        },
        _ => Kind::Json,
    }
}

/// The place of a part below another.
fn below(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;
