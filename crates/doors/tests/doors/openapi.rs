use std::collections::HashSet;

use serde_json::{Value, json};

use crate::support::gateway;

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(target)) = map.get("$ref") {
                found.push(target);
            }
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[tokio::test]
async fn the_document_is_valid_and_lists_every_tool() {
    let gateway = gateway().await;
    let document = gateway.get("/openapi.json").await.json();
    assert_eq!(document["openapi"], json!("3.1.0"));
    for field in ["title", "version"] {
        assert!(document["info"][field].is_string());
    }

    let mut targets = Vec::new();
    references(&document, &mut targets);
    assert!(targets.len() > 20);
    for target in targets {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{target}");
    }

    let mut operations = HashSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        assert!(path.starts_with('/'));
        let expected: HashSet<_> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        for (method, operation) in item.as_object().unwrap() {
            assert!(["get", "post", "patch", "delete"].contains(&method.as_str()));
            let id = operation["operationId"].as_str().unwrap();
            assert!(operations.insert(id.to_owned()), "{id} twice");
            let mut in_path = HashSet::new();
            for parameter in operation["parameters"].as_array().unwrap() {
                assert!(parameter["schema"].is_object());
                if parameter["in"] == "path" {
                    assert_eq!(parameter["required"], json!(true));
                    in_path.insert(parameter["name"].as_str().unwrap());
                }
            }
            assert_eq!(in_path, expected, "{path}");
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.values().all(|response| response["description"].is_string()));
        }
    }
    for key in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(key.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c)), "{key}");
    }
    let snapshot = gateway.strip.catalog().snapshot();
    assert!(snapshot.entries().iter().all(|entry| operations.contains(&entry.wire)));
    let paths = &document["paths"];
    assert_eq!(paths["/mcp/tool/test.echo@1"]["post"]["deprecated"], json!(true));
    assert!(paths["/mcp/tool/test.echo"]["post"].get("deprecated").is_none());
    assert_eq!(
        document["components"]["schemas"]["test_list.output"]["items"]["$ref"],
        json!("#/components/schemas/test_list.output/$defs/n")
    );
}

#[tokio::test]
async fn every_listed_tool_path_can_be_called() {
    let gateway = gateway().await;
    let document = gateway.get("/openapi.json").await.json();
    let paths = document["paths"].as_object().unwrap();
    let tools = paths.keys().filter(|path| path.starts_with("/mcp/tool/") && !path.contains('{'));
    for path in tools.filter(|path| !path.contains("test.slow")) {
        let reply = gateway.post(path, "{}").await.json();
        assert_ne!(reply["meta"]["version"], json!(""), "{path}");
    }
}
