use serde_json::{Value, json};

use super::{compile, paths, refused};
use crate::{Patterns, Schema};

/// A schema of a server, whose patterns need not run.
fn lenient(schema: Value) -> Schema {
    Schema::compile_with(&schema, Patterns::Optional)
        .unwrap_or_else(|fault| panic!("{schema}: {fault}"))
}

#[test]
fn the_draft_that_schema_names_is_honoured() {
    let pair = json!([{"type": "string"}, {"type": "number"}]);
    for (draft, schema, good, bad) in [
        (
            "http://json-schema.org/draft-04/schema#",
            json!({"minimum": 1, "exclusiveMinimum": true}),
            json!(2),
            json!(1),
        ),
        (
            "http://json-schema.org/draft-06/schema#",
            json!({"items": pair, "additionalItems": false}),
            json!(["a", 1]),
            json!(["a", 1, 2]),
        ),
        (
            "http://json-schema.org/draft-07/schema#",
            json!({"type": "array", "minItems": 2, "maxItems": 2, "items": pair}),
            json!(["a", 1]),
            json!(["a", "b"]),
        ),
        (
            "https://json-schema.org/draft/2019-09/schema",
            json!({"items": pair, "additionalItems": false}),
            json!(["a", 1]),
            json!(["a", "b"]),
        ),
        (
            "https://json-schema.org/draft/2020-12/schema",
            json!({"prefixItems": pair, "items": false}),
            json!(["a", 1]),
            json!(["a", 1, 2]),
        ),
        // An unknown draft is read as 2020-12.
        ("https://example.com/own", json!({"prefixItems": pair}), json!(["a", 1]), json!([1, 1])),
    ] {
        let mut schema = schema;
        schema["$schema"] = json!(draft);
        let compiled = compile(schema);
        assert_eq!(compiled.violations(&good), [], "{draft}");
        assert_eq!(compiled.violations(&bad).len(), 1, "{draft}");
    }
    refused(json!({"items": pair}));
    let (path, _) = refused(json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"minimum": 1, "exclusiveMinimum": true}},
    }));
    assert_eq!(path, "/properties/a/exclusiveMinimum");
}

#[test]
fn an_id_that_a_draft_ignores_hides_no_branches() {
    // With the inner `definitions`, the reference would be cheap; the draft takes the outer ones.
    let mut definitions = json!({
        "x": {"$id": "x.json", "$ref": "#/definitions/d0", "definitions": {"d0": {}}},
        "d40": {"type": "string"},
    });
    for n in 0..40 {
        let next = json!({"$ref": format!("#/definitions/d{}", n + 1)});
        definitions[format!("d{n}")] = json!({"anyOf": [next, next]});
    }
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#/definitions/x"}},
        "definitions": definitions,
    });
    let (_, message) = refused(schema);
    assert!(message.contains("branches"), "{message}");
}

#[test]
fn patterns_of_others_that_cannot_run_are_left_unchecked() {
    let schema = lenient(json!({
        "type": "object",
        "properties": {
            "password": {"type": "string", "minLength": 3, "pattern": "^(?=.*[A-Z]).{8,}$"},
            "pattern": {"type": "string", "pattern": "^a+$"},
            "quoted": {"items": {"pattern": r#"(['"]).*\1"#}},
        },
        "required": ["password"],
    }));
    assert_eq!(
        schema.unchecked_patterns(),
        ["/properties/password/pattern", "/properties/quoted/items/pattern"]
    );
    assert_eq!(
        schema.violations(&json!({"password": "abc", "pattern": "aa", "quoted": ["x"]})),
        []
    );
    let violations = schema.violations(&json!({"password": "a", "pattern": "b"}));
    assert_eq!(paths(&violations), ["/password", "/pattern"], "all else is checked");
    assert!(lenient(json!({"pattern": "^a+$"})).unchecked_patterns().is_empty());
}

#[test]
fn less_is_never_refused_more() {
    let bad = "(?=a)a";
    for (schema, value) in [
        (json!({"not": {"pattern": bad}}), json!("b")),
        (json!({"if": {"pattern": bad}, "then": {"maxLength": 1}}), json!("bbb")),
        (json!({"oneOf": [{"pattern": bad}, {"type": "string"}]}), json!("b")),
        (json!({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"pattern": bad}}}), json!("b")),
        (
            json!({"patternProperties": {bad: {"type": "string"}}, "additionalProperties": false}),
            json!({"a": "x"}),
        ),
    ] {
        assert_eq!(lenient(schema.clone()).violations(&value), [], "{schema}");
        refused(schema);
    }
    let other =
        Schema::compile_with(&json!({"pattern": bad, "type": "strnig"}), Patterns::Optional);
    assert!(other.is_err(), "only patterns are left out");
}

#[test]
fn a_wrong_web_address_is_answered_with_what_to_write() {
    let schema = compile(json!({"pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"}));
    let violations = schema.violations(&json!("example.com"));
    assert_eq!(violations[0].message, "write an address that begins with http:// or https://");
}
