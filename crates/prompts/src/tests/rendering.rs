use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proto::{Blame, Code};
use serde_json::{Value, json};

use super::{Dir, get};
use crate::template::Budget;
use crate::{Prompt, PromptError, render};

/// A prompt `demo/p` with this input schema (YAML, flow or JSON) and body.
fn prompt(schema: &str, body: &str) -> Prompt {
    with_constraints(schema, "{}", body)
}

fn with_constraints(schema: &str, constraints: &str, body: &str) -> Prompt {
    let dir = Dir::new();
    dir.write(
        "packs/demo/p.spec.yaml",
        format!("description: A test\ninputSchema: {schema}\nconstraints: {constraints}\n"),
    );
    dir.write("packs/demo/p.v1.md", body);
    assert_eq!(dir.errors(), Vec::<String>::new());
    get(&dir.snapshot(), "demo/p").clone()
}

fn places(failure: &PromptError) -> Vec<String> {
    let details = failure.details().unwrap();
    let violations = details["violations"].as_array().unwrap();
    let mut places: Vec<_> =
        violations.iter().map(|violation| violation["path"].as_str().unwrap().to_owned()).collect();
    places.sort();
    places
}

const TYPED: &str = "{properties: {n: {type: integer}, x: {type: number}, b: {type: boolean}, \
    l: {type: array, items: {type: integer}}, o: {type: object}, s: {type: string}, \
    e: {enum: [1, two, null]}, u: {type: [integer, 'null']}, any: {}, r: {$ref: '#/$defs/n'}}, \
    $defs: {n: {type: integer, default: 7}}}";

