use std::sync::Arc;

use schema::yaml::{Content, Limits, Node, nearest};
use schema::{Schema, SchemaFault};
use serde_json::{Map, Value};

use super::fault::Fault;
use super::prompt::Argument;
use super::render::MAX_RENDERED_BYTES;

const KEYS: [&str; 4] = ["title", "description", "inputSchema", "constraints"];
/// How a spec file is read.
pub(super) const LIMITS: Limits =
    Limits { max_bytes: 64 * 1024, merge_keys: false, custom_tags: false };

const CONSTRAINTS: [&str; 2] = ["maxRenderedChars", "maxArgumentChars"];

/// How many local references in a row are followed to find an argument's type.
const MAX_REFERENCES: usize = 8;

/// A spec file, checked.
pub(super) struct Spec {
    pub(super) title: Option<String>,
    pub(super) description: String,
    pub(super) json: Value,
    pub(super) input: Arc<Schema>,
    pub(super) arguments: Vec<Argument>,
    pub(super) constraints: Constraints,
    pub(super) open: bool,
    pub(super) hidden_characters: usize,
    /// The line of each argument.
    pub(super) argument_lines: Vec<usize>,
}

/// The constraints of a spec beyond its schema.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Constraints {
    pub(super) max_rendered_chars: Option<usize>,
    pub(super) max_argument_chars: Option<usize>,
}

impl Spec {
    /// Reads a spec, or lists all problems.
    pub(super) fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let document = Node::parse(text, LIMITS).map_err(|error| vec![error.into()])?;
        let document = document.unwrap_or(Node { line: 1, content: Content::Null });
        let mut json = document.json();
        let hidden_characters = proto::clean::json_in_place(&mut json);
        let Value::Object(spec) = &json else {
            return Err(vec![Fault::new(Some(1), "a spec is a mapping with a `description`")]);
        };
        let mut check = Check { document: &document, faults: Vec::new() };
        check.known(spec, "", &KEYS);
        let title = check.text(spec, "title");
        let description = check.text(spec, "description").unwrap_or_else(|| {
            if !spec.contains_key("description") {
                check.fault("", "`description` is missing".to_owned());
            }
            String::new()
        });
        let constraints = check.constraints(spec);
        let empty = Value::Object(Map::from_iter([("type".to_owned(), "object".into())]));
        let schema = spec.get("inputSchema").unwrap_or(&empty);
        let input = check.schema(schema);
        let arguments = check.arguments(schema);
        let argument_lines = arguments
            .iter()
            .map(|argument| {
                let step = argument.name.replace('~', "~0").replace('/', "~1");
                document.line_at(&format!("/inputSchema/properties/{step}"))
            })
            .collect();
        let open = is_open(schema);
        match input {
            Some(input) if check.faults.is_empty() => Ok(Self {
                title,
                description,
                input: Arc::new(input),
                arguments,
                constraints,
                open,
                hidden_characters,
                argument_lines,
                json,
            }),
            _ => Err(check.faults),
        }
    }
}

struct Check<'a> {
    document: &'a Node,
    faults: Vec<Fault>,
}

