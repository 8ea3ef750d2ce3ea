//! `""` for a property that may be left out.

use serde_json::{Map, Value};

use crate::nulls::{MAX_DEPTH, follow, is_required};

/// The value without properties that are an empty text, are not required, and whose schema says that they are texts; none if
/// there are no such properties. Properties of these names are left as they are.
pub fn without_empty_texts(schema: &Value, value: &Value, except: &[&str]) -> Option<Value> {
    if !has_empty(value, 0) {
        return None;
    }
    let mut cleaned = value.clone();
    drop_empty(schema, schema, &mut cleaned, except, 0).then_some(cleaned)
}

fn has_empty(value: &Value, depth: usize) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Object(map) => depth < MAX_DEPTH && map.values().any(|v| has_empty(v, depth + 1)),
        Value::Array(items) => depth < MAX_DEPTH && items.iter().any(|v| has_empty(v, depth + 1)),
        _ => false,
    }
}

/// Returns whether anything was removed.
fn drop_empty(
    root: &Value,
    schema: &Value,
    value: &mut Value,
    except: &[&str],
    depth: usize,
) -> bool {
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
                *value != ""
                    || except.contains(&name.as_str())
                    || !is_optional_text(root, schema, properties, name)
            });
            changed |= map.len() < before;
            for (name, value) in map.iter_mut() {
                if let Some(property) = properties.get(name) {
                    changed |= drop_empty(root, property, value, except, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    changed |= drop_empty(root, schema, item, except, depth + 1);
                }
            }
        }
        _ => {}
    }
    changed
}

/// Whether a property may be left out, and is a text where it is given. An enum that names the empty text gives it a meaning.
fn is_optional_text(
    root: &Value,
    schema: &Value,
    properties: &Map<String, Value>,
    name: &str,
) -> bool {
    let Some(property) = properties.get(name).filter(|_| !is_required(schema, name)) else {
        return false;
    };
    let property = follow(root, property);
    let listed = property.get("enum").and_then(Value::as_array);
    let takes_text = match property.get("type") {
        Some(Value::String(name)) => name == "string",
        Some(Value::Array(names)) => names.iter().any(|name| name == "string"),
        _ => listed.is_some_and(|values| values.iter().any(Value::is_string)),
    };
    takes_text && !listed.is_some_and(|values| values.iter().any(|value| value == ""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_optional_texts_are_dropped_where_they_are_empty() {
        let schema = json!({
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "note": {"type": "string", "minLength": 1},
                "kept": {"type": "string"},
                "kind": {"enum": ["a", "b"]},
                "mode": {"enum": ["", "fast"]},
                "list": {"type": ["array", "string"]},
                "any": true,
                "more": {"type": "array", "items": {"$ref": "#/$defs/more"}},
            },
            "required": ["id"],
            "$defs": {"more": {"type": "object", "properties": {"why": {"type": "string"}}}},
        });
        let drop = |value: Value| without_empty_texts(&schema, &value, &["kept"]);
        let all = json!({
            "id": "", "note": "", "kept": "", "kind": "", "mode": "", "list": "", "any": "",
            "more": [{"why": "", "other": ""}, {"why": "so"}], "unknown": "",
        });
        let left = json!({
            "id": "", "kept": "", "mode": "", "any": "",
            "more": [{"other": ""}, {"why": "so"}], "unknown": "",
        });
        assert_eq!(drop(all), Some(left));
        assert_eq!(drop(json!({"id": "", "note": " ", "kept": ""})), None);
        assert_eq!(drop(json!("")), None);
    }
}
