//! Converts the document's schemas to JSON Schema. Referenced schemas go to `$defs`, so that even a recursive schema
//! stays as small as it was written.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::document::{Document, Fault, below};

/// How deep a schema may be nested.
const MAX_DEPTH: usize = 64;

/// How large one tool's schema may become, in nodes.
const MAX_NODES: usize = 20_000;

/// Keys whose value is a schema, a map of them, or a list of them.
const ONE: [&str; 12] = [
    "items",
    "additionalProperties",
    "additionalItems",
    "not",
    "contains",
    "propertyNames",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contentSchema",
];
const MAPS: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keys that are useless to a caller, or mean something else here.
const DROPPED: [&str; 13] = [
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$defs",
    "definitions",
    "example",
    "xml",
    "externalDocs",
    "discriminator",
    "nullable",
    "$comment",
];

/// The direction of the data: some properties are only sent, others only received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Request,
    Response,
}

/// Builds one tool's schema.
pub(crate) struct Bundle<'a> {
    document: &'a Document,
    direction: Direction,
    /// Names under `$defs`, by the schema's position in the document.
    names: HashMap<String, String>,
    open: Vec<(String, String)>,
    nodes: usize,
    /// How many nodes all tools of the document may still use.
    left: &'a mut usize,
}

impl<'a> Bundle<'a> {
    pub(crate) fn new(document: &'a Document, direction: Direction, left: &'a mut usize) -> Self {
        Self { document, direction, names: HashMap::new(), open: Vec::new(), nodes: 0, left }
    }

    /// Adds the referenced schemas.
    pub(crate) fn close(mut self, mut schema: Map<String, Value>) -> Result<Value, Fault> {
        let mut defs = Map::new();
        while let Some((reference, name)) = self.open.pop() {
            let target = self.document.target(&reference, &reference)?;
            let converted = self.convert(target, &reference, 0)?;
            defs.insert(name, converted);
        }
        if !defs.is_empty() {
            schema.insert("$defs".to_owned(), Value::Object(defs));
        }
        Ok(Value::Object(schema))
    }

    /// One schema in JSON Schema 2020-12.
    pub(crate) fn convert(
        &mut self,
        schema: &Value,
        at: &str,
        depth: usize,
    ) -> Result<Value, Fault> {
        self.nodes += 1;
        if depth > MAX_DEPTH {
            return Err(Fault::new(at, "its schema is nested too deeply"));
        }
        if self.nodes > MAX_NODES || *self.left == 0 {
            return Err(Fault::new(at, "its schemas are too large"));
        }
        *self.left -= 1;
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(_) => return Ok(schema.clone()),
            _ => return Err(Fault::new(at, "a schema is an object")),
        };
        if let Some(reference) = map.get("$ref") {
            return self.reference(reference, map, at);
        }
        let mut out = Map::new();
        for (key, value) in map {
            let position = below(at, key);
            let key_ = key.as_str();
            if DROPPED.contains(&key_) || key.starts_with("x-") {
                continue;
            }
            let converted = match value {
                value if ONE.contains(&key_) && (value.is_object() || value.is_boolean()) => {
                    self.convert(value, &position, depth + 1)?
                }
                Value::Object(map) if MAPS.contains(&key_) => {
                    let mut all = Map::new();
                    for (name, one) in map {
                        if self.hidden(one) {
                            continue;
                        }
                        let one = self.convert(one, &below(&position, name), depth + 1)?;
                        all.insert(name.clone(), one);
                    }
                    Value::Object(all)
                }
                Value::Array(list) if LISTS.contains(&key_) => {
                    let mut all = Vec::new();
                    for (index, one) in list.iter().enumerate() {
                        all.push(self.convert(
                            one,
                            &below(&position, &index.to_string()),
                            depth + 1,
                        )?);
                    }
                    Value::Array(all)
                }
                value => value.clone(),
            };
            out.insert(key.clone(), converted);
        }
        self.forget_hidden(map, &mut out);
        if self.document.old_schemas {
            modernise(map, &mut out);
        }
        Ok(Value::Object(out))
    }

    fn reference(
        &mut self,
        reference: &Value,
        map: &Map<String, Value>,
        at: &str,
    ) -> Result<Value, Fault> {
        let reference = reference.as_str().ok_or_else(|| Fault::new(at, "`$ref` is not a text"))?;
        self.document.target(reference, at)?;
        let name = match self.names.get(reference) {
            Some(name) => name.clone(),
            None => {
                let name = self.name_for(reference);
                self.names.insert(reference.to_owned(), name.clone());
                self.open.push((reference.to_owned(), name.clone()));
                name
            }
        };
        let mut out = Map::new();
        out.insert("$ref".to_owned(), json!(format!("#/$defs/{name}")));
        if let Some(said @ Value::String(_)) = map.get("description") {
            out.insert("description".to_owned(), said.clone());
        }
        Ok(Value::Object(out))
    }

    fn name_for(&self, reference: &str) -> String {
        let last = reference.rsplit('/').next().unwrap_or_default();
        let clean: String =
            last.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
        let taken = |name: &String| self.names.values().any(|known| known == name);
        if clean.is_empty() || taken(&clean) {
            return format!("{clean}_{}", self.names.len());
        }
        clean
    }

    /// Whether a property is absent in this direction.
    fn hidden(&self, property: &Value) -> bool {
        let key = if self.direction == Direction::Request { "readOnly" } else { "writeOnly" };
        let property = self.document.follow(property, "").unwrap_or(property);
        property[key] == true
    }

    fn forget_hidden(&self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        let Some(Value::Array(required)) = out.get_mut("required") else { return };
        let Some(properties) = map.get("properties") else { return };
        required.retain(|name| {
            let property = name.as_str().and_then(|name| properties.get(name));
            property.is_none_or(|property| !self.hidden(property))
        });
    }
}

/// Translates keywords of OpenAPI 3.0.
fn modernise(map: &Map<String, Value>, out: &mut Map<String, Value>) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        match map.get(exclusive) {
            Some(Value::Bool(true)) => {
                let limit = out.remove(bound);
                match limit {
                    Some(limit) => out.insert(exclusive.to_owned(), limit),
                    None => out.remove(exclusive),
                };
            }
            Some(Value::Bool(false)) => {
                out.remove(exclusive);
            }
            _ => {}
        }
    }
    if map.get("nullable") != Some(&Value::Bool(true)) {
        return;
    }
    if let Some(Value::Array(choices)) = out.get_mut("enum")
        && !choices.contains(&Value::Null)
    {
        choices.push(Value::Null);
    }
    match out.get("type").cloned() {
        Some(one @ Value::String(_)) => {
            out.insert("type".to_owned(), json!([one, "null"]));
        }
        Some(_) => {}
        None if LISTS.iter().any(|key| out.contains_key(*key)) => {
            let inner = std::mem::take(out);
            out.insert("anyOf".to_owned(), json!([inner, {"type": "null"}]));
        }
        None => {}
    }
}