impl Check<'_> {
    fn fault(&mut self, pointer: &str, message: String) {
        self.faults.push(Fault::new(Some(self.document.line_at(pointer)), message));
    }

    fn known(&mut self, map: &Map<String, Value>, place: &str, keys: &[&str]) {
        for key in map.keys().filter(|key| !keys.contains(&key.as_str())) {
            let shown: String = key.chars().take(100).collect();
            let hint = match nearest(&shown, keys.iter().copied()) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("known are {}", keys.join(", ")),
            };
            self.fault(&format!("{place}/{key}"), format!("unknown key `{shown}`; {hint}"));
        }
    }

    fn text(&mut self, spec: &Map<String, Value>, key: &str) -> Option<String> {
        match spec.get(key)? {
            Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => {
                self.fault(&format!("/{key}"), format!("`{key}` is a text that is not empty"));
                None
            }
        }
    }

    fn constraints(&mut self, spec: &Map<String, Value>) -> Constraints {
        match spec.get("constraints") {
            None => Constraints::default(),
            Some(Value::Object(constraints)) => {
                self.known(constraints, "/constraints", &CONSTRAINTS);
                Constraints {
                    max_rendered_chars: self.limit(constraints, "maxRenderedChars"),
                    max_argument_chars: self.limit(constraints, "maxArgumentChars"),
                }
            }
            Some(_) => {
                self.fault("/constraints", "`constraints` is a mapping".to_owned());
                Constraints::default()
            }
        }
    }

    fn limit(&mut self, constraints: &Map<String, Value>, key: &str) -> Option<usize> {
        let limit = constraints.get(key)?.as_u64().and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.filter(|limit| (1..=MAX_RENDERED_BYTES).contains(limit));
        if limit.is_none() {
            let place = format!("/constraints/{key}");
            self.fault(&place, format!("`{key}` is a number from 1 to {MAX_RENDERED_BYTES}"));
        }
        limit
    }

    fn schema(&mut self, schema: &Value) -> Option<Schema> {
        let Value::Object(map) = schema else {
            self.fault("/inputSchema", "`inputSchema` is the JSON Schema of an object".to_owned());
            return None;
        };
        if map.get("type").is_some_and(|kind| kind != "object") {
            let message = "the arguments of a prompt are an object: `type: object`".to_owned();
            self.fault("/inputSchema/type", message);
        }
        let mut compiled = map.clone();
        // Unknown arguments are reported separately, with a hint.
        if !is_open(schema) {
            compiled.remove("additionalProperties");
        }
        match Schema::compile(&Value::Object(compiled)) {
            Ok(schema) => Some(schema),
            Err(SchemaFault::Invalid { path, message }) => {
                self.fault(&format!("/inputSchema{path}"), message);
                None
            }
        }
    }

    fn arguments(&mut self, schema: &Value) -> Vec<Argument> {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        for (index, name) in required.iter().enumerate() {
            if !properties.contains_key(*name) {
                let shown: String = name.chars().take(100).collect();
                let message = format!("`{shown}` is required, but `properties` does not name it");
                self.fault(&format!("/inputSchema/required/{index}"), message);
            }
        }
        let mut arguments: Vec<_> = properties
            .iter()
            .map(|(name, property)| {
                let followed = follow(schema, property);
                Argument {
                    name: name.clone(),
                    description: [property, followed]
                        .iter()
                        .find_map(|schema| schema.get("description")?.as_str())
                        .map(str::to_owned),
                    required: required.contains(&name.as_str()),
                    completions: completions(followed),
                    schema: followed.clone(),
                }
            })
            .collect();
        arguments.sort_by_key(|argument| {
            let place = required.iter().position(|name| *name == argument.name);
            (place.unwrap_or(usize::MAX), argument.name.clone())
        });
        arguments
    }
}

/// Whether the schema has rules for arguments that `properties` does not name.
fn is_open(schema: &Value) -> bool {
    schema.get("additionalProperties").is_some_and(|rule| *rule != Value::Bool(false))
        || schema.get("patternProperties").is_some()
        || schema.get("unevaluatedProperties").is_some()
}

fn follow<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..MAX_REFERENCES {
        let target = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| reference.strip_prefix('#'))
            .and_then(|pointer| root.pointer(pointer));
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

fn completions(schema: &Value) -> Vec<String> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().filter_map(shown).collect();
    }
    if let Some(value) = schema.get("const") {
        return shown(value).into_iter().collect();
    }
    if schema.get("type").is_some_and(|kind| kind == "boolean") {
        return vec!["true".to_owned(), "false".to_owned()];
    }
    Vec::new()
}

/// A value as a person would type it.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}
