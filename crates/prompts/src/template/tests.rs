mod paths;

use proptest::prelude::*;
use serde_json::json;

use super::*;

const MAX_TEXT: usize = 16 << 20;

fn engine() -> Engine {
    Engine::new(500_000, UndefinedBehavior::Strict)
}

fn render(source: &str, given: &serde_json::Value) -> Result<String, TemplateError> {
    engine().render(source, value(given), MAX_TEXT)
}

#[test]
fn expressions_keep_their_type_within_the_limit() {
    let engine = Engine::new(10_000, UndefinedBehavior::Strict);
    let given = || value(&json!({"a": {"n": 3, "list": [1, "x", null], "big": u64::MAX}}));
    for (source, made) in [
        ("a.n + 1", json!(4)),
        ("a.list", json!([1, "x", null])),
        ("a", json!({"n": 3, "list": [1, "x", null], "big": u64::MAX})),
        ("{'k': a.list | length, 'f': 1.5}", json!({"k": 3, "f": 1.5})),
        ("a.missing | default('none')", json!("none")),
        ("a.list | map('string') | list", json!(["1", "x", "None"])),
    ] {
        assert_eq!(engine.evaluate(source, given(), 1_000, &Budget::new()), Ok(made), "{source}");
    }
    for (source, kind) in [
        ("a.missing", TemplateErrorKind::Undefined),
        ("[a.missing]", TemplateErrorKind::Undefined),
        ("{'k': [a.missing]}", TemplateErrorKind::Undefined),
        ("a.missing.x", TemplateErrorKind::Undefined),
        ("range(100000) | list", TemplateErrorKind::TooLong),
        ("'x' * 2000", TemplateErrorKind::TooLong),
        ("a |", TemplateErrorKind::Broken),
        ("a | nothing", TemplateErrorKind::Broken),
    ] {
        let error =
            engine.evaluate(source, given(), 1_000, &Budget::new()).map_err(|error| error.kind);
        assert_eq!(error, Err(kind), "{source}");
    }
    assert!(engine.has_filter("length") && !engine.has_filter("lenght"));
    assert!(engine.has_test("defined") && !engine.has_test("defind"));
    assert_eq!(engine.test("a.list | length == 3", given(), &Budget::new()), Ok(true));
    assert!(engine.test("a.missing", given(), &Budget::new()).is_err());
}

#[test]
fn filters_are_bounded() {
    let engine = Engine::new(10_000, UndefinedBehavior::Strict);
    let long = "ab".repeat(15_000);
    let list: Vec<_> = (0..10_000).collect();
    let given = value(&json!({"t": long, "list": list, "n": 2_000_000_000_u64}));
    for source in [
        "{{ t | replace('a', t) }}",
        "{{ t | replace('', t) }}",
        "{{ t | indent(n, true) }}",
        "{{ t | indent(width=n) }}",
        "{{ list | join(t) }}",
        "{{ list | tojson(n) }}",
        "{{ list | tojson(indent=n) }}",
        "{{ list | batch(n, 'x') | length }}",
        "{{ list | slice(n) | length }}",
        "{{ '%99999999d' | format(1) }}",
        "{{ t * n }}",
        "{{ range(n) | length }}",
    ] {
        assert!(engine.render(source, given.clone(), MAX_TEXT).is_err(), "{source}");
    }
    for (source, made) in [
        ("{{ 'a-b' | replace('-', '+') }}", "a+b"),
        ("{{ 'a\\nb' | indent(2) }}", "a\n  b"),
        ("{{ [1, 2] | join(', ') }}", "1, 2"),
        ("{{ [{'a': 1}, {'a': 2}] | join('+', attribute='a') }}", "1+2"),
        ("{{ [1] | tojson }}", "[1]"),
        ("{{ [1] | tojson(indent=2) }}", "[\n  1\n]"),
        ("{{ [1, 2, 3] | batch(2) | length }}", "2"),
    ] {
        assert_eq!(
            engine.render(source, Value::UNDEFINED, MAX_TEXT).as_deref(),
            Ok(made),
            "{source}"
        );
    }
}

/// The most memory that a process of these tests may have used.
fn assert_little_memory() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|peak| peak.trim().split(' ').next()?.parse::<u64>().ok());
    assert!(kib.unwrap_or(0) < 300 * 1024, "{kib:?} KiB");
}

/// What a template that asks for too much says.
const BOUNDED: [TemplateErrorKind; 3] =
    [TemplateErrorKind::TooLarge, TemplateErrorKind::TooSlow, TemplateErrorKind::TooLong];

