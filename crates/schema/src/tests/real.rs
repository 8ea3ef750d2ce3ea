//! Schemas as people really write them: none of the bounds may stand in their way.

use std::time::Instant;

use serde_json::{Value, json};

use super::{compile, paths};

fn position() -> Value {
    json!({"type": "array", "minItems": 2, "items": {"type": "number"}})
}

fn nested(inner: Value, levels: usize) -> Value {
    (0..levels).fold(inner, |items, _| json!({"type": "array", "items": items}))
}

fn geometry(name: &str, coordinates: Value) -> Value {
    json!({"type": "object", "required": ["type", "coordinates"],
           "properties": {"type": {"enum": [name]}, "coordinates": coordinates}})
}

fn geojson() -> Value {
    json!({
        "oneOf": [
            {"$ref": "#/$defs/geometry"},
            {"$ref": "#/$defs/feature"},
            {"type": "object", "required": ["type", "features"], "properties": {
                "type": {"enum": ["FeatureCollection"]},
                "features": {"type": "array", "items": {"$ref": "#/$defs/feature"}}}},
        ],
        "$defs": {
            "feature": {"type": "object", "required": ["type", "geometry"], "properties": {
                "type": {"enum": ["Feature"]},
                "properties": {"oneOf": [{"type": "null"}, {"type": "object"}]},
                "geometry": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/geometry"}]}}},
            "geometry": {"oneOf": [
                geometry("Point", position()),
                geometry("MultiPoint", nested(position(), 1)),
                geometry("LineString", nested(position(), 1)),
                geometry("MultiLineString", nested(position(), 2)),
                geometry("Polygon", nested(position(), 2)),
                geometry("MultiPolygon", nested(position(), 3)),
                {"type": "object", "required": ["type", "geometries"], "properties": {
                    "type": {"enum": ["GeometryCollection"]},
                    "geometries": {"type": "array", "items": {"$ref": "#/$defs/geometry"}}}},
            ]},
        },
    })
}

#[test]
fn geojson_with_thousands_of_points() {
    let schema = compile(geojson());
    let ring: Vec<Value> = (0..10_000).map(|n| json!([n, n + 1])).collect();
    let feature = json!({"type": "Feature", "properties": null,
                         "geometry": {"type": "Polygon", "coordinates": [ring]}});
    let mut collection = json!({"type": "FeatureCollection", "features": [feature]});
    assert_eq!(schema.violations(&collection), []);
    let nested = (0..10).fold(
        json!({"type": "Point", "coordinates": [1, 2]}),
        |inner, _| json!({"type": "GeometryCollection", "geometries": [inner]}),
    );
    assert_eq!(schema.violations(&nested), []);
    collection["features"][0]["geometry"]["coordinates"][0][0][0] = json!("east");
    assert_eq!(schema.violations(&collection).len(), 1);
}

#[test]
fn the_meta_schema_checks_itself() {
    let schema = compile(json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}));
    assert_eq!(schema.violations(&geojson()), []);
    assert!(!schema.violations(&json!({"type": "strnig"})).is_empty());
    let deep = (0..20).fold(json!({}), |inner, _| json!({"properties": {"x": {"allOf": [inner]}}}));
    assert_eq!(schema.violations(&deep), []);
    let nested = compile(
        json!({"properties": {"schema": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}}),
    );
    assert_eq!(nested.violations(&json!({"schema": geojson()})), []);
}

