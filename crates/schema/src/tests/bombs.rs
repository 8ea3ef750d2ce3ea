//! Small schemas whose validation would take very long.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::{compile, paths, refused};
use crate::{Schema, SchemaFault};

/// Far more than a refusal takes, far less than a bomb would.
const AT_ONCE: Duration = Duration::from_secs(5);

/// `d0: {keyword: [d1, d1]}`, `d1: {keyword: [d2, d2]}`, …
fn doubling(keyword: &str, levels: usize) -> Value {
    let mut definitions: Map<String, Value> = (0..levels)
        .map(|level| {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            (format!("d{level}"), json!({keyword: [next, next]}))
        })
        .collect();
    definitions.insert(format!("d{levels}"), json!({"type": "string"}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

/// `{"x": {"x": … }}`
fn chain(key: &str, depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!({key: inner}))
}

#[test]
fn doubling_in_place_is_refused_before_it_is_compiled() {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let started = Instant::now();
        let (_, message) = refused(doubling(keyword, 30));
        assert!(message.contains("branches"), "{message}");
        assert!(started.elapsed() < AT_ONCE);
        let small = compile(doubling(keyword, 4));
        assert!(!small.violations(&json!(1)).is_empty());
    }
}

#[test]
fn doubling_below_a_property_is_refused_when_a_value_reaches_it() {
    let mut schema = doubling("anyOf", 30);
    schema["$ref"].take();
    schema = json!({"properties": {"a": {"properties": {"b": {"$ref": "#/$defs/d0"}}}},
                    "$defs": schema["$defs"]});
    let schema = compile(schema);
    assert_eq!(schema.violations(&json!({"a": 1})), []);
    let started = Instant::now();
    let violations = schema.violations(&json!({"a": {"b": 1}}));
    assert_eq!(paths(&violations), [""]);
    assert!(violations[0].message.contains("too large or nested too deeply"));
    assert!(started.elapsed() < AT_ONCE);
}

#[test]
fn doubling_with_every_level_of_the_value_is_answered_at_once() {
    for keyword in ["anyOf", "allOf", "oneOf"] {
        for schema in [
            json!({"type": "object", "properties": {"x": {keyword: [{"$ref": "#"}, {"$ref": "#"}]}}}),
            json!({"type": "object", "additionalProperties": {keyword: [{"$ref": "#"}, {"$ref": "#"}]}}),
            json!({"type": "object", "patternProperties":
                {"x": {"$ref": "#"}, "^x": {"$ref": "#"}, "x$": {"$ref": "#"}}}),
            json!({"$dynamicAnchor": "t", "type": "object", "properties":
                {"x": {keyword: [{"$dynamicRef": "#t"}, {"$dynamicRef": "#t"}]}}}),
            json!({"$id": "https://a.example/t", "type": "object", "properties":
                {"x": {keyword: [{"$ref": "t"}, {"$ref": "https://a.example/t"}]}}}),
            json!({"type": "object", "unevaluatedProperties": {keyword: [{"$ref": "#"}, {"$ref": "#"}]}}),
            json!({"type": "object", "allOf": [true], "anyOf": [{"required": ["x"]}],
                "unevaluatedProperties": {keyword: [{"$ref": "#"}, {"$ref": "#"}]}}),
        ] {
            let compiled = compile(schema.clone());
            for depth in [12, 60, 120] {
                let started = Instant::now();
                assert!(!compiled.violations(&chain("x", depth)).is_empty(), "{schema}");
                assert!(started.elapsed() < AT_ONCE, "{schema} {depth}: {:?}", started.elapsed());
            }
            // All violations of a shallow value are listed.
            let shallow = compiled.violations(&chain("x", 3));
            assert!(!shallow.is_empty() && !shallow[0].message.contains("branches"), "{schema}");
        }
    }
    let arrays =
        compile(json!({"type": "array", "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}));
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(arrays.violations(&deep).len(), 1);
}

#[test]
fn a_large_circle_that_doubles_all_the_way_is_refused() {
    let definitions: Map<String, Value> = (0..40)
        .map(|level| {
            let next = json!({"$ref": format!("#/$defs/d{}", (level + 1) % 40)});
            (
                format!("d{level}"),
                json!({"type": "object", "properties": {"x": {"anyOf": [next, next]}}}),
            )
        })
        .collect();
    let schema = compile(json!({"$ref": "#/$defs/d0", "$defs": definitions}));
    for depth in [39, 60, 120] {
        let started = Instant::now();
        let violations = schema.violations(&chain("x", depth));
        assert!(violations[0].message.contains("nested too deeply for a schema"), "{violations:?}");
        assert!(started.elapsed() < AT_ONCE);
    }
    // The most that is still admitted.
    let started = Instant::now();
    let admitted = (1..40).rev().find(|depth| {
        !schema.violations(&chain("x", *depth)).iter().any(|v| v.message.contains("deeply"))
    });
    assert!(admitted.is_some_and(|depth| depth > 8), "{admitted:?}");
    assert!(started.elapsed() < AT_ONCE * 4, "{:?}", started.elapsed());
}

#[test]
fn circles_in_place_are_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
        json!({"$dynamicAnchor": "m", "if": {"$dynamicRef": "#m"}}),
        json!({"$defs": {"unused": {"$ref": "#/$defs/unused"}}}),
        json!({"$recursiveRef": "#"}),
        json!({"dependentSchemas": {"a": {"$ref": "#"}}}),
    ] {
        let (_, message) = refused(schema.clone());
        assert!(message.contains("without end"), "{schema}: {message}");
    }
}

#[test]
fn a_net_of_properties_compiles_quickly() {
    // Each level names the next twice: 2^40 paths, but only one schema per part of a value.
    let definitions: Map<String, Value> = (0..40)
        .map(|level| {
            let next = json!({"$ref": format!("#/$defs/d{}", (level + 1) % 40)});
            (format!("d{level}"), json!({"properties": {"x": next, "y": next}}))
        })
        .collect();
    let started = Instant::now();
    let schema = compile(json!({"$ref": "#/$defs/d0", "$defs": definitions}));
    assert_eq!(schema.violations(&chain("x", 100)), []);
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
}

#[test]
fn nested_unevaluated_properties_are_bounded() {
    let nested = (0..20).fold(
        json!({"type": "object"}),
        |inner, _| json!({"unevaluatedProperties": false, "allOf": [inner], "anyOf": [true]}),
    );
    let started = Instant::now();
    assert!(Schema::compile(&nested).is_err());
    let fine = (0..3).fold(
        json!({"properties": {"a": {}}}),
        |inner, _| json!({"unevaluatedProperties": false, "allOf": [inner]}),
    );
    assert_eq!(compile(fine.clone()).violations(&json!({"a": 1})), []);
    assert!(!compile(fine).violations(&json!({"b": 1})).is_empty());
    assert!(started.elapsed() < AT_ONCE);
}

#[test]
fn size_and_depth_are_limited() {
    let large = json!({"enum": ["x".repeat(300_000)]});
    assert!(refused(large).1.contains("262144 are allowed"));
    let deep = (0..80).fold(json!({}), |inner, _| json!({"items": inner}));
    assert!(refused(deep).1.contains("deeper than 64"));
    // Deep enough to end a thread that walks it by recursion.
    let mut abyss = json!({});
    for _ in 0..20_000 {
        abyss = Value::Object(Map::from_iter([("not".to_owned(), abyss)]));
    }
    let fault = Schema::compile(&abyss).unwrap_err();
    assert!(matches!(fault, SchemaFault::Invalid { .. }));
    // Dropping such a value recurses too; take it apart instead.
    while let Some(inner) = abyss.get_mut("not").map(Value::take) {
        abyss = inner;
    }

    let recursive = compile(json!({"properties": {"x": {"$ref": "#"}}}));
    let violations = recursive.violations(&chain("x", 200));
    assert!(violations[0].message.contains("nested too deeply"));
    assert_eq!(recursive.violations(&chain("x", 120)), []);
}

#[test]
fn many_branches_times_many_names_are_bounded() {
    // A union of a thousand, each with its own names and a rule for others.
    let union: Vec<Value> = (0..1_000)
        .map(|n| json!({"properties": {format!("p{n}"): {}}, "additionalProperties": {"type": "null"}}))
        .collect();
    let started = Instant::now();
    let _ = Schema::compile(&json!({"anyOf": union}));
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
}

#[test]
fn a_large_invalid_value_is_reported_briefly() {
    let schema = compile(json!({"items": {"anyOf": (0..20)
        .map(|n| json!({"properties": {"kind": {"const": n}}, "required": ["kind"]}))
        .collect::<Vec<_>>()}}));
    let value: Value = (0..20_000).map(|_| json!({"kind": "none"})).collect();
    let started = Instant::now();
    let violations = schema.violations(&value);
    assert_eq!(paths(&violations), ["/0"]);
    assert!(started.elapsed() < AT_ONCE * 4, "{:?}", started.elapsed());
}

#[test]
fn heavy_patterns_do_not_meet_long_texts() {
    let heavy = "^[ab]*a[ab]{2000}c$";
    let long = "abbabaab".repeat(8_000);
    let started = Instant::now();
    for (schema, value) in [
        (json!({"pattern": heavy}), json!(long)),
        (json!({"items": {"pattern": heavy}}), json!([long])),
        (json!({"patternProperties": {heavy: {"type": "null"}}}), json!({&*long: 1})),
        (json!({"propertyNames": {"pattern": heavy}}), json!({&*long: 1})),
        (json!({"properties": {"x": {"$ref": "#"}}, "pattern": heavy}), json!({"x": {"x": long}})),
        (
            json!({"allOf": (0..100).map(|n| json!({"pattern": format!("[ab]*a[ab]{{{}}}c", 50 + n)}))
            .collect::<Vec<_>>()}),
            json!(long),
        ),
    ] {
        let violations = compile(schema.clone()).violations(&value);
        assert_eq!(violations.len(), 1, "{schema}");
        assert!(violations[0].message.contains("too long for the patterns"), "{schema}");
    }
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    // Short texts meet any pattern, long ones the usual patterns.
    assert_eq!(compile(json!({"pattern": heavy})).violations(&json!("x".repeat(2_000))).len(), 1);
    let base64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$";
    assert_eq!(compile(json!({"pattern": base64})).violations(&json!("QUJD".repeat(60_000))), []);
    assert_eq!(compile(json!({"pattern": "^.{1,255}$"})).violations(&json!("x".repeat(255))), []);
}

#[test]
fn unique_items_of_many_objects() {
    let schema = compile(json!({"uniqueItems": true}));
    let value: Value = (0..8_000).map(|n| json!({"n": n, "s": ["x", n]})).collect();
    let started = Instant::now();
    assert_eq!(schema.violations(&value), []);
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
}