#[test]
fn values_cannot_grow_without_bounds() {
    let loops = |body: &str| {
        let rounds = "{% for i in range(6000) %}";
        format!("{{% set ns = namespace(x='ab', y=[1], m={{}}) %}}{rounds}{body}{{% endfor %}}")
    };
    for body in [
        "{% set ns.x = ns.x ~ ns.x %}",
        "{% set ns.x = ns.x + ns.x %}",
        "{% set ns.x = ns.x * 9 %}",
        "{% set ns.y = ns.y + ns.y %}",
        "{% set ns.y = ns.y * 9 %}",
        "{% set ns.y = [ns.y, ns.y] %}",
        "{% set ns.y = [[[[[[[[[[ns.y]]]]]]]]]] %}",
        "{% set ns.m = {'a': ns.m} %}",
        "{% set ns.m = dict(a=ns.m) %}",
        "{% set ns.y = (ns.y, ns.y) %}",
        "{% set ns.y = ns.y | chain(ns.y) | list %}",
        "{% set ns.y = ns.y | batch(3) | list %}",
        "{% set ns.y = [ns.y] | slice(2) | list %}",
        "{% set ns.y = ns.y | zip(ns.y) %}",
        "{% set ns.y = [ns.y] | map('list') | list %}",
        "{% set ns.x = ns.x | replace('a', ns.x) %}",
        "{% set ns.x = [ns.x, ns.x] | join(ns.x) %}",
        "{% set ns.x = ns.x | indent(4000, true) %}",
        "{% set ns.x = [ns.x, ns.x] | tojson %}",
        "{% set ns.x = [ns.x, ns.x] | string %}",
        "{% set ns.x = [ns.x, ns.x] | pprint %}",
        "{% set ns.x = ns.x | escape ~ '<' %}{% set ns.x = ns.x ~ ns.x %}",
        "{% set ns.x %}{{ ns.x }}{{ ns.x }}{% endset %}",
        "{% set ns.x | upper %}{{ ns.x }}{{ ns.x }}{% endset %}",
        "{% set ns.x = ('x' * 4000) | upper %}",
        "{% set ns.x = 'x' * 100000 %}{% set ns.x = ns.x | upper %}",
        "{% set ns.x = range(90000) | list %}",
        "{% set ns.x = ('x' * 90000)[1:] %}",
        "{% set ns.x = ('x' * 90000) | list %}",
        "{% set ns.x = ('x ' * 9000) | split %}",
        "{% set ns.x = 'abc' * 99999999 %}",
    ] {
        let error = render(&loops(body), &json!({})).map_err(|error| error.kind);
        assert!(error.as_ref().is_err_and(|kind| BOUNDED.contains(kind)), "{body}: {error:?}");
    }
    assert_little_memory();
}

#[test]
fn work_ends_in_time() {
    let given =
        json!({"t": "ab ".repeat(300_000), "list": vec!["abc"; 60_000], "deep": {"a": {"b": 1}}});
    let loops = |body: &str| format!("{{% for i in range(90000) %}}{body}{{% endfor %}}");
    for body in [
        "{{ t | length }}",
        "{{ t[-1] }}",
        "{{ t[700000] }}",
        "{{ t == t ~ '' }}",
        "{% if t == 'x' or list == [1] or list != list %}{% endif %}",
        "{% if 'zzz' in t %}{% endif %}",
        "{% if 'zzz' in list %}{% endif %}",
        "{% if list is eq(list) %}{% endif %}",
        "{% if t is lower %}{% endif %}",
        "{{ list | min | length }}",
        "{{ list | select('eq', 'x') | first is defined }}",
        "{{ t[::-1][0] }}",
        "{% if loop.changed(list) %}{% endif %}",
        "{{ (list | sort)[0] }}",
        "{{ list | unique | length }}",
        "{{ list | map('upper') | first }}",
        "{{ t | replace('q', '') | length }}",
        "{{ (list | groupby('x')) | length }}",
    ] {
        let error = render(&loops(body), &given).map_err(|error| error.kind);
        assert!(error.as_ref().is_err_and(|kind| BOUNDED.contains(kind)), "{body}: {error:?}");
    }
    assert_little_memory();
}

