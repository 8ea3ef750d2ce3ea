use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Api, Breach, brief, gemini, openai, openai_strict, portable};
use crate::{MAX_SCHEMA_BYTES, Schema};

fn object(property: Value) -> Value {
    json!({"type": "object", "properties": {"a": property}})
}

fn paths(breaches: &[Breach]) -> Vec<&str> {
    breaches.iter().map(|breach| breach.path.as_str()).collect()
}

/// The rewritten form of a property that need not be given.
fn rewritten(property: Value) -> Value {
    portable(&object(property))["properties"]["a"].clone()
}

fn assert_accepted(schema: &Value) {
    for api in Api::ALL {
        let breaches = api.breaches(schema);
        assert!(breaches.is_empty(), "{}: {breaches:?} of {schema}", api.name());
    }
}

#[test]
fn gemini_refuses_what_its_schemas_cannot_say() {
    let cases = [
        (json!({"type": ["array", "string"], "items": {"type": "string"}}), "/properties/a/type"),
        (json!({"type": "array"}), "/properties/a"),
        (json!({"type": "array", "items": {}}), "/properties/a/items"),
        (json!({"enum": ["x"]}), "/properties/a"),
        (json!({"type": "integer", "enum": [1]}), "/properties/a/enum"),
        (json!({"type": "string", "enum": ["", "x"]}), "/properties/a/enum"),
        (json!({"type": "string", "format": "uri"}), "/properties/a/format"),
        (json!({"type": "string", "const": "x"}), "/properties/a/const"),
        (json!({"type": "null"}), "/properties/a/type"),
        (json!({"type": "object", "required": ["b"]}), "/properties/a/required"),
        (json!({"type": "string", "properties": {}}), "/properties/a/properties"),
        (json!({"anyOf": [{"type": "string"}], "description": "x"}), "/properties/a"),
        (json!({"oneOf": [{"type": "string"}], "type": "string"}), "/properties/a/oneOf"),
        (json!(true), "/properties/a"),
    ];
    for (property, path) in cases {
        let breaches = gemini(&object(property.clone()));
        assert!(paths(&breaches).contains(&path), "{property}: {breaches:?}");
        assert!(breaches.iter().all(|breach| !breach.repaired_by_clients), "{breaches:?}");
    }
    assert_eq!(paths(&gemini(&json!({}))), ["", ""]);
    let common = json!({"$schema": "x", "type": "object", "additionalProperties": false});
    let breaches = gemini(&common);
    assert_eq!(paths(&breaches), ["/$schema", "/additionalProperties"]);
    let reference = gemini(&object(json!({"$ref": "#/$defs/x"})));
    assert!(paths(&reference).contains(&"/properties/a/$ref"), "{reference:?}");
    assert!(reference.iter().all(|breach| breach.repaired_by_clients), "{reference:?}");
    assert!(breaches.iter().all(|breach| breach.repaired_by_clients));
}

#[test]
fn openai_refuses_bare_arrays_and_unions_at_the_root() {
    for (schema, path) in [
        (object(json!({"type": "array"})), "/properties/a"),
        (object(json!({"type": ["array", "null"]})), "/properties/a"),
        (object(json!({"anyOf": [{"type": "array"}]})), "/properties/a/anyOf/0"),
        (object(json!({"type": "text"})), "/properties/a/type"),
        (object(json!({"enum": []})), "/properties/a/enum"),
        (json!({"type": "object"}), ""),
        (json!({"type": "object", "properties": {}, "anyOf": [{"type": "object"}]}), "/anyOf"),
    ] {
        assert_eq!(paths(&openai(&schema)), [path], "{schema}");
    }
    let lenient = json!({"type": ["string", "null"], "const": "x", "format": "uri"});
    assert_eq!(openai(&object(lenient)), []);
}

