//! The output schema that callers see: instead of a long text or bytes they may get a reference.

use serde_json::{Map, Value, json};

use super::blobs::BINARY_BYTES;

/// Keywords whose value is a schema for a part of an answer. `not` and `if` are left out: they would mean something else.
const SCHEMAS: [&str; 8] = [
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "then",
    "else",
];

/// Keywords whose value is a list of schemas.
const LISTS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];

/// Keywords whose value has schemas by name.
const MAPS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Formats of texts that are never long.
const SHORT_FORMATS: [&str; 9] =
    ["date", "date-time", "time", "duration", "uuid", "ipv4", "ipv6", "hostname", "email"];

/// A deeper schema is left as it is.
const MAX_DEPTH: usize = 64;

/// Allows a reference wherever a text may be too long for an answer: there, either the tool's own schema or the schema
/// of a reference holds.
pub fn allow_references(schema: &mut Value) {
    allow_in(schema, MAX_DEPTH);
}

fn allow_in(schema: &mut Value, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let Value::Object(keywords) = schema else { return };
    for (keyword, value) in keywords.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Object(_) if SCHEMAS.contains(&keyword) => allow_in(value, depth),
            Value::Object(named) if MAPS.contains(&keyword) => {
                named.values_mut().for_each(|schema| allow_in(schema, depth));
            }
            Value::Array(schemas) if LISTS.contains(&keyword) => {
                schemas.iter_mut().for_each(|schema| allow_in(schema, depth));
            }
            _ => {}
        }
    }
    if may_be_long(keywords) {
        let own = std::mem::take(schema);
        *schema = json!({"anyOf": [own, reference()]});
    }
}

/// Whether a schema requires a text that has no short limit.
fn may_be_long(keywords: &Map<String, Value>) -> bool {
    let is_text = match keywords.get("type") {
        Some(Value::String(one)) => one == "string",
        // Where an object is allowed, a reference is.
        Some(Value::Array(types)) => {
            types.iter().any(|one| one == "string") && !types.iter().any(|one| one == "object")
        }
        _ => false,
    };
    let has = |keyword: &str| keywords.contains_key(keyword);
    let longest = keywords.get("maxLength").and_then(Value::as_u64);
    let format = keywords.get("format").and_then(Value::as_str);
    is_text
        && !has("enum")
        && !has("const")
        && longest.is_none_or(|longest| longest > BINARY_BYTES as u64)
        && format.is_none_or(|format| !SHORT_FORMATS.contains(&format))
}

/// The schema of a reference.
fn reference() -> Value {
    json!({"type": "object", "properties": {"ref_id": {"type": "string"}}, "required": ["ref_id"]})
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Schema;

    #[test]
    fn a_reference_may_replace_a_text() {
        let own = json!({"type": "object", "required": ["pdf", "kind"], "additionalProperties": false, "properties": {
            "pdf": {"type": "string", "contentEncoding": "base64"},
            "kind": {"type": "string", "enum": ["a"]},
            "code": {"type": "string", "maxLength": 10},
            "pages": {"type": "array", "items": {"$ref": "#/$defs/page"}},
            "note": {"type": ["string", "null"]},
            "default": {"type": "string"},
            "type": {"type": "string"}},
            "$defs": {"page": {"type": "object", "properties": {"text": {"type": "string"}}}}});
        let mut shown = own.clone();
        allow_references(&mut shown);
        let schema = Schema::compile(&shown).unwrap();
        let reference =
            json!({"ref_id": "ref_1", "media_type": "application/pdf", "size": 5, "sha256": "x"});
        let answer = json!({"pdf": reference, "kind": "a", "type": "t", "note": reference,
            "default": reference, "pages": [{"text": reference}]});
        assert_eq!(schema.violations(&answer), []);
        for wrong in [
            json!({"pdf": 5, "kind": "a"}),
            json!({"pdf": {"other": 1}, "kind": "a"}),
            json!({"pdf": "x", "kind": reference}),
            json!({"pdf": "x", "kind": "a", "code": reference}),
        ] {
            assert!(!schema.violations(&wrong).is_empty(), "{wrong}");
        }
    }

    #[test]
    fn a_schema_changes_only_where_a_reference_can_be() {
        let own = json!({"type": "object", "title": "T", "default": {"type": "string"}, "properties": {
            "at": {"type": "string", "format": "date-time"},
            "count": {"type": "integer"},
            "kind": {"type": "string", "const": "a"}},
            "not": {"properties": {"no": {"type": "string"}}},
            "if": {"properties": {"kind": {"type": "string"}}}});
        let mut shown = own.clone();
        allow_references(&mut shown);
        assert_eq!(shown, own);
        let text = json!({"type": "string", "description": "All of it."});
        let mut shown = json!({"type": "object", "properties": {"text": text}});
        allow_references(&mut shown);
        assert_eq!(shown["type"], "object", "the answer itself stays an object");
        let both = &shown["properties"]["text"]["anyOf"];
        assert_eq!((&both[0], &both[1]["required"]), (&text, &json!(["ref_id"])), "{shown}");
    }
}