#[test]
fn deep_sources_are_refused() {
    let nested =
        |open: &str, close: &str| format!("{}x{}", open.repeat(20_000), close.repeat(20_000));
    for expression in [
        nested("[", "]"),
        nested("(", ")"),
        nested("{'a':", "}"),
        nested("not ", ""),
        nested("-", ""),
        nested("1+", ""),
        nested("1~", ""),
        nested("1 if 1 else ", ""),
        nested("", ".a"),
        nested("", "[0]"),
        nested("", "()"),
        nested("", "|upper"),
        nested("", " is odd"),
        nested("", " and 1"),
        nested("", " < 1"),
        nested("f(", ")"),
        nested("a[", "]"),
        nested("x|f(", ")"),
    ] {
        let shown = &expression[..20];
        let error = engine().expression_variables(&expression).map_err(|error| error.kind);
        assert_eq!(error, Err(TemplateErrorKind::Broken), "{shown}");
        let error = render(&format!("{{{{ {expression} }}}}"), &json!({})).unwrap_err();
        assert_eq!(error.kind, TemplateErrorKind::Broken, "{shown}");
    }
    for statements in [
        nested("{% if 1 %}", "{% endif %}"),
        nested("{% for a in b %}", "{% endfor %}"),
        nested("{% set x %}", "{% endset %}"),
        nested("{% filter upper %}", "{% endfilter %}"),
        nested("{% macro x() %}", "{% endmacro %}"),
        format!("{{% if 0 %}}{}{{% endif %}}", "{% elif 0 %}".repeat(20_000)),
    ] {
        let error = engine().variables(&statements, false).map_err(|error| error.kind);
        assert_eq!(error, Err(TemplateErrorKind::Broken), "{}", &statements[..20]);
    }
    // As deep as it is allowed.
    for (open, close) in [("[", "]"), ("(", ")"), ("not ", ""), ("-", ""), ("", ".a"), ("1 ~ ", "")]
    {
        let nested = format!("{{{{ {}x{} }}}}", open.repeat(60), close.repeat(60));
        let error = render(&nested, &json!({})).map_err(|error| error.kind);
        assert_ne!(error, Err(TemplateErrorKind::Broken), "{nested}");
    }
    let blocks = format!("{}x{}", "{% if 1 %}".repeat(50), "{% endif %}".repeat(50));
    assert_eq!(render(&blocks, &json!({})).as_deref(), Ok("x"));
}

#[test]
fn values_keep_to_their_depth() {
    let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!({"a": inner}));
    let input = |depth: usize| json!({"v": nested(depth)});
    assert!(render("{{ v | tojson }}", &input(63)).is_ok());
    for (source, depth) in
        [("{{ v }}", 64), ("{{ v.a }}", 1_000), ("{{ [v, [v]] }}", 63), ("{{ {'x': [v]} }}", 63)]
    {
        let error = render(source, &input(depth)).map_err(|error| error.kind);
        assert_eq!(error, Err(TemplateErrorKind::TooLarge), "{source}");
    }
    for source in [
        "{% set ns = namespace() %}{% set ns.x = ns %}",
        "{% set ns = namespace() %}{% set ns.x = [ns] %}",
        "{% set ns = namespace() %}{% set ns.x = namespace(y=ns) %}",
        "{% set ns = namespace() %}{% set ns.x = dict(y=ns) %}",
        "{% set ns = namespace() %}{% set ns.x = {'y': ns} %}",
        "{% for x in [1] %}{{ [loop] }}{% endfor %}",
    ] {
        assert!(render(source, &json!({})).is_err(), "{source}");
    }
    let error = render("{{ {[1]: 2} }}", &json!({})).unwrap_err();
    assert!(error.message.contains("key"), "{error}");
}

