//! The schemas of the research flow are files that toolpacks refer to: they change only on purpose, and break no caller
//! without a new major.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use testkit::{Gateway, mcp};

/// The folder of the schemas.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schemas/tools")
}

fn is_of_research_flow(name: &str) -> bool {
    let steps =
        ["citations.", "docs.", "exports.", "hitl.", "planner.", "rerank.", "research.", "vector."];
    name == "web.search.query" || steps.iter().any(|step| name.starts_with(step))
}

/// Compares with the committed copies; `UPDATE_SCHEMAS=1` updates them, unless a change breaks callers.
#[tokio::test]
async fn schemas_of_the_research_flow_are_as_committed() {
    let gateway = Gateway::start().await;
    let discovered = gateway.get("/mcp/discover").await;
    assert_eq!(discovered.status, 200);
    let versions: BTreeMap<String, String> = discovered.body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (text(&tool["name"]), text(&tool["version"])))
        .filter(|(name, _)| is_of_research_flow(name))
        .collect();
    assert_eq!(versions.len(), 16, "{versions:?}");
    let listed = mcp(&gateway.url("/mcp"), "tools/list", json!({})).await;
    let listed = listed["result"]["tools"].as_array().unwrap();
    let mut stale = Vec::new();
    for (name, version) in &versions {
        let wire = name.replace('.', "_");
        let tool = listed.iter().find(|tool| tool["name"] == wire.as_str()).unwrap();
        for (side, field) in [("input", "inputSchema"), ("output", "outputSchema")] {
            let file = folder().join(format!("{wire}.{side}.schema.json"));
            let mut now = tool[field].as_object().unwrap().clone();
            now.insert("$comment".to_owned(), format!("{name} {version}").into());
            let before: Option<Map<String, Value>> = std::fs::read_to_string(&file)
                .ok()
                .map(|text| serde_json::from_str(&text).unwrap());
            if before.as_ref() == Some(&now) {
                continue;
            }
            if let Some(before) = &before {
                let (old, new) = (Value::Object(before.clone()), Value::Object(now.clone()));
                let same_major = major(&old) == major(&new);
                let broken = breaks(&old, &new, side == "input", "");
                assert!(
                    !same_major || broken.is_empty(),
                    "{name} {side}: {broken:?} needs a new major"
                );
            }
            if std::env::var_os("UPDATE_SCHEMAS").is_some() {
                std::fs::create_dir_all(folder()).unwrap();
                let text = serde_json::to_string_pretty(&now).unwrap() + "\n";
                std::fs::write(&file, text).unwrap();
            } else {
                stale.push(file);
            }
        }
    }
    assert!(stale.is_empty(), "run this test once with UPDATE_SCHEMAS=1: {stale:?}");
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn major(schema: &Value) -> Option<&str> {
    schema["$comment"].as_str()?.rsplit(' ').next()?.split('.').next()
}

/// What callers of the old schema would stumble over: of inputs, properties that are gone or newly required; of outputs,
/// properties that are gone or no longer certain; of both, other types.
fn breaks(old: &Value, new: &Value, input: bool, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    if !old["type"].is_null() && old["type"] != new["type"] {
        found.push(format!("{path}: another type"));
    }
    let required = |schema: &Value| -> Vec<String> {
        schema["required"].as_array().into_iter().flatten().map(text).collect()
    };
    let (before, now) = (required(old), required(new));
    let (stricter, laxer) = if input { (&now, &before) } else { (&before, &now) };
    found.extend(
        stricter.iter().filter(|name| !laxer.contains(name)).map(|name| format!("{path}/{name}")),
    );
    for (name, property) in old["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        match new["properties"].get(name) {
            Some(other) => found.extend(breaks(property, other, input, &path)),
            None => found.push(format!("{path}: gone")),
        }
    }
    if old["items"].is_object() && new["items"].is_object() {
        found.extend(breaks(&old["items"], &new["items"], input, &format!("{path}/items")));
    }
    found
}

#[test]
fn breaking_changes_are_found() {
    let old = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}}, "required": ["a"]});
    assert_eq!(breaks(&old, &old, true, ""), Vec::<String>::new());
    let more = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}, "c": {}}, "required": ["a"]});
    assert_eq!(breaks(&old, &more, true, ""), Vec::<String>::new());
    let gone =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    assert_eq!(breaks(&old, &gone, true, ""), ["/b: gone"]);
    let required = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "string"}}}, "required": ["a", "b"]});
    assert_eq!(breaks(&old, &required, true, ""), ["/b", "/b/items: another type"]);
    assert_eq!(breaks(&old, &required, false, ""), ["/b/items: another type"]);
}

/// The source's own example of a toolpack, with an answer of its own.
const PACK: &str = "id: vector.query.search
version: 1.1.0
deterministic: true
timeoutMs: 30000
limits: { maxInputBytes: 65536, maxOutputBytes: 262144 }
description: Searches another index.
inputSchema: { type: object, properties: { q: { type: string } } }
outputSchema: { type: object }
execution: { kind: cli, cmd: [echo, '{\"from\": \"the pack\"}'] }
onSuccess: { path: \"$\" }
";

#[tokio::test]
async fn a_toolpack_replaces_a_tool_of_the_flow() {
    let gateway = Gateway::with().file("tools/search.tool.yaml", PACK).start().await;
    for name in ["vector.query.search", "mcp.tool:vector.query"] {
        let answer = gateway.call(name, &json!({"q": "heat"})).await;
        assert_eq!(answer.body["data"], json!({"from": "the pack"}), "{name}");
        assert_eq!(answer.body["meta"]["version"], "1.1.0");
    }
    let listed = mcp(&gateway.url("/mcp"), "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let named: Vec<_> = tools.iter().filter(|tool| tool["name"] == "vector_query_search").collect();
    assert_eq!(named.len(), 1);
    assert_eq!(named[0]["description"], "Searches another index.");
    assert!(tools.iter().any(|tool| tool["name"] == "vector_index_add"));
}
