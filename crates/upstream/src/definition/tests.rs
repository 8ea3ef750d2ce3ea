use std::time::Duration;

use server_entry::ServerConfig;

use super::*;

fn read(tool: &Value) -> Result<Option<Definition>, String> {
    Definition::read("s", tool, Selection(&ServerConfig::default()))
}

#[test]
fn a_definition_keeps_the_servers_fields() {
    let tool = json!({"name": "read.file/v1", "title": "Read", "description": "Reads.",
        "inputSchema": {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}}},
        "outputSchema": {"type": "object"},
        "annotations": {"title": "T", "readOnlyHint": true, "idempotentHint": "yes", "new": 1}});
    let config = ServerConfig { timeout: Some(Duration::from_secs(3)), ..ServerConfig::default() };
    let definition = Definition::read("s", &tool, Selection(&config)).unwrap().unwrap();
    let descriptor = &definition.descriptor;
    assert_eq!(descriptor.id.as_str(), "s:read.file/v1");
    assert_eq!(definition.remote, "read.file/v1");
    assert_eq!(descriptor.title.as_deref(), Some("Read"));
    assert_eq!(descriptor.output_schema, Some(json!({"type": "object"})));
    assert_eq!(descriptor.annotations.read_only_hint, Some(true));
    assert_eq!(descriptor.annotations.idempotent_hint, None);
    assert_eq!(descriptor.limits.timeout, Some(Duration::from_secs(3)));
    assert!(definition.repeatable && !descriptor.deterministic);
    let mut headers: Vec<_> =
        definition.header_params.iter().map(|p| (p.path.join("."), p.header.as_str())).collect();
    headers.sort();
    assert_eq!(
        headers,
        [("deep.n".to_owned(), "mcp-param-n"), ("region".to_owned(), "mcp-param-region")]
    );
}

#[test]
fn a_tool_that_cannot_be_named_or_read_is_refused() {
    let marked = |mark: Value, kind: &str| json!({"name": "t", "inputSchema": {"properties": {"a": {"type": kind, "x-mcp-header": mark}}}});
    for (tool, part) in [
        (json!({}), "no name"),
        (json!({"name": 5}), "no name"),
        (json!("x"), "no name"),
        (json!({"name": ""}), "empty"),
        (json!({"name": "two words"}), "character"),
        (json!({"name": "a@1"}), "character"),
        (json!({"name": "é"}), "character"),
        (json!({"name": "n".repeat(129)}), "longer"),
        (json!({"name": "n".repeat(1_000_000)}), "bytes"),
        (json!({"name": "t", "description": "d".repeat(200_000)}), "bytes"),
        (json!({"name": "t", "inputSchema": "x"}), "input schema"),
        (json!({"name": "t", "outputSchema": []}), "output schema"),
        (marked(json!(""), "string"), "x-mcp-header"),
        (marked(json!("a b"), "string"), "x-mcp-header"),
        (marked(json!("A"), "object"), "x-mcp-header"),
    ] {
        let reason = read(&tool).unwrap_err();
        assert!(reason.contains(part), "{reason}");
        assert!(reason.len() < 500, "{} characters", reason.len());
    }
}

#[test]
fn a_tool_says_nothing_about_repeating_unless_it_does() {
    let plain = read(&json!({"name": "t"})).unwrap().unwrap();
    assert!(!plain.repeatable);
    assert_eq!(plain.descriptor.input_schema, json!({"type": "object"}));
    let config = ServerConfig { deterministic: vec!["t*".to_owned()], ..ServerConfig::default() };
    let promised =
        Definition::read("s", &json!({"name": "t"}), Selection(&config)).unwrap().unwrap();
    assert!(promised.repeatable && promised.descriptor.deterministic);
}