#[test]
fn statements_and_operators_work_as_before() {
    let given = json!({
        "n": 3, "f": 1.5, "t": "aäb", "list": [3, 1, 2], "m": {"b": 2, "a": [1]},
        "rows": [{"k": "x", "v": 1}, {"k": "y", "v": 2}, {"k": "x", "v": 3}],
    });
    for (source, made) in [
        (
            "{{ n + 1 }} {{ n * f }} {{ n - 1 }} {{ n / 2 }} {{ 7 // 2 }} {{ 2 ** 5 }} {{ -n }}",
            "4 4.5 2 1.5 3 32 -3",
        ),
        (
            "{{ true + 1 }} {{ 2.0 + 1 }} {{ 9007199254740993 + 0 }} {{ 18446744073709551615 + 1 }}",
            "2 3.0 9007199254740993 18446744073709551616",
        ),
        ("{{ t ~ n ~ list }}", "aäb3[3, 1, 2]"),
        (
            "{{ 'ab' * 2 }}{{ 2 * 'ab' }}{{ [1] * 2 }}{{ 'a' + 'b' }}{{ [1] + [2] }}",
            "abababab[1, 1]ab[1, 2]",
        ),
        (
            "{{ t[0] }}{{ t[1:] }}{{ t[::-1] }}{{ t[-2:] }}{{ t[5:] }}{{ list[1:] }}{{ list[::-2] }}",
            "aäbbäaäb[1, 2][2, 3]",
        ),
        ("{{ (1, 2) }}{{ (1,) }}{{ (1, 2, 3)[1:] }}", "(1, 2)(1,)(2, 3)"),
        ("{{ {'b': 1, 'a': [none, true, 'x']} }}", "{'a': [None, True, 'x'], 'b': 1}"),
        ("{{ m.a[0] }}{{ m['b'] }}{{ m | items | map('first') | list }}", "12['a', 'b']"),
        (
            "{% for k, v in m | dictsort %}{{ loop.index }}{{ k }}{{ v }};{% else %}no{% endfor %}",
            "1a[1];2b2;",
        ),
        (
            "{% for x in list if x > 1 %}{{ x }}{% if not loop.last %},{% endif %}{% endfor %}",
            "3,2",
        ),
        (
            "{% for k in rows | groupby('k') %}{{ k.grouper }}{{ k.list | length }}{% endfor %}",
            "x2y1",
        ),
        (
            "{% for k, l in rows | groupby('k') %}{{ k }}{{ l | map(attribute='v') | join('+') }}{% endfor %}",
            "x1+3y2",
        ),
        (
            "{% macro hi(a, b=2) %}<{{ a }}{{ b }}>{% endmacro %}{% macro wrap(a) %}<{{ a }}{{ caller() }}>{% endmacro %}{{ hi(1) }}{{ hi(1, b=3) }}{% call wrap(4) %}c{% endcall %}",
            "<12><13><4c>",
        ),
        (
            "{% set ns = namespace(x=0) %}{% for i in list %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}",
            "6",
        ),
        ("{% set x %}a{{ n }}{% endset %}{% set y | upper %}b{% endset %}{{ x }}{{ y }}", "a3B"),
        (
            "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{% filter upper %}x{{ t }}{% endfilter %}",
            "3XAÄB",
        ),
        ("{% raw %}{{ x }}{% endraw %}{# c #}{%- if n == 3 %} y {%- endif %}", "{{ x }} y"),
        (
            "{% for x in [[1, [2]], [3]] recursive %}{{ loop(x) if x is sequence else x }}{% endfor %}",
            "123",
        ),
        ("{% autoescape true %}{{ '<' }}{% endautoescape %}{{ '<' | e }}{{ '<' }}", "&lt;&lt;<"),
        ("{% block x %}b{% endblock %}{{ self.x() }}", "bb"),
        ("{% if 'a' in t and 4 not in list and 1 < n <= 3 and 'b' in m %}y{% endif %}", "y"),
        (
            "{{ list | sort | first }}{{ list | last }}{{ list | max }}{{ list | sum }}{{ list | reverse | list }}",
            "1236[2, 1, 3]",
        ),
        (
            "{{ [1, 2] | chain([3]) | list }}{{ [1] | zip(['a']) | list }}{{ 'a,b' | split(',') }}",
            "[1, 2, 3][(1, 'a')]['a', 'b']",
        ),
        ("{{ [[1, 2], [], 3, [[4]]] | flatten }}", "[1, 2, 3, [4]]"),
        ("{{ [m, {'b': 3}] | map('omit', 'a') | list }}", "[{'b': 2}, {'b': 3}]"),
        (
            "{{ [1, 1] | unique }}{{ range(2, 6, 2) }}{{ dict(a=1) }}{{ [1, 2, 3] | batch(2) }}",
            "[1][2, 4]{'a': 1}[[1, 2], [3]]",
        ),
        (
            "{{ m | tojson }}{{ m | tojson(indent=1) }}{{ '<' | tojson }}",
            "{\"a\": [1], \"b\": 2}{\n \"a\": [\n  1\n ],\n \"b\": 2\n}\"\\u003c\"",
        ),
        ("{{ range(3) | map('string') | join }}{{ m | length }}{{ 'x' | default('y') }}", "0122x"),
        (
            "{% if n is odd and t is string and nothing is undefined and n is in list %}y{% endif %}",
            "y",
        ),
        (
            "{% do dict(a=1) %}{{ f | round }}{{ 2.567 | round(1) }}{{ '7' | int + 1 }}{{ 'a b' | title }}",
            "2.02.68A B",
        ),
    ] {
        assert_eq!(render(source, &given).as_deref(), Ok(made), "{source}");
    }
    for source in
        ["{% include 'x' %}", "{% import 'x' as y %}", "{% extends 'x' %}", "{{ debug() }}"]
    {
        assert!(render(source, &given).is_err(), "{source}");
    }
}