#[test]
fn text_is_read_as_what_the_spec_asks_for() {
    let typed = prompt(
        TYPED,
        "{{ n|tojson }} {{ x|tojson }} {{ b|tojson }} {{ l|tojson }} {{ o|tojson }} {{ s|tojson }} {{ e|tojson }} {{ u|tojson }} {{ any|tojson }} {{ r|tojson }}",
    );
    let text = typed
        .render(&json!({"n": "3", "x": " 2.5", "b": "true", "l": "[1, 2]", "o": "{\"k\": 1}",
            "s": "3", "e": "1", "u": "null", "any": "3", "r": "4"}))
        .unwrap();
    assert_eq!(text, r#"3 2.5 true [1, 2] {"k": 1} "3" 1 null "3" 4"#);
    // Values that are typed already pass as they are.
    let same = typed
        .render(&json!({"n": 3, "x": 2.5, "b": true, "l": [1, 2], "o": {"k": 1}, "s": "3",
            "e": "two", "u": 5, "any": [1], "r": 4}))
        .unwrap();
    assert_eq!(same, r#"3 2.5 true [1, 2] {"k": 1} "3" "two" 5 [1] 4"#);
}

#[test]
fn all_violations_are_reported_at_once() {
    let typed = prompt(TYPED, "{{ n }}");
    let failure = typed
        .render(
            &json!({"n": "three", "b": "yes", "l": "[1, \"x\"]", "o": "[]", "typo": 1, "e": "3"}),
        )
        .unwrap_err();
    assert_eq!((failure.code(), failure.blame()), (Code::InvalidInput, Blame::Caller));
    assert_eq!(places(&failure), ["/b", "/e", "/l/1", "/n", "/o", "/typo"]);
    assert!(failure.to_string().contains("and 1 more"), "{failure}");

    let strict = prompt(
        "{properties: {topic: {type: string, minLength: 3}}, required: [topic], additionalProperties: false}",
        "{{ topic }}",
    );
    let failure = strict.render(&json!({"topik": "x"})).unwrap_err();
    assert_eq!(places(&failure), ["", "/topik"]);
    assert!(failure.to_string().contains("did you mean `topic`?"), "{failure}");
    for bad in [json!([]), json!("x"), json!(3)] {
        assert_eq!(strict.render(&bad).unwrap_err().code(), Code::InvalidInput);
    }
    assert_eq!(places(&strict.render(&Value::Null).unwrap_err()), [""]);
    // A required text may be empty only where the spec allows it.
    assert_eq!(places(&strict.render(&json!({"topic": ""})).unwrap_err()), ["/topic"]);
}

#[test]
fn defaults_fill_in_and_empty_optional_fields_count_as_absent() {
    let schema =
        "{properties: {a: {type: integer, default: 5}, b: {type: string}, c: {enum: [x, y]}}}";
    let prompt = prompt(
        schema,
        "{{ a }}{% if b %} {{ b }}{% endif %}{% if c is defined %} {{ c }}{% endif %}",
    );
    assert_eq!(prompt.render(&Value::Null).unwrap(), "5");
    assert_eq!(prompt.render(&json!({"a": "", "b": "", "c": ""})).unwrap(), "5");
    assert_eq!(prompt.render(&json!({"a": "6", "b": "b", "c": "y"})).unwrap(), "6 b y");
}

#[test]
fn open_schemas_let_other_arguments_through() {
    let open = prompt(
        "{properties: {a: {type: string}}, additionalProperties: {type: integer}}",
        "{{ other }}",
    );
    assert_eq!(open.render(&json!({"other": 3})).unwrap(), "3");
    assert_eq!(places(&open.render(&json!({"other": "x"})).unwrap_err()), ["/other"]);
    let none = prompt("{type: object}", "plain");
    assert_eq!(none.render(&json!({})).unwrap(), "plain");
    assert_eq!(places(&none.render(&json!({"x": 1})).unwrap_err()), ["/x"]);
}

#[test]
fn constraints_hold() {
    let schema = "{properties: {t: {type: string}}, required: [t]}";
    let prompt =
        with_constraints(schema, "{maxRenderedChars: 10, maxArgumentChars: 8}", "{{ t }}{{ t }}");
    assert_eq!(prompt.render(&json!({"t": "äöüßé"})).unwrap().chars().count(), 10);
    let failure = prompt.render(&json!({"t": "123456"})).unwrap_err();
    assert_eq!(
        (failure.code(), failure.details()),
        (Code::InvalidInput, Some(json!({"size": 12, "limit": 10})))
    );
    let failure = prompt.render(&json!({"t": "123456789"})).unwrap_err();
    assert_eq!(places(&failure), ["/t"]);
    let failure = prompt.render(&json!({"t": "x".repeat(70_000)})).unwrap_err();
    assert_eq!(failure.details().unwrap()["limit"], 65_536);
}

#[test]
fn arguments_are_never_evaluated() {
    let prompt = prompt("{properties: {t: {type: string}}, required: [t]}", "[{{ t }}]");
    for payload in [
        "{{ 7*7 }}",
        "{% include 'x' %}",
        "{{ self.__init__ }}",
        "{# c #}",
        "<b>&",
        "\u{0}",
        "${x}",
        "{{",
    ] {
        assert_eq!(prompt.render(&json!({"t": payload})).unwrap(), format!("[{payload}]"));
    }
}

#[test]
fn runaway_templates_are_stopped() {
    let schema = "{properties: {n: {type: integer, default: 1}, t: {type: string, default: x}}}";
    for (body, arguments, word) in [
        ("{{ 'x' * n }}", json!({"n": 100_000_000}), "4 MiB"),
        ("{{ 'x' * n }}", json!({"n": 300_000}), "longer than"),
        (
            "{% for i in range(n) %}{{ t }}{% endfor %}",
            json!({"n": 99_999, "t": "x".repeat(60_000)}),
            "4 MiB",
        ),
        (
            "{% for i in range(n) %}{% for j in range(n) %}{% set x = 1 %}{% set y = 1 %}{% endfor %}{% endfor %}",
            json!({"n": 2_000}),
            "too many steps",
        ),
        ("{{ t|replace('', t) }}", json!({"t": "x".repeat(30_000)}), "4 MiB"),
        (
            "{% set ns = namespace(x=t) %}{% for i in range(n) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
            json!({"n": 31}),
            "4 MiB",
        ),
        (
            "{% set ns = namespace(x=t) %}{% for i in range(n) %}{% set ns.x = [ns.x] %}{% endfor %}",
            json!({"n": 9_000}),
            "64 levels",
        ),
        ("{{ t|indent(n, true) }}", json!({"n": 9_000_000_000_000_i64}), "4 MiB"),
        ("{{ t.missing.deep }}", json!({}), "undefined"),
        ("{{ t + n }}", json!({}), "line 1"),
    ] {
        let prompt = prompt(schema, body);
        let failure = prompt.render(&arguments).unwrap_err();
        assert_eq!(
            (failure.code(), failure.blame()),
            (Code::Internal, Blame::Tool),
            "{body}: {failure}"
        );
        // Many cheap steps are also slow without optimization: there, the time may be over first.
        let said = [word, if word == "too many steps" { "takes more than 200 ms" } else { word }];
        assert!(said.iter().any(|it| failure.to_string().contains(it)), "{body}: {failure}");
    }
    // Neither of these is there at all.
    for body in ["{{ debug() }}", "{{ '%099999999d'|format(1) }}"] {
        assert!(render::render(body, &json!({}), &Budget::new()).is_err(), "{body}");
    }
}

#[test]
fn completions_are_prefixes_whatever_the_case() {
    let many = (0..300).map(|n| format!("v{n}")).collect::<Vec<_>>().join(", ");
    let prompt = prompt(
        &format!(
            "{{properties: {{m: {{enum: [{many}]}}, c: {{enum: [Red, green, Rosé, 3, null]}}, k: {{const: only}}, s: {{type: string}}}}}}"
        ),
        "x",
    );
    assert_eq!(prompt.complete("m", "").len(), 100);
    assert_eq!(
        prompt.complete("m", "V29"),
        ["v29", "v290", "v291", "v292", "v293", "v294", "v295", "v296", "v297", "v298", "v299"]
    );
    assert_eq!(prompt.complete("c", "r"), ["Red", "Rosé"]);
    assert_eq!(prompt.complete("c", "ROSÉ"), ["Rosé"]);
    assert_eq!(prompt.complete("c", ""), ["Red", "green", "Rosé", "3"]);
    assert_eq!(prompt.complete("k", ""), ["only"]);
    assert_eq!(prompt.complete("s", ""), Vec::<String>::new());
    assert_eq!(prompt.complete("nothing", ""), Vec::<String>::new());
}

#[test]
fn required_arguments_come_first_in_their_order() {
    let prompt =
        prompt("{properties: {a: {}, b: {description: Bee}, z: {}, y: {}}, required: [z, b]}", "x");
    let listed: Vec<_> = prompt.arguments.iter().map(|a| (a.name.as_str(), a.required)).collect();
    assert_eq!(listed, [("z", true), ("b", true), ("a", false), ("y", false)]);
    assert_eq!(prompt.arguments[1].description.as_deref(), Some("Bee"));
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("3")),
        Just(json!("[1]")),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map("[nxblosreu]|any|\\PC{0,4}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_arguments_get_an_answer(arguments in json_value()) {
        thread_local! {
            static TYPED_PROMPT: Prompt = prompt(TYPED, "{% if s %}{{ s }}{% endif %}{{ r }}");
        }
        match TYPED_PROMPT.with(|typed| typed.render(&arguments)) {
            Ok(text) => prop_assert!(text.len() <= 256 * 1024),
            Err(failure) => prop_assert_eq!(failure.code(), Code::InvalidInput),
        }
    }

    #[test]
    fn text_arguments_arrive_unchanged(text in "\\PC{1,80}") {
        let rendered = render::render("{{ t }}", &json!({"t": text}), &Budget::new());
        prop_assert_eq!(rendered.unwrap(), text);
    }

    #[test]
    fn any_body_is_rendered_or_refused(body in "(\\{\\{|\\}\\}|\\{%|%\\}|[a-z |.()*'0-9\\[\\]]|for |in |if |end){0,24}") {
        let _ = render::names(&body);
        let _ = render::render(&body, &json!({"a": [1, "x"], "b": {"c": 2}}), &Budget::new());
    }
}
