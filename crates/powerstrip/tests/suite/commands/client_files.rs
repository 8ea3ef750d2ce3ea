//! `import`, `connect --move` and `disconnect` of one client's file: nothing is stored by a look, twice or for good.

use serde_json::{Value, json};

use crate::commands::project::Project;

const SECRET: &str = "sk-live-0123456789abcdef";

fn cursor() -> String {
    let server = json!({"command": "python3", "args": ["server.py"], "env": {"API_KEY": SECRET}});
    json!({"mcpServers": {"one": server, "two": server, "plain": {"command": "python3"}}})
        .to_string()
}

fn file(project: &Project, name: &str) -> Value {
    serde_json::from_str(&project.read(name)).unwrap()
}

#[test]
fn a_preview_of_an_import_stores_nothing() {
    let project = Project::new();
    project.write("mcp.json", &cursor());
    for _ in 0..2 {
        let shown = project.run(&["import", "mcp.json"]);
        assert!(shown.ok().contains("secret: API_KEY"), "{shown:?}");
        assert!(!shown.stdout.contains(SECRET) && !shown.stderr.contains(SECRET), "{shown:?}");
        assert!(shown.stderr.contains("with --write, the secret API_KEY"), "{shown:?}");
        assert!(!project.path().join(".powerstrip").exists());
    }
}

#[test]
fn equal_secrets_are_stored_once_and_unused_ones_removed() {
    let project = Project::new();
    project.write("mcp.json", &cursor());
    project.run_with(&["secret", "set", "old_name"], SECRET, &[]).ok();
    project.run_with(&["secret", "set", "unused"], "another-value-1", &[]).ok();
    project.run(&["import", "mcp.json", "--write"]).ok();
    let config = project.read("powerstrip.yaml");
    assert_eq!(config.matches("secret: old_name").count(), 2, "{config}");
    let listed = project.run(&["secret", "ls", "--json"]).json_of(0);
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|secret| &secret["name"]).collect();
    assert_eq!(names, ["old_name", "unused"], "{listed}");
    assert!(project.run(&["secret", "ls"]).ok().contains("unused"));
    project.run(&["secret", "prune"]).failed(2);
    assert_eq!(
        project.run(&["secret", "prune", "--yes", "--json"]).json_of(0)["removed"],
        json!(["unused"])
    );
    assert_eq!(project.run(&["secret", "prune", "--json"]).json_of(0)["removed"], json!([]));
}

#[test]
fn secrets_of_an_entry_that_is_wrong_are_not_pruned() {
    let project = Project::new();
    let entry = "servers:\n  crm: { comand: python3, env: { KEY: { secret: crm_key } } }\n";
    project.write("powerstrip.yaml", entry);
    project.run_with(&["secret", "set", "crm_key"], SECRET, &[]).ok();
    project.run_with(&["secret", "set", "other"], "another-value-1", &[]).ok();
    let listed = project.run(&["secret", "ls"]);
    let uses: Vec<_> = listed.ok().lines().filter_map(|row| row.split_once("  ")).collect();
    assert!(uses[1].0 == "crm_key" && uses[1].1.ends_with("by the config"), "{listed:?}");
    assert!(uses[2].1.ends_with("unknown: entry `crm` cannot be read"), "{listed:?}");
    let pruned = project.run(&["secret", "prune", "--yes"]);
    assert!(pruned.ok().contains("nothing is removed"), "{pruned:?}");
    assert!(pruned.stderr.contains("entry `crm` cannot be read"), "{pruned:?}");
    assert_eq!(
        project.run(&["secret", "prune", "--yes", "--json"]).json_of(0)["removed"],
        json!([])
    );
    std::fs::rename(project.path().join("powerstrip.yaml"), project.path().join("other.yaml"))
        .unwrap();
    let removed = project.run(&["secret", "prune", "--yes", "--json"]).json_of(0);
    assert_eq!(removed["removed"], json!([]), "there is no config file");
    project.write("powerstrip.yaml", "servers: {}\n");
    let removed = project.run(&["secret", "prune", "--yes", "--json"]).json_of(0);
    assert_eq!(removed["removed"], json!(["crm_key", "other"]));
}

#[test]
fn servers_are_moved_once_and_come_back() {
    let project = Project::new();
    let before = json!({"mcpServers": {
        "one": {"command": "python3", "args": ["one.py"], "env": {"API_KEY": SECRET}},
        "two": {"command": "python3", "args": ["two.py"]},
        "three": {"command": "python3", "args": ["three.py"]},
    }});
    project.write("mcp.json", &before.to_string());
    project.run(&["import", "mcp.json", "--write"]).ok();
    // The config has another `two` by now.
    let config = project.read("powerstrip.yaml").replace("two.py", "other.py");
    project.write("powerstrip.yaml", &config);
    let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio"];
    let moved = project
        .run(&[&connect[..], &["--move", "--as", "three=third", "--json"]].concat())
        .json_of(0);
    assert_eq!(moved["known"], json!(["one"]), "{moved}");
    assert_eq!(moved["moved"], json!(["third", "two-2"]), "{moved}");
    let connected = file(&project, "mcp.json");
    let names: Vec<_> = connected["mcpServers"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["powerstrip"], "{connected}");
    let config = project.read("powerstrip.yaml");
    assert!(config.contains("two-2:") && config.contains("third:"), "{config}");
    assert!(!config.contains(SECRET), "{config}");

    let back = project.run(&["disconnect", "cursor", "--file", "mcp.json", "--json"]).json_of(0);
    assert_eq!(back["kept"], json!([]), "{back}");
    assert_eq!(file(&project, "mcp.json"), before);
    let again = project.run(&["disconnect", "cursor", "--file", "mcp.json"]);
    assert!(again.ok().contains("was not connected"), "{again:?}");
    assert_eq!(file(&project, "mcp.json"), before);
}