#[test]
fn variables_are_those_that_are_not_set() {
    let source = "{% set a = b %}{{ a }}{% for c in d %}{{ c ~ loop.index ~ e.f }}{% endfor %}{{ c }}
        {% macro m(x, y=g) %}{{ x ~ y ~ h }}{% endmacro %}{{ m(range(3)) }}{{ j[k:l] | default(o) }}";
    let names = |nested: bool| {
        let names = engine().variables(source, nested).unwrap();
        names.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(false), "b c d e g h j k l o");
    assert_eq!(names(true), "b c d e.f g h j k l o");
}

#[test]
fn expressions_only_means_no_statements() {
    let engine = engine().expressions_only();
    assert_eq!(engine.render("{{ 1 + 1 }}{# x #}!", Value::UNDEFINED, 9).as_deref(), Ok("2!"));
    for source in [
        "{% set x = 1 %}",
        "{%- if 1 %}{% endif %}",
        "a{% do f() %}",
        "{% block x %}{% endblock %}",
    ] {
        let error = engine.render(source, Value::UNDEFINED, 9).map_err(|error| error.kind);
        assert_eq!(error, Err(TemplateErrorKind::Broken), "{source}");
    }
}

/// Expressions of every kind, with sizes far beyond the bounds.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("t".to_owned()),
        Just("list".to_owned()),
        Just("m".to_owned()),
        Just("n".to_owned()),
        Just("ns.x".to_owned()),
        Just("ns".to_owned()),
        Just("'ab'".to_owned()),
        Just("-1".to_owned()),
        Just("1.5".to_owned()),
        Just("none".to_owned()),
        Just("9223372036854775807".to_owned()),
        (0..200_000_000_u64).prop_map(|number| number.to_string()),
    ];
    let filters = [
        "upper",
        "list",
        "string",
        "tojson",
        "tojson(8)",
        "pprint",
        "escape",
        "reverse",
        "length",
        "sort",
        "unique",
        "first",
        "last",
        "min",
        "sum",
        "items",
        "dictsort",
        "lines",
        "split",
        "split('')",
        "trim",
        "title",
        "batch(3)",
        "batch(90000, 'x')",
        "slice(90000)",
        "map('upper')",
        "map('list')",
        "map('replace', 'a', t)",
        "join(t)",
        "replace('', t)",
        "replace('a', t)",
        "indent(9999)",
        "indent(90, true)",
        "groupby('a')",
        "zip(list, list)",
        "chain(list)",
        "flatten",
        "omit('a')",
        "abs",
        "int",
        "float",
        "round(2)",
        "round(-400)",
        "round(400)",
        "default(t)",
        "bool",
        "select('in', list)",
        "attr('a')",
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let operators = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "in", "and", "or"];
        prop_oneof![
            (inner.clone(), proptest::sample::select(operators.to_vec()), inner.clone())
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (inner.clone(), proptest::sample::select(filters.to_vec()))
                .prop_map(|(a, filter)| format!("({a} | {filter})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("{a}[{b}:{c}:{b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}[{b}]")),
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            proptest::collection::vec(inner.clone(), 1..3)
                .prop_map(|items| format!("{{'a': {}}}", items.join(", 'b': "))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("range({a}, {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} if {b} else {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("dict(x={a}, y={b})")),
            inner.clone().prop_map(|a| format!("(not {a})")),
            inner.prop_map(|a| format!("namespace(x={a})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn random_templates_keep_to_their_bounds(one in expression(), two in expression(), rounds in 1..200_u32) {
        let given = json!({"t": "ab\n<".repeat(2_000), "list": vec!["abc"; 2_000], "m": {"a": [1], "b": {"c": 2}}, "n": 7});
        let engine = engine();
        let budget = Budget::new();
        if let Ok(found) = engine.evaluate(&one, value(&given), 65_536, &budget) {
            prop_assert!(is_shallow(&found, MAX_DEPTH + 1));
            prop_assert!(found.to_string().len() <= 8 * 65_536);
        }
        let source = format!(
            "{{% set ns = namespace(x={one}) %}}{{% for i in range({rounds}) %}}{{% set ns.x = {two} %}}{{{{ {two} }}}}{{% endfor %}}"
        );
        let started = Budget::new();
        if let Ok(text) = engine.render(&source, value(&given), 65_536) {
            prop_assert!(text.len() <= 65_536);
        }
        // Ten times the limit: one step ends before the clock is looked at.
        prop_assert!(started.used() < 10 * MAX_CPU, "{source}");
        assert_little_memory();
    }
}
