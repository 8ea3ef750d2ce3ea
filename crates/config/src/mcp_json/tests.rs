#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::{Imported, parse};

fn imported(file: serde_json::Value) -> Imported {
    parse(&file.to_string()).unwrap()
}

#[test]
fn files_of_common_clients_are_imported() {
    let claude = imported(json!({"globalShortcut": "x", "mcpServers": {
        "Brave Search": {"command": "npx", "args": ["-y", "x"], "env": {"KEY": "${BRAVE}", "MODE": "a"},
            "alwaysAllow": ["a"]},
    }}));
    let server = &claude.servers["Brave-Search"];
    assert_eq!(server.command.as_deref(), Some("npx"));
    assert_eq!(server.args, ["-y", "x"]);
    assert_eq!(
        serde_json::to_value(&server.env).unwrap(),
        json!({"KEY": {"env": "BRAVE"}, "MODE": "a"})
    );
    assert_eq!(
        claude.notes,
        ["`Brave Search` is named `Brave-Search` here", "Brave Search: `alwaysAllow` is left out"]
    );

    let code = imported(json!({"servers": {"gh": {"type": "http", "url": "https://x/mcp",
        "headers": {"Authorization": "${env:TOKEN}"}}}, "inputs": []}));
    assert_eq!(code.servers["gh"].url.as_deref(), Some("https://x/mcp"));
    assert_eq!(
        serde_json::to_value(&code.servers["gh"].headers).unwrap(),
        json!({"Authorization": {"env": "TOKEN"}})
    );
    assert!(code.notes.is_empty(), "{:?}", code.notes);
}

#[test]
fn entries_that_cannot_be_imported_are_reported() {
    let faults = |file: serde_json::Value| parse(&file.to_string()).unwrap_err().join("\n");
    let one = |entry: serde_json::Value| faults(json!({"mcpServers": {"a": entry}}));
    assert!(one(json!({"type": "sse", "url": "http://x/sse"})).contains("a: the old SSE"));
    assert!(one(json!({"command": "x", "args": ["${HOME}/a"]})).contains("`${HOME}/a`"));
    let mixed = one(json!({"url": "http://x", "headers": {"Authorization": "Bearer ${T}"}}));
    assert!(mixed.contains("headers.Authorization"), "{mixed}");
    assert!(
        one(json!({"url": "http://x", "headers": {"A": "${input:key}"}})).contains("headers.A")
    );
    assert!(one(json!({"command": 5})).starts_with("a: "));
    assert!(one(json!("npx")).starts_with("a: "));
    assert!(faults(json!({})).contains("neither"));
    assert!(faults(json!([])).contains("not JSON of servers"));
    let twice = faults(json!({"mcpServers": {"a b": {"command": "x"}, "a-b": {"command": "y"}}}));
    assert!(twice.contains("`a-b`"), "{twice}");
    assert!(parse("{").is_err());
}