#[test]
fn a_file_that_was_not_edited_comes_back_as_it_was() {
    let project = Project::new();
    let before = "{\n  // mine\n  \"mcpServers\": {\n    \"zed\": {\"url\": \"http://127.0.0.1:9/mcp\", \"headers\": {}},\n    \
        \"one\": {\"command\": \"python3\", \"args\": [\"one.py\"]}\n  }\n}\n";
    project.write("mcp.json", before);
    let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio", "--move"];
    project.run(&connect).ok();
    project.run(&connect).ok();
    assert!(!project.read("mcp.json").contains("one.py"));
    project.run(&["disconnect", "cursor", "--file", "mcp.json"]).ok();
    assert_eq!(project.read("mcp.json"), before);
}

#[test]
fn servers_of_a_large_file_come_back() {
    let project = Project::new();
    let history = "x".repeat(9 << 20);
    let before = json!({"history": history, "mcpServers": {"one": {"command": "python3", "args": ["one.py"]}}});
    project.write("mcp.json", &before.to_string());
    project.run(&["connect", "claude-code", "--file", "mcp.json", "--stdio", "--move"]).ok();
    project.run(&["disconnect", "claude-code", "--file", "mcp.json"]).ok();
    assert!(file(&project, "mcp.json") == before, "the file is another one");
}

#[test]
fn another_server_with_the_name_of_the_gateway_is_not_overwritten() {
    let project = Project::new();
    let before = json!({"mcpServers": {"powerstrip": {"command": "other"}}}).to_string();
    project.write("mcp.json", &before);
    let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio"];
    for more in [&[][..], &["--move"]] {
        let refused = project.run(&[&connect[..], more].concat());
        assert!(refused.failed(2).contains("`powerstrip` is another server"), "{refused:?}");
        assert_eq!(project.read("mcp.json"), before);
    }
    project.run(&[&connect[..], &["--name", "strip"]].concat()).ok();
    let connected = file(&project, "mcp.json");
    assert_eq!(connected["mcpServers"]["powerstrip"], json!({"command": "other"}), "{connected}");
    assert_eq!(connected["mcpServers"]["strip"]["args"][0], "stdio", "{connected}");
}

#[test]
fn an_entry_of_the_gateway_under_another_name_stays_connected() {
    let project = Project::new();
    let before = "{\n  \"mcpServers\": {\n    \"one\": {\"command\": \"x\"} // mine\n  }\n}\n";
    project.write("mcp.json", before);
    let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio"];
    project.run(&connect).ok();
    project.run(&["disconnect", "cursor", "--file", "mcp.json", "--name", "other"]).ok();
    assert!(project.read("mcp.json").contains("\"powerstrip\""), "{}", project.read("mcp.json"));
    project.run(&[&connect[..], &["--name", "other"]].concat()).ok();
    project.run(&["disconnect", "cursor", "--file", "mcp.json"]).ok();
    let left = project.read("mcp.json");
    assert!(left.contains("\"other\"") && !left.contains("\"powerstrip\""), "{left}");
    project.run(&["disconnect", "cursor", "--file", "mcp.json", "--name", "other"]).ok();
    assert_eq!(project.read("mcp.json"), before);
}

#[test]
fn import_finds_the_file_of_a_client() {
    let project = Project::new();
    let home = project.path().to_str().unwrap().to_owned();
    let environment = [("HOME", home.as_str())];
    let none = project.run_with(&["import"], "", &environment);
    assert!(none.ok().contains("no files of MCP clients were found"), "{none:?}");
    project.write(".cursor/mcp.json", &cursor());
    let listed = project.run_with(&["import"], "", &environment);
    assert!(listed.ok().contains("cursor") && listed.stdout.contains("mcp.json"), "{listed:?}");
    let typed = project.run_with(&["import", "curser"], "", &environment);
    assert!(typed.failed(2).contains("did you mean `cursor`?"), "{typed:?}");
    let shown = project.run_with(&["import", "cursor"], "", &environment);
    assert!(shown.ok().contains("plain:"), "{shown:?}");
}

#[test]
fn the_gateway_itself_is_not_imported() {
    let project = Project::new();
    let home = project.path().to_str().unwrap().to_owned();
    let environment = [("HOME", home.as_str())];
    for name in ["powerstrip", "gateway"] {
        let connect = ["connect", "cursor", "--name", name];
        let connected = project.run_with(&connect, "", &environment);
        let undo = match name {
            "powerstrip" => "`powerstrip disconnect cursor`",
            _ => "`powerstrip disconnect cursor --name gateway`",
        };
        assert!(connected.ok().contains(undo), "{connected:?}");
    }
    let listed = project.run_with(&["import", "--json"], "", &environment).json_of(0);
    assert_eq!(listed[0]["servers"], 1, "the one under a name of its own: {listed}");
    let imported = project.run_with(&["import", "cursor", "--write"], "", &environment);
    imported.ok();
    assert!(imported.stderr.contains("`gateway` is this gateway"), "{imported:?}");
    assert!(imported.stderr.contains("there are no servers to import"), "{imported:?}");
    assert!(!project.path().join("powerstrip.yaml").exists(), "{imported:?}");
}

#[test]
fn a_client_that_starts_the_gateway_is_connected_again_once_there_is_a_config() {
    let project = Project::new();
    let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio"];
    let early = project.run(&connect);
    assert!(early.ok().contains("run this command again"), "{early:?}");
    project.write("powerstrip.yaml", "servers: {}\n");
    let later = project.run(&connect);
    assert!(!later.ok().contains("run this command again"), "{later:?}");
    assert!(project.read("mcp.json").contains("--config"));
}
