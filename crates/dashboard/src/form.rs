//! A form generated from a JSON Schema. The server reads it: the typed texts are a `Draft`, which becomes a value, or
//! faults at its fields. Adding and removing items posts the form, too, so that it works without scripts.

mod draft;
mod faults;
mod show;

use serde_json::Value;

pub(super) use draft::Draft;
pub(super) use faults::Faults;

/// Fields nested deeper than this are edited as JSON.
const MAX_DEPTH: usize = 5;

/// How many references are followed in a row.
const MAX_REFERENCES: usize = 8;

/// A form for values of one schema.
pub(super) struct Form<'a> {
    root: &'a Value,
}

/// One field of a form.
#[derive(Clone, Copy)]
struct Field<'a> {
    schema: &'a Value,
    /// The schema before references, whose words come first.
    outer: &'a Value,
    kind: Kind<'a>,
    /// Whether the value may be `null`.
    nullable: bool,
    depth: usize,
}

impl<'a> Field<'a> {
    /// What the schema says about the field under this keyword, such as `description`.
    fn annotation(&self, keyword: &str) -> Option<&'a Value> {
        self.outer.get(keyword).or_else(|| self.schema.get(keyword))
    }

    /// The value that the field begins with. A value from behind a reference is used at the top only: an optional object
    /// with one value is an object that was typed.
    fn default_value(&self) -> Option<&'a Value> {
        let default =
            if self.depth <= 1 { self.annotation("default") } else { self.schema.get("default") };
        default.filter(|default| !default.is_null())
    }
}

/// The values of a choice.
#[derive(Clone, Copy)]
enum Choices<'a> {
    /// The values of `enum`.
    Values(&'a [Value]),
    /// The schemas of `oneOf`, each with a `const`.
    Constants(&'a [Value]),
}

impl<'a> Choices<'a> {
    /// Each value with what the schema says about it.
    fn listed(self) -> impl Iterator<Item = (&'a Value, Option<&'a str>)> {
        let (Self::Values(listed) | Self::Constants(listed)) = self;
        listed.iter().map(move |one| match self {
            Self::Values(_) => (one, None),
            Self::Constants(_) => (&one["const"], one.get("description").and_then(Value::as_str)),
        })
    }
}

/// The kind of input of a field.
#[derive(Clone, Copy)]
enum Kind<'a> {
    Text,
    Number {
        whole: bool,
    },
    Flag,
    Choice(Choices<'a>),
    Object(&'a serde_json::Map<String, Value>),
    List(&'a Value),
    /// Everything without a simpler input.
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
        let outer = schema;
        let (schema, mut nullable) = self.plain(schema);
        let kind = if depth > MAX_DEPTH { Kind::Json } else { kind(schema, &mut nullable) };
        Field { schema, outer, kind, nullable, depth }
    }

    /// The schema after references and after a choice between a schema and `null`.
    fn plain(&self, schema: &'a Value) -> (&'a Value, bool) {
        let (mut schema, mut nullable) = (schema, false);
        for _ in 0..MAX_REFERENCES {
            let target = schema.get("$ref").and_then(Value::as_str);
            let target = target.and_then(|target| target.strip_prefix('#'));
            if let Some(next) = target.and_then(|pointer| self.root.pointer(pointer)) {
                schema = next;
            } else if let Some(next) = non_null_choice(schema) {
                (schema, nullable) = (next, true);
            } else {
                break;
            }
        }
        (schema, nullable)
    }

    /// The properties of an object and whether each is required; required ones first, in the order in which the schema
    /// requires them.
    fn properties(&self, field: &Field<'a>) -> Vec<(&'a str, Field<'a>, bool)> {
        let Kind::Object(properties) = field.kind else { return Vec::new() };
        let required = field.schema.get("required").and_then(Value::as_array);
        let place = |name: &str| required?.iter().position(|one| one.as_str() == Some(name));
        let mut names: Vec<_> = properties.iter().collect();
        names.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
        let listed = names.into_iter().map(|(name, schema)| {
            (name.as_str(), self.field(schema, field.depth + 1), place(name).is_some())
        });
        listed.collect()
    }
}

/// The `X` of `anyOf: [X, null]`, which many generators write for optional fields.
fn non_null_choice(schema: &Value) -> Option<&Value> {
    let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let is_null = |choice: &&Value| choice.get("type").and_then(Value::as_str) == Some("null");
    let something: Vec<_> = choices.iter().filter(|choice| !is_null(choice)).collect();
    match something.as_slice() {
        [one] if choices.len() == 2 => Some(one),
        _ => None,
    }
}

/// The choices of `oneOf: [{const: …}, …]`, which generators write for values with descriptions.
fn constants(schema: &Value) -> Option<&[Value]> {
    let choices = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let all = !choices.is_empty() && choices.iter().all(|one| one.get("const").is_some());
    all.then_some(choices)
}

fn kind<'a>(schema: &'a Value, nullable: &mut bool) -> Kind<'a> {
    if let Some(Value::Array(values)) = schema.get("enum")
        && !values.is_empty()
    {
        return Kind::Choice(Choices::Values(values));
    }
    if let Some(constants) = constants(schema) {
        return Kind::Choice(Choices::Constants(constants));
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
            // An object without properties needs no input.
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

/// The pointer of a child.
fn below(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;
