use std::collections::BTreeSet;

use proto::time::timestamp_name;
use serde_json::{Map, Value, json};
use testkit::Gateway;

use crate::book::pages::root;

/// How the names of durations end, without their unit and in lower case.
const DURATIONS: [&str; 12] = [
    "age", "backoff", "bucket", "duration", "every", "in", "lifetime", "p50", "p95", "timeout",
    "ttl", "wait",
];

/// Collects the properties of every object that a schema describes.
fn objects(schema: &Value, found: &mut Vec<Map<String, Value>>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| objects(item, found)),
        Value::Object(members) => {
            members.values().for_each(|member| objects(member, found));
            found.extend(members.get("properties").and_then(Value::as_object).cloned());
        }
        _ => {}
    }
}

/// The objects in requests and answers of all routes but those of tools, and the parameters of each route.
fn described(mut document: Value) -> Vec<Map<String, Value>> {
    let mut found = Vec::new();
    let mut of_tools = BTreeSet::new();
    let Value::Object(paths) = document["paths"].take() else { panic!("paths") };
    for (path, item) in &paths {
        for operation in item.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            if path.starts_with("/mcp/tool/") {
                of_tools.extend([format!("{id}.input"), format!("{id}.output")]);
                continue;
            }
            objects(operation, &mut found);
            let parameters = operation["parameters"].as_array().unwrap().iter();
            let named = |parameter: &Value| {
                let name = parameter["name"].as_str().unwrap().to_owned();
                (parameter["in"] == "query").then(|| (name, parameter["schema"].clone()))
            };
            found.push(parameters.filter_map(named).collect());
        }
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        if !of_tools.contains(name) {
            objects(schema, &mut found);
        }
    }
    found
}

fn is_number(schema: &Value) -> bool {
    let is_type = |name: &str| {
        schema["type"] == name
            || schema["type"].as_array().is_some_and(|types| types.contains(&json!(name)))
    };
    is_type("integer") || is_type("number")
}

#[tokio::test]
async fn every_time_is_rfc_3339_under_a_name_that_ends_in_at() {
    let gateway = Gateway::start().await;
    let mut deprecated = BTreeSet::new();
    for properties in described(gateway.get("/openapi.json").await.body) {
        for (name, schema) in &properties {
            let is_time = schema["format"] == "date-time";
            assert!(is_time || !name.ends_with("_at"), "{name}: {schema}");
            assert!(!is_time || name == "at" || name.ends_with("_at"), "{name}: {schema}");
            if let Some(at) = timestamp_name(name) {
                assert_eq!(schema["deprecated"], true, "{name}: {schema}");
                assert_eq!(properties[&at]["format"], "date-time", "{name}");
                deprecated.insert(name.clone());
            } else if let Some(stem) = name.to_lowercase().strip_suffix("ms") {
                let stem = stem.trim_end_matches('_');
                let is_duration = DURATIONS.iter().any(|ending| stem.ends_with(ending));
                assert!(is_duration || !is_number(schema), "{name}: {schema}");
            }
        }
    }
    // The page's list is closed: a new field is a `proto::time::Time` whose name ends in `_at`.
    let page = std::fs::read_to_string(root().join("docs/src/reference/http.md")).unwrap();
    deprecated.retain(|name| !page.contains(&format!("`{name}`")));
    assert!(deprecated.is_empty(), "not among the deprecated names: {deprecated:?}");
}

#[tokio::test]
async fn queries_take_times() {
    let gateway = Gateway::start().await;
    gateway.call("demo.echo", &json!({"message": "hi"})).await;
    let count = async |query: &str| {
        let answer = gateway.get(&format!("/v1/calls?{query}")).await;
        (answer.status, answer.body["calls"].as_array().map_or(0, Vec::len))
    };
    for query in ["since_at=2999-01-01T00:00:00Z", "until_at=2000-01-01T00:00:00%2B02:00"] {
        assert_eq!(count(query).await, (200, 0), "{query}");
    }
    for query in
        ["since_at=2000-01-01T00:00:00Z", "since_unix_ms=5", "until_at=2999-01-01T00:00:00Z"]
    {
        testkit::eventually("the call is listed", || async {
            Some(count(query).await).filter(|found| *found == (200, 1))
        })
        .await;
    }
    for query in ["since_at=yesterday", "since_at=2000-01-01T00:00:00Z&since_unix_ms=5"] {
        assert_eq!(count(query).await.0, 400, "{query}");
    }
}
