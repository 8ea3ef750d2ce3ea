use serde_json::{Value, json};

use super::without_optional_nulls;

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": ["string", "null"]},
            "limit": {"type": "integer"},
            "kind": {"enum": ["a", "b"]},
            "since": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "any": {},
            "filter": {"$ref": "#/$defs/filter"},
            "rows": {"type": "array", "items": {"$ref": "#/$defs/filter"}},
        },
        "$defs": {"filter": {
            "type": "object",
            "required": ["field"],
            "properties": {"field": {"type": "string"}, "value": {"type": "string"}},
        }},
    })
}

#[test]
fn optional_nulls_are_left_out() {
    let sent = json!({"id": "x", "limit": null, "kind": null, "filter": {"field": "f", "value": null},
        "rows": [{"field": "f", "value": null}]});
    let left = json!({"id": "x", "filter": {"field": "f"}, "rows": [{"field": "f"}]});
    assert_eq!(without_optional_nulls(&schema(), &sent), Some(left));
    let whole = json!({"id": "x", "filter": null, "rows": null});
    assert_eq!(without_optional_nulls(&schema(), &whole), Some(json!({"id": "x"})));
}

#[test]
fn required_and_allowed_nulls_stay() {
    for sent in [
        json!({"id": null}),
        json!({"id": "x", "since": null, "any": null}),
        json!({"id": "x", "filter": {"field": null}}),
        json!({"id": "x", "unknown": null}),
        json!({"id": "x", "limit": 1}),
        json!(null),
    ] {
        assert_eq!(without_optional_nulls(&schema(), &sent), None, "{sent}");
    }
}

#[test]
fn circular_references_end() {
    let schema = json!({
        "properties": {"next": {"$ref": "#/properties/next"}, "self": {"$ref": "#"}},
    });
    let sent = json!({"next": null, "self": {"self": {"next": null}}});
    assert_eq!(without_optional_nulls(&schema, &sent), None);
}

#[test]
fn combinators_that_refer_to_themselves_end() {
    let itself = json!([{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}]);
    let schema = json!({
        "properties": {"x": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"allOf": itself, "anyOf": itself, "oneOf": itself}},
    });
    assert_eq!(without_optional_nulls(&schema, &json!({"x": null})), None);
}
