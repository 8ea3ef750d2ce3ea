use std::time::Instant;

use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::{collection, option};
use serde_json::json;

use super::*;

fn select(path: &str, document: &Value) -> Value {
    let selected = JsonPath::parse(path).unwrap().select(document, usize::MAX).unwrap();
    assert_eq!(selected.total, selected.matches.len());
    Value::Array(selected.matches)
}

#[test]
fn queries_of_the_specification() {
    let store = json!({"store": {
        "book": [
            {"category": "reference", "author": "Nigel Rees", "price": 8.95},
            {"category": "fiction", "author": "Evelyn Waugh", "price": 12.99},
            {"category": "fiction", "author": "Herman Melville", "isbn": "0-553", "price": 8.99},
        ],
        "bicycle": {"color": "red", "price": 399},
    }});
    for (path, expected) in [
        ("$.store.book[*].author", json!(["Nigel Rees", "Evelyn Waugh", "Herman Melville"])),
        ("$..author", json!(["Nigel Rees", "Evelyn Waugh", "Herman Melville"])),
        ("$.store..price", json!([399, 8.95, 12.99, 8.99])),
        ("$..book[2].author", json!(["Herman Melville"])),
        ("$..book[-1]['isbn', \"price\"]", json!(["0-553", 8.99])),
        ("$..book[0,1].price", json!([8.95, 12.99])),
        ("$..book[:2].price", json!([8.95, 12.99])),
        ("$..book[::-2].price", json!([8.99, 8.95])),
        ("$..book[?@.isbn].price", json!([8.99])),
        ("$..book[?@.price<10 && !@.isbn].author", json!(["Nigel Rees"])),
        ("$..book[?@.price == $.store.book[1].price].author", json!(["Evelyn Waugh"])),
        (
            "$..book[?(@.price > 9 || @.isbn) && @.category == 'fiction'].price",
            json!([12.99, 8.99]),
        ),
        ("$..book[?match(@.author, 'N.*s')].price", json!([8.95])),
        ("$..book[?search(@.author, \"[Mm]el\")].price", json!([8.99])),
        ("$..book[?match(@.author, 'Nigel)|(x')]", json!([])),
        ("$..book[?length(@.author) == 12].price", json!([12.99])),
        ("$.store[?count(@.*) == 2].color", json!(["red"])),
        ("$.store[?value(@..color) == 'red'].price", json!([399])),
        ("$ .store\n['bicycle'] [ 'color' ]", json!(["red"])),
        ("$", json!([store])),
        ("$.store.none[*]", json!([])),
    ] {
        assert_eq!(select(path, &store), expected, "{path}");
    }
    let odd =
        json!({"☺": 1, "a'b": 2, "": 3, "\u{1F600}": 4, "a": [null, true, [1, 2], {"b": 1.0}]});
    for (path, expected) in [
        ("$.☺", json!([1])),
        (r"$['a\'b']", json!([2])),
        ("$['']", json!([3])),
        (r#"$["\uD83D\uDE00"]"#, json!([4])),
        ("$.a[?@ == null]", json!([null])),
        ("$.a[?@ != null][1]", json!([2])),
        ("$.a[?@.b == 1]", json!([{"b": 1.0}])),
        ("$.a[?@.x == @.y]", json!([null, true, [1, 2], {"b": 1.0}])),
        ("$.a[?@ == $.a[2]]", json!([[1, 2]])),
        ("$.a[1:10:9007199254740991]", json!([true])),
        ("$.a[1:1:0]", json!([])),
    ] {
        assert_eq!(select(path, &odd), expected, "{path}");
    }
}

#[test]
fn invalid_queries_are_refused() {
    for text in [
        "",
        " $",
        "$ ",
        "a",
        "$.",
        "$..",
        "$...a",
        "$. a",
        "$[",
        "$[]",
        "$[a]",
        "$['a]",
        "$[01]",
        "$[-0]",
        "$[9007199254740992]",
        "$.1a",
        "$[?]",
        "$[?@.a ==]",
        "$[?1]",
        "$[?'a']",
        "$[?!@.a == 1]",
        "$[?(@.a]",
        "$[?@..a == 1]",
        "$[?@.* == 1]",
        "$[?length(@.a)]",
        "$[?count(1) == 1]",
        "$[?match(@.a)]",
        "$[?none(@.a)]",
        "$[?match (@.a, 'b')]",
        "$[?match(@.a, 'b') == true]",
        "$[?@.a === 1]",
        "$[?@.a = 1]",
        "$['\\x']",
        "$['\\uD800']",
        "$[\"\\'\"]",
        "$['\n']",
        "$[?@.a == 01]",
        "$[?@.a == 1.]",
        "$[1,]",
        "$[?@.a & @.b]",
        "$[::1:]",
    ] {
        assert!(JsonPath::parse(text).is_err(), "{text}");
    }
    let deep = format!("${}{}", "[?(@".repeat(40), ")]".repeat(40));
    assert!(JsonPath::parse(&deep).unwrap_err().message.contains("32 levels"));
    let long = format!("${}", ".a".repeat(257));
    assert!(JsonPath::parse(&long).unwrap_err().message.contains("256 segments"));
}

#[test]
fn only_names_and_indices_are_singular() {
    for (path, singular) in [
        ("$", true),
        ("$.a['x,*'][-1]", true),
        ("$.a[0:1]", false),
        ("$..a", false),
        ("$['a','b']", false),
        ("$[?@.a]", false),
        ("$.*", false),
    ] {
        assert_eq!(JsonPath::parse(path).unwrap().is_singular(), singular, "{path}");
    }
}

#[test]
fn expensive_queries_end_with_the_limit_they_exceed() {
    let mut deep = json!({"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"});
    for _ in 0..60 {
        deep = json!([deep, {"b": 1}]);
    }
    let wide: Value = (0..20_000).map(|n| json!({"n": n, "text": format!("{n:040}")})).collect();
    let steps = [
        (format!("${}", "..*".repeat(8)), &deep),
        ("$..*[?count($..*[?count($..*) > 0]) > 0]".to_owned(), &deep),
        ("$[?$[?$[?@.n < 0]]]".to_owned(), &wide),
        ("$[?count($..*) == 1]".to_owned(), &wide),
        ("$[?$ == $]".to_owned(), &wide),
        // Each pattern is another one, so that none is compiled already.
        ("$[?match(@.text, @.text)]".to_owned(), &wide),
        ("$..*[?search(@, '(0|00|000){40}b')]".to_owned(), &wide),
        (format!("$[{}]", vec!["*"; 400].join(",")), &wide),
    ];
    for (path, document) in steps {
        let began = Instant::now();
        let ended = JsonPath::parse(&path).unwrap().select(document, 100);
        assert!(
            matches!(ended, Err(PathLimit::Steps | PathLimit::Time)),
            "{path}: {:?}",
            ended.map(|selected| selected.total)
        );
        // Two seconds are the limit; a busy machine may look at the clock late.
        assert!(began.elapsed().as_secs() < 20, "{path}: {:?}", began.elapsed());
    }
    // Few nodes, and copies of the whole document for each.
    let large = json!({"a": {"b": {"c": "x".repeat(2 << 20)}}});
    let copies = JsonPath::parse(&format!("$[{}]", ["'a'"; 10].join(","))).unwrap();
    assert_eq!(copies.select(&large, 100), Err(PathLimit::Size));
    assert_eq!(copies.select(&large, 1).unwrap().total, 10);
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..9_i32).prop_map(Value::from),
        "[ab]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn queries(root: &'static str) -> impl Strategy<Value = String> {
    let index = || option::of(-4..5_i32).prop_map(|n| n.map_or(String::new(), |n| n.to_string()));
    let step = option::of(-3..4_i32).prop_map(|n| n.map_or(String::new(), |n| format!(":{n}")));
    let selector = prop_oneof![
        Just("*".to_owned()),
        "'[abc]'",
        (-4..5_i32).prop_map(|n| n.to_string()),
        (index(), index(), step).prop_map(|(start, end, step)| format!("{start}:{end}{step}")),
    ];
    let filter = prop_oneof![
        "[@$]\\.[abc]( )?(==|!=)( )?(1|'a'|null|true|@\\.b)",
        "@(\\.[abc])?(<|>)(2|'ab')",
        "!?@(\\.\\.[abc]|\\.\\*|\\[1\\])",
        "!\\(@\\.a( )?\\|\\|( )?@\\.b\\)",
        "@\\.[ab] (&&|\\|\\|) (@\\.c && \\$\\.a|length\\(@\\) (==|<) 2|count\\(@\\.\\*\\) > 1)",
        "(match|search)\\(@, ('a\\.\\?'|\"a\\|b\"|\\$\\.a)\\)",
        "value\\(@\\.\\.[ab]\\) == 1",
    ];
    let segment = prop_oneof![
        "\\.\\.?([abc]|\\*)",
        (any::<bool>(), collection::vec(selector, 1..3)).prop_map(|(deep, all)| format!(
            "{}[{}]",
            if deep { ".." } else { "" },
            all.join(", ")
        )),
        filter.prop_map(|filter| format!("[?{filter}]")),
    ];
    collection::vec(segment, 0..4).prop_map(move |all| format!("{root}{}", all.concat()))
}

proptest! {
    /// Another implementation finds the same, in the same order.
    #[test]
    fn matches_are_those_of_the_reference(document in documents(), path in queries("$")) {
        let reference = serde_json_path::JsonPath::parse(&path).unwrap();
        let expected: Vec<_> = reference.query(&document).all().into_iter().cloned().collect();
        assert_eq!(select(&path, &document), Value::Array(expected), "{path}");
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>(), path in "\\$[\\[\\].?@$*:,'\"a1!=<>&|() \\\\-]{0,30}") {
        let _ = JsonPath::parse(&text);
        let ours = JsonPath::parse(&path);
        let reference = serde_json_path::JsonPath::parse(&path);
        assert_eq!(ours.is_ok(), reference.is_ok(), "{path}: {ours:?} {reference:?}");
    }
}