#[test]
fn the_strict_conversion_fails_at_open_objects_and_references_it_cannot_merge() {
    for (schema, path) in [
        (
            object(json!({"type": "object", "additionalProperties": true})),
            "/properties/a/additionalProperties",
        ),
        (
            object(json!({"type": "object", "additionalProperties": {}})),
            "/properties/a/additionalProperties",
        ),
        (object(json!(true)), "/properties/a"),
        (object(json!({"$ref": "#/x", "minLength": 1})), "/properties/a/$ref"),
        (object(json!({"$ref": "#/x", "title": "a"})), "/properties/a/$ref"),
        (object(json!({"$ref": "#", "title": "a"})), "/properties/a/$ref"),
        (object(json!({"$ref": "#/properties/a", "title": "a"})), "/properties/a/$ref"),
        (object(json!({"type": "string", "allOf": [{"type": "number"}]})), "/properties/a/allOf"),
        (json!({"type": "object", "oneOf": [{"type": "object"}]}), "/oneOf"),
        (json!({"type": ["object", "null"]}), "/type"),
    ] {
        assert_eq!(paths(&openai_strict(&schema)), [path], "{schema}");
    }
    let closed = json!({"type": "object", "additionalProperties": false, "properties": {"b": {}}});
    assert_eq!(openai_strict(&object(closed)), []);
    assert_eq!(openai_strict(&object(json!({"type": "object"}))), []);
}

#[test]
fn keywords_that_an_api_refuses_are_rewritten() {
    let any = rewritten(json!({}));
    assert_eq!(any["anyOf"].as_array().unwrap().len(), 5);
    for (original, expected) in [
        (json!({"type": ["string", "null"]}), json!({"type": "string"})),
        (
            json!({"type": ["array", "string"], "description": "A list or an expression."}),
            json!({"anyOf": [
                {"type": "array", "items": rewritten(json!({"type": "array"}))["items"],
                 "description": "A list or an expression."},
                {"type": "string"},
            ]}),
        ),
        (json!({"const": "x"}), json!({"type": "string", "enum": ["x"]})),
        (json!({"enum": ["x", "y"]}), json!({"type": "string", "enum": ["x", "y"]})),
        (json!({"enum": [1, 2]}), json!({"type": "integer", "description": "one of: [1,2]"})),
        (
            json!({"oneOf": [{"const": "x", "description": "First."}, {"const": "y"}]}),
            json!({"type": "string", "enum": ["x", "y"], "description": "x: First."}),
        ),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null, "title": "A"}),
            json!({"type": "integer", "title": "A"}),
        ),
        (
            json!({"type": "string", "format": "uri", "description": "Where."}),
            json!({"type": "string", "description": "Where. (format: uri)"}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "description": "values of other keys: {\"type\":\"string\"}"}),
        ),
        (
            json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1.5}),
            json!({"type": "number", "maximum": 1.5, "description": "greater than 0"}),
        ),
        (
            json!({"allOf": [{"properties": {"b": {"type": "string"}}, "required": ["b"]},
                             {"properties": {"c": false}, "required": ["d"]}]}),
            json!({"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}),
        ),
    ] {
        assert_eq!(rewritten(original.clone()), expected, "{original}");
    }
    let needed = json!({"type": "object", "required": ["a"],
        "properties": {"a": {"type": ["string", "null"]}}});
    assert_eq!(portable(&needed)["properties"]["a"], json!({"type": "string", "nullable": true}));
}

#[test]
fn references_are_inlined_and_end_where_they_lead_back() {
    let tree = json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node", "description": "The root."}},
        "$defs": {"node": {
            "type": "object",
            "description": "A node.",
            "properties": {"name": {"type": "string"}, "below": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
        }},
    });
    let rewritten = portable(&tree);
    let expected = json!({"type": "object", "description": "The root.", "properties": {
        "name": {"type": "string"},
        "below": {"type": "array", "items": {"type": "object"}},
    }});
    assert_eq!(rewritten["properties"]["tree"], expected);
    assert_accepted(&Value::Object(rewritten));
}

