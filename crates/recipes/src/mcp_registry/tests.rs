#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::RegistryServer;

fn server(definition: Value) -> RegistryServer {
    RegistryServer::read(&json!({"server": definition})).unwrap()
}

fn recipe(definition: Value) -> Value {
    let recipe = server(definition).recipe(&[], &BTreeMap::new()).unwrap();
    json!({"entry": recipe.entry, "inputs": recipe.inputs})
}

#[test]
fn a_remote_is_preferred_and_its_secrets_become_inputs() {
    let remotes = json!([
        {"type": "sse", "url": "https://x.example/sse"},
        {"type": "streamable-http", "url": "https://x.example/mcp", "headers": [
            {"name": "Authorization", "value": "Bearer {token}", "isSecret": true, "isRequired": true, "description": "a key"},
            {"name": "X-Mode", "value": "fast"},
            {"name": "X-Other"},
        ]},
    ]);
    assert_eq!(
        recipe(
            json!({"name": "io.example/x", "remotes": remotes, "packages": [{"registryType": "npm", "identifier": "x"}]})
        ),
        json!({
            "entry": {"url": "https://x.example/mcp", "headers": {
                "Authorization": "Bearer ${input:x-Authorization}", "X-Mode": "fast",
            }},
            "inputs": [["x-Authorization", "a key"]],
        })
    );
}

#[test]
fn packages_become_commands() {
    let npm = json!({"name": "a/x", "packages": [{
        "registryType": "npm", "identifier": "@a/x", "version": "1.2.3",
        "packageArguments": [{"type": "named", "name": "--mode", "value": "safe"}],
        "environmentVariables": [{"name": "KEY", "isRequired": true, "isSecret": true}, {"name": "LEVEL", "default": "info"}],
    }]});
    assert_eq!(
        recipe(npm)["entry"],
        json!({"command": "npx", "args": ["-y", "@a/x@1.2.3", "--mode", "safe"], "env": {"KEY": "${input:KEY}", "LEVEL": "info"}})
    );
    let oci = json!({"name": "a/x", "packages": [
        {"registryType": "mcpb", "identifier": "https://x"},
        {"registryType": "oci", "identifier": "ghcr.io/a/x", "version": "2", "environmentVariables": [{"name": "KEY", "isRequired": true}]},
    ]});
    assert_eq!(
        recipe(oci)["entry"]["args"],
        json!(["run", "-i", "--rm", "-e", "KEY", "ghcr.io/a/x:2"])
    );
    let missing = json!({"name": "a/x", "packages": [{"registryType": "pypi", "identifier": "x",
        "packageArguments": [{"type": "positional", "valueHint": "folder", "isRequired": true}]}]});
    let refused = server(missing).recipe(&[], &BTreeMap::new()).unwrap_err();
    assert!(refused.contains("`folder`"), "{refused}");
    let none =
        json!({"name": "a/x", "packages": [{"registryType": "npm", "identifier": "--evil"}]});
    assert!(server(none).recipe(&[], &BTreeMap::new()).is_err());
}

#[test]
fn old_versions_and_removed_servers_are_passed_over() {
    let meta = |meta: Value| {
        let row = json!({"server": {"name": "x"}, "_meta": {"io.modelcontextprotocol.registry/official": meta}});
        RegistryServer::read(&row).is_some()
    };
    assert!(meta(json!({"isLatest": true, "status": "active"})));
    assert!(!meta(json!({"isLatest": false})));
    assert!(!meta(json!({"status": "deleted"})));
}
