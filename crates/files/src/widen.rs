//! The output schema that callers see: instead of a long text or bytes they may get a reference.

use serde_json::{Value, json};

use super::blobs::BINARY_BYTES;

/// Keywords whose values are not schemas.
const VALUES: [&str; 5] = ["enum", "const", "default", "examples", "required"];

/// Allows a reference wherever a text may be too long for an answer.
pub fn allow_references(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            let short = keywords.contains_key("enum")
                || keywords.contains_key("const")
                || keywords
                    .get("maxLength")
                    .and_then(Value::as_u64)
                    .is_some_and(|most| most <= BINARY_BYTES as u64);
            if !short && keywords.get("type") == Some(&json!("string")) {
                keywords.insert("type".to_owned(), json!(["string", "object"]));
            }
            for (keyword, value) in keywords.iter_mut() {
                if !VALUES.contains(&keyword.as_str()) {
                    allow_references(value);
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(allow_references),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use schema::Schema;

    #[test]
    fn a_reference_may_replace_a_text() {
        let own = json!({"type": "object", "required": ["pdf", "kind"], "additionalProperties": false, "properties": {
            "pdf": {"type": "string", "contentEncoding": "base64"},
            "kind": {"type": "string", "enum": ["a"]},
            "code": {"type": "string", "maxLength": 10},
            "pages": {"type": "array", "items": {"$ref": "#/$defs/page"}},
            "type": {"type": "string"}},
            "$defs": {"page": {"type": "object", "properties": {"text": {"type": "string"}}}}});
        let mut shown = own.clone();
        allow_references(&mut shown);
        let schema = Schema::compile(&shown).unwrap();
        let reference =
            json!({"ref_id": "ref_1", "media_type": "application/pdf", "size": 5, "sha256": "x"});
        let answer =
            json!({"pdf": reference, "kind": "a", "type": "t", "pages": [{"text": reference}]});
        assert_eq!(schema.violations(&answer), []);
        for wrong in [
            json!({"pdf": 5, "kind": "a"}),
            json!({"pdf": "x", "kind": reference}),
            json!({"pdf": "x", "kind": "a", "code": reference}),
        ] {
            assert!(!schema.violations(&wrong).is_empty(), "{wrong}");
        }
    }
}