#[test]
fn the_root_has_the_properties_of_all_its_variants() {
    let union = json!({"anyOf": [
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]},
        {"type": "object", "properties": {"a": {"type": "string"}, "c": {}}, "required": ["a"]},
    ]});
    let root = portable(&union);
    let names: Vec<_> = root["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(root["required"], json!(["a"]));
    assert!(root["description"].as_str().unwrap().starts_with("one of these forms"));
    assert_accepted(&Value::Object(root));
    assert_accepted(&Value::Object(portable(&json!(true))));
}

#[test]
fn references_that_multiply_are_bounded() {
    let mut defs = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let text = "x".repeat(1000);
        let properties = json!({"l": next, "r": next});
        defs.insert(
            format!("d{level}"),
            json!({"type": "object", "description": text, "properties": properties}),
        );
    }
    defs.insert("d40".to_owned(), json!({"type": "string"}));
    let bomb =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs});
    let rewritten = Value::Object(portable(&bomb));
    assert!(rewritten.to_string().len() < 3 * MAX_SCHEMA_BYTES);
    assert_accepted(&rewritten);
    for api in Api::ALL {
        assert!(api.breaches(&bomb).len() <= 100);
    }
}

#[test]
fn a_brief_schema_has_no_bounds_and_defaults() {
    let schema = json!({
        "type": "object", "description": "Input.", "additionalProperties": false, "required": ["a"],
        "properties": {
            "a": {"type": "string", "minLength": 1, "pattern": "^a", "description": "What."},
            "b": {"type": "integer", "minimum": 1, "maximum": 10, "default": 5},
        },
    });
    let expected = json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "What."},
        "b": {"type": "integer", "maximum": 10},
    }});
    assert_eq!(Value::Object(brief(&schema)), expected);
}

fn any_schema() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        json!("string"),
        json!("integer"),
        json!("array"),
        json!("object"),
        json!(["array", "null"]),
        json!(["string", "number", "object"]),
        json!("null"),
    ]);
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({"const": 1})),
        Just(json!({"enum": ["a", "", null]})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/$defs/x", "description": "d"})),
        Just(json!({"$ref": "other.json"})),
        (kind.clone(), any::<bool>()).prop_map(|(kind, format)| if format {
            json!({"type": kind, "format": "uuid", "minLength": 2, "minimum": 1.5})
        } else {
            json!({"type": kind, "enum": ["a", 2, null], "default": null})
        }),
    ];
    leaf.prop_recursive(4, 40, 4, move |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        let map = prop::collection::btree_map("[a-c]", inner.clone(), 0..4);
        prop_oneof![
            (kind.clone(), map, inner.clone()).prop_map(|(kind, properties, more)| json!({
                "type": kind, "properties": properties, "required": ["a", "z"],
                "additionalProperties": more, "description": "d",
            })),
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items, "uniqueItems": true})),
            (list.clone(), prop::sample::select(vec!["anyOf", "oneOf", "allOf"]))
                .prop_map(|(list, keyword)| json!({keyword: list, "title": "t"})),
            (list, inner).prop_map(|(list, not)| json!({"prefixItems": list, "not": not})),
        ]
    })
}

proptest! {
    #[test]
    fn every_rewritten_schema_is_accepted(mut schema in any_schema(), def in any_schema()) {
        if let Value::Object(root) = &mut schema {
            root.insert("$defs".to_owned(), json!({"x": def}));
        }
        for rewritten in [portable(&schema), brief(&schema)] {
            let rewritten = Value::Object(rewritten);
            for api in Api::ALL {
                let breaches = api.breaches(&rewritten);
                prop_assert!(breaches.is_empty(), "{}: {breaches:?} of {rewritten}", api.name());
            }
            prop_assert!(Schema::compile(&rewritten).is_ok());
        }
    }
}
