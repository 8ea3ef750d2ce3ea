mod bombs;
mod drafts;
mod real;

use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use serde_json::{Value, json};

use super::{MAX_MESSAGE_CHARS, MAX_VIOLATIONS, Schema, SchemaFault, Unknowns, Violation};

fn compile(schema: Value) -> Schema {
    Schema::compile(&schema).unwrap()
}

/// The place and the message of a schema's fault.
fn refused(schema: Value) -> (String, String) {
    let SchemaFault::Invalid { path, message } = Schema::compile(&schema).unwrap_err();
    (path, message)
}

fn paths(violations: &[Violation]) -> Vec<&str> {
    violations.iter().map(|violation| violation.path.as_str()).collect()
}

#[test]
fn all_violations_are_listed_with_their_paths() {
    let schema = compile(json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "a/b~c": {"type": "integer"},
        },
        "required": ["id"],
    }));
    let value = json!({"name": 1, "tags": ["x", 2, 3], "a/b~c": "z"});
    let violations = schema.violations(&value);
    let mut places = paths(&violations);
    places.sort_unstable();
    assert_eq!(places, ["", "/a~1b~0c", "/name", "/tags/1", "/tags/2"]);
    assert!(violations.iter().any(|v| v.path.is_empty() && v.message.contains("\"id\"")));
    assert_eq!(schema.violations(&json!({"id": 1, "name": "n"})), []);
}

#[test]
fn unknown_parts_hide_only_what_may_depend_on_them() {
    let schema = compile(json!({
        "type": "object",
        "properties": {
            "kind": {"enum": ["a", "b"]},
            "count": {"type": "integer"},
            "list": {"type": "array", "items": {"type": "integer"}, "maxItems": 2, "uniqueItems": true},
            "either": {"anyOf": [{"required": ["x"]}, {"properties": {"y": {"const": 1}}, "required": ["y"]}]},
        },
        "required": ["kind"],
        "additionalProperties": false,
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["count"]},
        "else": {"required": ["list"]},
    }));
    let set = |pointers: &[&str]| pointers.iter().map(|&pointer| pointer.to_owned()).collect();
    let known = |value: Value, values: &[&str], texts: &[&str]| {
        let unknown = Unknowns { values: set(values), texts: set(texts) };
        let found = schema.known_violations(&value, &unknown);
        found.into_iter().map(|one| one.path).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(known(json!({"kind": "?"}), &["/kind"], &[]), none, "the branch is not known");
    assert_eq!(known(json!({"kind": "c", "list": []}), &[], &[]), ["/kind"]);
    assert_eq!(known(json!({"kind": "a", "count": "?"}), &["/count"], &[]), none);
    assert_eq!(
        known(json!({"kind": "a", "count": "n ?"}), &[], &["/count"]),
        ["/count"],
        "a text is no number"
    );
    assert_eq!(
        known(json!({"count": "?"}), &["/count"], &[]),
        [""],
        "kind is missing all the same"
    );
    assert_eq!(
        known(json!({"kind": "?", "list": ["?", "?"]}), &["/kind", "/list/0", "/list/1"], &[]),
        none
    );
    assert_eq!(
        known(json!({"kind": "?", "list": ["?", 1, 2]}), &["/kind", "/list/0"], &[]),
        ["/list"],
        "too many"
    );
    assert_eq!(
        known(json!({"kind": "?", "list": ["?", "x"]}), &["/kind", "/list/0"], &[]),
        ["/list/1"]
    );
    assert_eq!(
        known(json!({"kind": "b", "list": [], "either": {"y": "?"}}), &["/either/y"], &[]),
        none
    );
    assert_eq!(known(json!({"kind": "b", "list": [], "either": {"y": 2}}), &[], &[]), ["/either"]);
}

#[test]
fn violations_are_capped_in_number_and_length() {
    let schema = compile(json!({"items": {"type": "string"}}));
    let value: Value = (0..5_000).collect();
    assert_eq!(schema.violations(&value).len(), MAX_VIOLATIONS);

    let long = "x".repeat(60_000);
    for schema in [
        json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        json!({"oneOf": [{"type": "string"}, {"minLength": 1}]}),
        json!({"maxLength": 3}),
        json!({"not": {"type": "string"}}),
        json!({"const": "é".repeat(10_000)}),
    ] {
        let violations = compile(schema.clone()).violations(&json!(long));
        assert_eq!(violations.len(), 1, "{schema}");
        let message = &violations[0].message;
        assert!(message.chars().count() <= MAX_MESSAGE_CHARS + 1, "{}", message.len());
    }
}

#[test]
fn a_fault_says_where_in_the_schema_it_is() {
    for (schema, place, word) in [
        (json!({"properties": {"a": {"type": "strnig"}}}), "/properties/a/type", "strnig"),
        (json!({"type": "object", "required": "a"}), "/required", "array"),
        (json!({"properties": {"a": {"pattern": "("}}}), "/properties/a/pattern", "regex"),
        (json!({"patternProperties": {"(": {}}}), "/patternProperties/(", "regex"),
        (json!({"multipleOf": 0}), "/multipleOf", "0"),
        (json!({"maxLength": -1}), "/maxLength", "-1"),
        (json!("string"), "", "string"),
        (json!({"anyOf": []}), "/anyOf", "[]"),
    ] {
        let (path, message) = refused(schema.clone());
        assert_eq!(path, place, "{schema}: {message}");
        assert!(message.contains(word), "{schema}: {message}");
    }
}

