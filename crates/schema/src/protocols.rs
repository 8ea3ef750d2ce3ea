//! Schemas as protocols need them: MCP takes objects at the root, OpenAPI takes components.

use serde_json::{Map, Value, json};

/// Keywords whose value is a map of names to schemas.
const NAMED: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords whose value is data, in which `$ref` has no meaning.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

/// Moves a schema to `root` (such as `#/properties/result`) of another document, so that local references still point
/// into the schema.
pub fn rebased(schema: &Value, root: &str) -> Value {
    match schema {
        // A schema with an `$id` is a document of its own.
        Value::Object(map) if map.contains_key("$id") => schema.clone(),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| (key.clone(), rebased_keyword(key, value, root)))
                .collect(),
        ),
        Value::Array(items) => items.iter().map(|item| rebased(item, root)).collect(),
        scalar => scalar.clone(),
    }
}

fn rebased_keyword(key: &str, value: &Value, root: &str) -> Value {
    match value {
        Value::String(target) if matches!(key, "$ref" | "$dynamicRef") => {
            match target.strip_prefix('#') {
                Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => {
                    Value::String(format!("{root}{pointer}"))
                }
                _ => value.clone(),
            }
        }
        Value::Object(named) if NAMED.contains(&key) => Value::Object(
            named.iter().map(|(name, schema)| (name.clone(), rebased(schema, root))).collect(),
        ),
        _ if DATA.contains(&key) => value.clone(),
        _ => rebased(value, root),
    }
}

/// Whether a property must also be sent in a header of MCP's HTTP transport.
pub fn marks_headers(schema: &Map<String, Value>) -> bool {
    schema.iter().any(|(key, value)| {
        key == "x-mcp-header"
            || match value {
                Value::Object(map) => marks_headers(map),
                Value::Array(items) => {
                    items.iter().any(|item| item.as_object().is_some_and(marks_headers))
                }
                _ => false,
            }
    })
}

/// The input schema with an object at its root, as MCP requires.
pub fn object_input(schema: &Value) -> Map<String, Value> {
    // The catalog admits no tool whose input is never an object; `true` takes anything.
    let mut map = schema.as_object().cloned().unwrap_or_default();
    map.insert("type".to_owned(), Value::String("object".to_owned()));
    without_booleans(map)
}

/// Replaces the boolean schemas of properties by objects, because widely used clients refuse a whole list for one of them.
pub fn without_booleans(mut schema: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            match property {
                Value::Bool(true) => *property = json!({}),
                Value::Bool(false) => *property = json!({"not": {}}),
                _ => {}
            }
        }
    }
    schema
}

/// Whether data is sent as `{result: …}` to clients that accept only objects. A declared schema decides this alone, so
/// that the listed schema and the data agree.
pub fn wraps_result(output_schema: Option<&Value>, data: &Value) -> bool {
    match output_schema {
        Some(Value::Object(schema)) => !is_object_schema(schema),
        _ => !data.is_object(),
    }
}

/// The output schema for clients that accept only objects.
pub fn object_output(schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    if is_object_schema(schema) {
        return None;
    }
    let inner = rebased(&Value::Object(schema.clone()), "#/properties/result");
    match json!({"type": "object", "properties": {"result": inner}, "required": ["result"]}) {
        Value::Object(wrapped) => Some(wrapped),
        _ => None,
    }
}

fn is_object_schema(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_references_move_with_their_schema() {
        let schema = json!({
            "$defs": {"default": {"$ref": "#/$defs/leaf"}, "leaf": {"type": "string"}},
            "type": "array",
            "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/$defs/leaf"}, {"$ref": "#name"}]},
            "default": {"$ref": "#/untouched"},
        });
        assert_eq!(
            rebased(&schema, "#/properties/result"),
            json!({
                "$defs": {"default": {"$ref": "#/properties/result/$defs/leaf"}, "leaf": {"type": "string"}},
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/properties/result"}, {"$ref": "#/properties/result/$defs/leaf"}, {"$ref": "#name"}]},
                "default": {"$ref": "#/untouched"},
            })
        );
    }

    #[test]
    fn inputs_are_objects_or_nothing() {
        for (schema, listed) in [
            (
                json!({"properties": {"a": true, "b": false, "c": {"not": true}}}),
                json!({"type": "object", "properties": {"a": {}, "b": {"not": {}}, "c": {"not": true}}}),
            ),
            (json!(true), json!({"type": "object"})),
            (json!({"type": ["null", "object"]}), json!({"type": "object"})),
        ] {
            assert_eq!(Value::Object(object_input(&schema)), listed);
        }
    }

    #[test]
    fn wrapping_follows_the_declared_schema_not_the_data() {
        let list = json!({"type": ["object", "null"]});
        assert!(wraps_result(Some(&list), &json!({})));
        assert!(!wraps_result(Some(&json!({"type": "object"})), &json!({})));
        assert!(wraps_result(None, &json!([1])));
        assert!(!wraps_result(None, &json!({})));
    }
}
