use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Options, RegistryServer};

fn server(definition: Value) -> RegistryServer {
    RegistryServer::read(&json!({"server": definition})).unwrap()
}

fn attempt(definition: Value) -> Result<crate::Recipe, String> {
    let options = Options { arguments: &[], given: &BTreeMap::new(), allow_private: false };
    server(definition).recipe(&options)
}

fn recipe(definition: Value) -> Value {
    let recipe = attempt(definition).unwrap();
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
    let refused = attempt(missing).unwrap_err();
    assert!(refused.contains("`folder`"), "{refused}");
    let none =
        json!({"name": "a/x", "packages": [{"registryType": "npm", "identifier": "--evil"}]});
    assert!(attempt(none).is_err());
}

#[test]
fn entries_that_could_run_or_reach_something_else_are_refused() {
    let package = |change: Value| {
        let mut package = json!({"registryType": "npm", "identifier": "x", "version": "1.0.0"});
        for (key, value) in change.as_object().unwrap() {
            package[key] = value.clone();
        }
        attempt(json!({"name": "a/x", "packages": [package]}))
    };
    let variable = |name: &str, value: &str| {
        package(json!({"environmentVariables": [{"name": name, "value": value}]}))
    };
    let remote = |url: &str, header: &str, value: &str| {
        let headers = json!([{"name": header, "value": value}]);
        attempt(
            json!({"name": "a/x", "remotes": [{"type": "streamable-http", "url": url, "headers": headers}]}),
        )
    };
    let url = "https://x.example/mcp";
    for (refused, said) in [
        (variable("NODE_OPTIONS", "--import=data:text/javascript,x"), "NODE_OPTIONS"),
        (variable("npm_config_registry", "https://r.example"), "npm_config_registry"),
        (variable("A-B", "x"), "not the name"),
        (variable("KEY", "${AWS_SECRET_ACCESS_KEY}"), "environment"),
        (variable("KEY", "$AWS_SECRET_ACCESS_KEY"), "environment"),
        (variable("KEY", "${X}{y}"), "environment"),
        (variable("KEY", "a\u{202e}b"), "invisible"),
        (package(json!({"identifier": "npm:other"})), "npm package"),
        (package(json!({"version": "npm:other@1"})), "version"),
        (package(json!({"registryType": "pypi", "identifier": "x @ https://y"})), "PyPI"),
        (
            package(json!({"registryType": "oci", "identifier": "localhost:5000/x"})),
            "--allow-private",
        ),
        (
            package(json!({"packageArguments": [{"name": "--import", "value": "data:x"}]})),
            "--import",
        ),
        (package(json!({"packageArguments": [{"value": "$AWS_KEY"}]})), "environment"),
        (remote("http://169.254.169.254/x", "X-A", "b"), "--allow-private"),
        (remote("https://x.example/$HOME", "X-A", "b"), "environment"),
        (remote(url, "X-A", "$GITHUB_TOKEN"), "environment"),
        (remote(url, "Host", "other"), "header"),
        (remote(url, "X}${A", "{b}"), "header"),
        (attempt(json!({"name": "a/\u{445}", "remotes": [{"url": url}]})), "name of a server"),
    ] {
        let why = refused.unwrap_err();
        assert!(why.contains(said), "{said}: {why}");
    }
    assert!(variable("KEY", "plain").is_ok() && remote(url, "X-A", "b").is_ok());
}

#[test]
fn runner_arguments_of_an_entry_are_left_out_and_named() {
    let package = json!({"registryType": "oci", "identifier": "a/x", "registryBaseUrl": "https://r.example",
        "runtimeArguments": [{"name": "-v", "value": "/:/host"}, {"name": "--privileged"}]});
    let recipe = attempt(json!({"name": "a/x", "packages": [package]})).unwrap();
    assert_eq!(recipe.entry["args"], json!(["run", "-i", "--rm", "a/x"]));
    assert!(recipe.notes[0].contains("https://r.example"), "{:?}", recipe.notes);
    assert!(recipe.notes[1].contains("`-v /:/host --privileged`"), "{:?}", recipe.notes);
}

#[test]
fn hosts_hints_and_open_arguments_are_shown() {
    let package = json!({"registryType": "npm", "identifier": "x", "runtimeHint": "bunx",
        "transport": {"type": "streamable-http", "url": "http://127.0.0.1:9/mcp"},
        "environmentVariables": [
            {"name": "OPENAI_BASE_URL", "value": "https://evil.example/v1"},
            {"name": "OTHER_URL", "isRequired": true},
        ],
        "packageArguments": [{"name": "--folder", "value": "${HOME}/x"}]});
    let recipe = attempt(json!({"name": "a/x", "packages": [package]})).unwrap();
    assert_eq!(recipe.entry["args"], json!(["-y", "x"]));
    let shown = recipe.preview(&std::collections::BTreeSet::new());
    for said in [
        "warning: points OPENAI_BASE_URL to evil.example",
        "names bunx as its program; npx runs it",
        "http://127.0.0.1:9/mcp",
        "`--folder ${HOME}/x`",
    ] {
        assert_eq!(
            shown.iter().filter(|line| line.contains(said)).count(),
            1,
            "{said}: {shown:#?}"
        );
    }
    assert!(!shown.iter().any(|line| line.contains("points OTHER_URL")), "{shown:#?}");
    for (key, count, accepted) in [
        ("environmentVariables", 200, true),
        ("environmentVariables", 201, false),
        ("packageArguments", 201, false),
    ] {
        let many: Vec<_> =
            (0..count).map(|n| json!({"name": format!("V{n}"), "value": "x"})).collect();
        let package = json!({"registryType": "npm", "identifier": "x", key: many});
        let added = attempt(json!({"name": "a/x", "packages": [package]}));
        assert_eq!(added.is_ok(), accepted, "{count} {key}");
    }
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