/// The meta-schema of draft 7 as one document: recursive through nearly every keyword.
#[test]
fn a_whole_meta_schema_as_a_tools_own_schema() {
    let schema = compile(json!({
        "$id": "http://example.com/meta",
        "definitions": {
            "schemaArray": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
            "nonNegativeInteger": {"type": "integer", "minimum": 0},
            "nonNegativeIntegerDefault0": {"allOf": [{"$ref": "#/definitions/nonNegativeInteger"}, {"default": 0}]},
            "simpleTypes": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]},
            "stringArray": {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "default": []},
        },
        "type": ["object", "boolean"],
        "properties": {
            "$ref": {"type": "string", "format": "uri-reference"},
            "maxLength": {"$ref": "#/definitions/nonNegativeInteger"},
            "minLength": {"$ref": "#/definitions/nonNegativeIntegerDefault0"},
            "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/schemaArray"}], "default": true},
            "contains": {"$ref": "#"},
            "required": {"$ref": "#/definitions/stringArray"},
            "additionalProperties": {"$ref": "#"},
            "properties": {"type": "object", "additionalProperties": {"$ref": "#"}, "default": {}},
            "patternProperties": {"type": "object", "additionalProperties": {"$ref": "#"},
                                  "propertyNames": {"format": "regex"}},
            "dependencies": {"type": "object", "additionalProperties":
                {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/stringArray"}]}},
            "propertyNames": {"$ref": "#"},
            "type": {"anyOf": [{"$ref": "#/definitions/simpleTypes"},
                {"type": "array", "items": {"$ref": "#/definitions/simpleTypes"}}]},
            "allOf": {"$ref": "#/definitions/schemaArray"},
            "anyOf": {"$ref": "#/definitions/schemaArray"},
            "oneOf": {"$ref": "#/definitions/schemaArray"},
            "not": {"$ref": "#"},
        },
    }));
    assert_eq!(schema.violations(&geojson()), []);
    let deep = (0..40).fold(json!({"type": "string"}), |inner, _| json!({"items": inner}));
    assert_eq!(schema.violations(&deep), []);
    let violations =
        schema.violations(&json!({"properties": {"a": {"maxLength": -1, "required": [1]}}}));
    let mut places = paths(&violations);
    places.sort_unstable();
    assert_eq!(places, ["/properties/a/maxLength", "/properties/a/required/0"]);
}

#[test]
fn trees_and_expression_languages() {
    let tree = compile(json!({
        "type": "object", "required": ["name"], "additionalProperties": false,
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    }));
    let leaf = json!({"name": "leaf"});
    let deep =
        (0..30).fold(leaf, |inner, _| json!({"name": "n", "children": [inner, {"name": "x"}]}));
    assert_eq!(tree.violations(&deep), []);

    // A query language: every operand may be any expression, distinguished by its operator.
    let binary = |operator: &str| {
        json!({"type": "object", "required": ["op", "left", "right"], "properties": {
            "op": {"const": operator}, "left": {"$ref": "#/$defs/expr"}, "right": {"$ref": "#/$defs/expr"}}})
    };
    let query = compile(json!({
        "$ref": "#/$defs/expr",
        "$defs": {"expr": {"anyOf": [{"type": "number"}, {"type": "string"}, binary("and"), binary("or"), binary("eq")]}},
    }));
    let mut expression =
        (0..100).fold(json!(1), |inner, _| json!({"op": "or", "left": inner, "right": "x"}));
    assert_eq!(query.violations(&expression), [], "a hundred terms in a row");
    expression["right"] = json!({"op": "xor"});
    let started = Instant::now();
    assert_eq!(paths(&query.violations(&expression)), [""]);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    let balanced =
        (0..10).fold(json!(1), |inner, _| json!({"op": "and", "left": inner, "right": inner}));
    assert_eq!(query.violations(&balanced), [], "a thousand terms in a tree");
}

#[test]
fn a_wide_union_of_events() {
    let events: Vec<Value> = (0..60)
        .map(|n| {
            json!({"type": "object", "required": ["event"], "additionalProperties": false,
                "properties": {"event": {"const": format!("e{n}")}, "at": {"type": "string", "format": "date-time"},
                    "data": {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}}}})
        })
        .collect();
    let schema = compile(json!({"type": "array", "items": {"oneOf": events}}));
    let value: Value = (0..1_000)
        .map(|n| json!({"event": format!("e{}", n % 60), "at": "2024-01-01T00:00:00Z", "data": {"id": "x", "n": n}}))
        .collect();
    assert_eq!(schema.violations(&value), []);
}
