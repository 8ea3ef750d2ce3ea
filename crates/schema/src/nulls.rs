//! `null` for a property that may be left out.

use serde_json::{Map, Value};

/// How deep a value is searched.
pub(crate) const MAX_DEPTH: usize = 16;

/// How many references are followed to find what a schema allows.
const MAX_REFERENCES: usize = 8;

/// How many schemas are read to find whether one property may be `null`: combinators that refer to themselves would take
/// exponential time.
const MAX_SCHEMAS: usize = 256;

/// The value without properties that are `null`, are not required, and whose schema does not allow `null`; none if there
/// are no such properties.
pub fn without_optional_nulls(schema: &Value, value: &Value) -> Option<Value> {
    if !has_null(value, 0) {
        return None;
    }
    let mut cleaned = value.clone();
    drop_nulls(schema, schema, &mut cleaned, 0).then_some(cleaned)
}

fn has_null(value: &Value, depth: usize) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => depth < MAX_DEPTH && map.values().any(|v| has_null(v, depth + 1)),
        Value::Array(items) => depth < MAX_DEPTH && items.iter().any(|v| has_null(v, depth + 1)),
        _ => false,
    }
}

/// Returns whether anything was removed.
fn drop_nulls(root: &Value, schema: &Value, value: &mut Value, depth: usize) -> bool {
    if depth >= MAX_DEPTH {
        return false;
    }
    let schema = follow(root, schema);
    let mut changed = false;
    match value {
        Value::Object(map) => {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                return false;
            };
            let before = map.len();
            map.retain(|name, value| {
                !value.is_null() || !is_optional(root, schema, properties, name)
            });
            changed |= map.len() < before;
            for (name, value) in map.iter_mut() {
                if let Some(property) = properties.get(name) {
                    changed |= drop_nulls(root, property, value, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    changed |= drop_nulls(root, schema, item, depth + 1);
                }
            }
        }
        _ => {}
    }
    changed
}

/// Whether a property may be left out but may not be `null`.
fn is_optional(root: &Value, schema: &Value, properties: &Map<String, Value>, name: &str) -> bool {
    let mut left = MAX_SCHEMAS;
    !is_required(schema, name)
        && properties.get(name).is_some_and(|schema| refuses_null(root, schema, &mut left))
}

pub(crate) fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known == name))
}

/// Whether a schema certainly does not allow `null`.
fn refuses_null(root: &Value, schema: &Value, left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    let schema = follow(root, schema);
    let of_type = match schema.get("type") {
        Some(Value::String(name)) => name != "null",
        Some(Value::Array(names)) => !names.iter().any(|name| name == "null"),
        _ => false,
    };
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    let mut refuses = |schema: &Value| refuses_null(root, schema, left);
    of_type
        || list("enum").is_some_and(|values| !values.iter().any(Value::is_null))
        || schema.get("const").is_some_and(|value| !value.is_null())
        || list("anyOf").is_some_and(|any| any.iter().all(&mut refuses))
        || list("oneOf").is_some_and(|one| one.iter().all(&mut refuses))
        || list("allOf").is_some_and(|all| all.iter().any(&mut refuses))
}

/// The schema that a local reference names, or the schema itself.
pub(crate) fn follow<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..MAX_REFERENCES {
        let target = schema.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|target| target.strip_prefix('#'));
        match target.and_then(|pointer| root.pointer(pointer)) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

#[cfg(test)]
mod tests;