#[test]
fn references_out_of_the_schema_are_refused_by_name() {
    for reference in [
        "http://127.0.0.1:1/x.json",
        "https://example.com/schema.json#/$defs/a",
        "file:///etc/passwd",
        "other.json",
        "//evil.example/x",
        "urn:uuid:0",
    ] {
        let (path, message) = refused(json!({"properties": {"a": {"$ref": reference}}}));
        assert_eq!(path, "/properties/a/$ref");
        assert!(message.contains(reference), "{message}");
        // Unused parts count too: a later edit would bring them to life.
        let (path, _) = refused(json!({"$defs": {"unused": {"$ref": reference}}}));
        assert_eq!(path, "/$defs/unused/$ref");
    }
    let (path, message) = refused(json!({"$ref": "#/$defs/missing"}));
    assert_eq!(path, "/$ref");
    assert!(message.contains("points at no schema"), "{message}");
    refused(json!({"$ref": "#nowhere"}));
    refused(json!({"$ref": "#/$defs/%zz"}));
}

#[test]
fn references_within_the_schema_are_followed() {
    for (schema, good, bad) in [
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}), json!("x"), json!(1)),
        (
            json!({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "type": "null"}}}),
            json!(null),
            json!(1),
        ),
        (
            json!({"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"type": "string"}}}),
            json!("x"),
            json!(1),
        ),
        (
            json!({"$id": "https://example.com/root.json", "$ref": "part.json#/$defs/n",
                   "$defs": {"p": {"$id": "part.json", "$defs": {"n": {"type": "number"}}}}}),
            json!(1.5),
            json!("x"),
        ),
        (
            json!({"$ref": "#/components/schemas/Pet",
                   "components": {"schemas": {"Pet": {"required": ["name"]}}}}),
            json!({"name": 1}),
            json!({}),
        ),
    ] {
        let compiled = Schema::compile(&schema).unwrap_or_else(|fault| panic!("{schema}: {fault}"));
        assert_eq!(compiled.violations(&good), [], "{schema}");
        assert_eq!(compiled.violations(&bad).len(), 1, "{schema}");
    }
}

#[test]
fn patterns_are_matched_in_linear_time() {
    for pattern in ["^(a+)+$", "^(a|a)*$", "(.*a){20}$", "^([a-z]+)*!$"] {
        let schema = compile(json!({"pattern": pattern}));
        let started = std::time::Instant::now();
        let text = format!("{}!!", "a".repeat(50_000));
        let _ = schema.violations(&json!(text));
        assert!(started.elapsed().as_secs() < 5, "{pattern}: {:?}", started.elapsed());
    }
    for pattern in ["(?=a)b", "(?<!x)y", r"(a)\1"] {
        let (path, message) = refused(json!({"properties": {"a": {"pattern": pattern}}}));
        assert_eq!(path, "/properties/a/pattern");
        assert!(message.contains("look-around"), "{message}");
        refused(json!({"patternProperties": {pattern: true}}));
    }
    // Compiled, this would take gigabytes.
    refused(json!({"pattern": "((a{1000}){1000}){1000}"}));
}

#[test]
fn formats_and_extremes_are_answered() {
    for format in [
        "date",
        "date-time",
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "iri-reference",
        "uri-template",
        "uuid",
        "json-pointer",
        "relative-json-pointer",
        "regex",
        "made-up",
    ] {
        let schema = compile(json!({"format": format}));
        for text in
            ["", "\u{0}", "%", "::", "2020-02-30T25:61:61Z", "x@", "ﬀ。é", "{", "/~", "(", "P"]
        {
            let _ = schema.violations(&json!(text));
            let _ = schema.violations(&json!(text.repeat(2_000)));
        }
    }
    assert_eq!(compile(json!({"format": "date"})).violations(&json!("2020-02-30")).len(), 1);
    for schema in [
        json!({"maxLength": u64::MAX}),
        json!({"maxLength": 1e300}),
        json!({"minItems": u64::MAX, "maxItems": 0}),
        json!({"multipleOf": 1e-300}),
        json!({"multipleOf": f64::MIN_POSITIVE}),
        json!({"minimum": i64::MIN, "maximum": u64::MAX, "multipleOf": 1e308}),
        json!({"minContains": u64::MAX, "contains": true}),
        json!({"uniqueItems": true}),
    ] {
        if let Ok(schema) = Schema::compile(&schema) {
            for value in
                [json!(f64::MAX), json!(u64::MAX), json!(i64::MIN), json!("x"), json!([1, 1.0])]
            {
                let _ = schema.violations(&value);
            }
        }
    }
}

const KEYWORDS: [&str; 34] = [
    "type",
    "properties",
    "required",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$defs",
    "$id",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$schema",
    "pattern",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "minContains",
    "enum",
    "const",
    "multipleOf",
    "maxLength",
    "dependentSchemas",
    "format",
    "uniqueItems",
];

const TEXTS: [&str; 16] = [
    "#",
    "#/$defs/a",
    "#a",
    "a",
    "string",
    "object",
    "array",
    "number",
    "^a+$",
    "(?=x)",
    "x.json",
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
    "date",
    "",
    "#/properties/a",
];

/// JSON that looks enough like a schema to reach the interesting places.
fn schema_like() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(&TEXTS[..]).prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        let key = prop_oneof![
            8 => proptest::sample::select(&KEYWORDS[..]).prop_map(str::to_owned),
            2 => "[a-c]".prop_map(|key| key),
        ];
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            4 => proptest::collection::vec((key, inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(600))]

    #[test]
    fn nothing_panics(schema in schema_like(), value in schema_like()) {
        if let Ok(schema) = Schema::compile(&schema) {
            let violations = schema.violations(&value);
            assert!(violations.len() <= MAX_VIOLATIONS);
        }
    }
}
