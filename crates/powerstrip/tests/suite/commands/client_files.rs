//! `import`, `connect --move` and `disconnect` of one client's file: nothing is stored by a look, twice or for good.

use serde_json::{Value, json};

use crate::commands::project::{Project, run_in};

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
fn a_disconnect_without_a_record_says_where_it_looked_for_moved_servers() {
    let project = Project::new();
    let before = json!({"mcpServers": {"gh": {"command": "python3"}}}).to_string();
    project.write("a/mcp.json", &before).write("b/powerstrip.yaml", "servers: {}\n");
    let run =
        |folder: &str, arguments: &[&str]| run_in(&project.path().join(folder), arguments, "", &[]);
    run("a", &["connect", "cursor", "--file", "mcp.json", "--http", "--move"]).ok();
    let elsewhere = run("b", &["disconnect", "cursor", "--file", "../a/mcp.json"]);
    assert!(elsewhere.ok().contains("disconnected cursor"), "{elsewhere:?}");
    assert!(elsewhere.stderr.contains("no record of moved servers"), "{elsewhere:?}");
    assert!(elsewhere.stderr.contains("b/.powerstrip; if they"), "{elsewhere:?}");
    let there =
        ["disconnect", "cursor", "--file", "../a/mcp.json", "--config", "../a/powerstrip.yaml"];
    let back = run("b", &there);
    assert!(back.ok().contains("put `gh` back"), "{back:?}");
    assert!(!back.stderr.contains("no record"), "{back:?}");
    assert_eq!(file(&project, "a/mcp.json")["mcpServers"]["gh"], json!({"command": "python3"}));
}

#[test]
fn a_new_name_for_a_server_that_is_not_there_and_an_empty_name_are_refused() {
    let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio"];
    for before in [None, Some("{\"theme\": \"dark\"}"), Some("{\"mcpServers\": {}}")] {
        let project = Project::new();
        if let Some(text) = before {
            project.write("mcp.json", text);
        }
        let renamed = project.run(&[&connect[..], &["--move", "--as", "nope=b"]].concat());
        let why = renamed.failed(2);
        assert!(why.contains("the client has no server `nope`"), "{why}");
        let unnamed = project.run(&[&connect[..], &["--name", ""]].concat());
        assert!(unnamed.failed(2).contains("--name"), "{unnamed:?}");
        let path = project.path().join("mcp.json");
        assert_eq!(std::fs::read_to_string(path).ok().as_deref(), before);
    }
}

#[test]
fn only_clients_with_an_entry_of_the_gateway_are_listed_as_connected() {
    let project = Project::new();
    let home = project.path().to_str().unwrap().to_owned();
    let environment = [("HOME", home.as_str())];
    let is_connected = || {
        let listed = project.run_with(&["connect", "--json"], "", &environment).json_of(0);
        let mut rows = listed.as_array().unwrap().iter();
        rows.find(|row| row["client"] == "cursor").unwrap()["connected"].clone()
    };
    assert_eq!(is_connected(), json!(false));
    let own = json!({"mcpServers": {"powerstrip": {"command": "/bin/cat"}}});
    project.write(".cursor/mcp.json", &own.to_string());
    assert_eq!(is_connected(), json!(false));
    project.run_with(&["connect", "cursor", "--name", "gateway"], "", &environment).ok();
    assert_eq!(is_connected(), json!(true));
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
fn another_server_with_the_name_of_the_gateway_is_neither_overwritten_nor_removed() {
    for server in [
        json!({"command": "other"}),
        json!({"url": "https://gateway.example.com/mcp", "headers": {"Authorization": SECRET}}),
        json!({"command": "powerstrip", "args": ["serve"], "cwd": "/srv/mcp"}),
    ] {
        let project = Project::new();
        let before = json!({"mcpServers": {"powerstrip": server}}).to_string();
        project.write("mcp.json", &before);
        let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio"];
        for more in [&[][..], &["--move"]] {
            let refused = project.run(&[&connect[..], more].concat());
            assert!(refused.failed(2).contains("`powerstrip` is another server"), "{refused:?}");
            assert_eq!(project.read("mcp.json"), before);
        }
        let disconnect = ["disconnect", "cursor", "--file", "mcp.json"];
        let refused = project.run(&disconnect);
        assert!(refused.failed(1).contains("no entry of this gateway"), "{refused:?}");
        project.run(&[&connect[..], &["--name", "strip"]].concat()).ok();
        let connected = file(&project, "mcp.json");
        assert_eq!(connected["mcpServers"]["powerstrip"], server, "{connected}");
        assert_eq!(connected["mcpServers"]["strip"]["args"][0], "stdio", "{connected}");
        let refused = project.run(&disconnect);
        let why = refused.failed(1);
        assert!(why.contains("`powerstrip` is another server, nothing was changed"), "{why}");
        assert!(why.contains("use `--name strip`"), "{why}");
        assert_eq!(file(&project, "mcp.json"), connected);
        project.run(&[&disconnect[..], &["--name", "strip"]].concat()).ok();
        assert_eq!(project.read("mcp.json"), before);
    }
}

#[test]
fn an_entry_that_connect_wrote_is_known_after_the_address_has_changed() {
    let project = Project::new();
    let connect = ["connect", "cursor", "--file", "mcp.json", "--http"];
    for port in [7701, 7702] {
        project.write("powerstrip.yaml", &format!("listen: 127.0.0.1:{port}\n"));
        project.run(&connect).ok();
        let url = format!("http://127.0.0.1:{port}/mcp");
        assert_eq!(file(&project, "mcp.json"), json!({"mcpServers": {"powerstrip": {"url": url}}}));
    }
    project.write("powerstrip.yaml", "listen: 127.0.0.1:7703\n");
    project.run(&["disconnect", "cursor", "--file", "mcp.json"]).ok();
    assert_eq!(file(&project, "mcp.json"), json!({"mcpServers": {}}));
}

#[test]
fn an_empty_file_comes_back_empty() {
    for before in ["", " \n\n"] {
        for (client, name) in [("cursor", "mcp.json"), ("codex", "config.toml")] {
            let project = Project::new();
            project.write(name, before);
            project.run(&["connect", client, "--file", name, "--stdio"]).ok();
            project.run(&["disconnect", client, "--file", name]).ok();
            assert_eq!(project.read(name), before, "{client}");
        }
    }
}

#[test]
fn each_file_of_a_client_comes_back_by_the_command_that_connect_prints() {
    let project = Project::new();
    let files = [
        ("a.json", "{\"mcpServers\": {\"one\": {\"command\": \"python3\"}}} // a\n"),
        ("b/mcp.json", "{\"x\": 1}"),
    ];
    let mut commands = Vec::new();
    for (name, text) in files {
        project.write(name, text);
        let connected = project.run(&["connect", "cursor", "--file", name, "--stdio", "--move"]);
        let undo =
            connected.ok().lines().find_map(|line| line.strip_prefix("undo it with `powerstrip "));
        let undo = undo.and_then(|undo| undo.strip_suffix('`')).unwrap().to_owned();
        assert!(undo.contains(" --file /") && undo.ends_with(name), "{undo}");
        commands.push(undo);
    }
    for ((name, text), undo) in files.into_iter().zip(commands).rev() {
        project.run(&undo.split(' ').collect::<Vec<_>>()).ok();
        assert_eq!(project.read(name), text);
    }
}

#[test]
fn servers_that_an_earlier_version_moved_come_back() {
    let project = Project::new();
    let before = json!({"mcpServers": {"one": {"command": "python3", "args": ["one.py"]}}});
    project.write("mcp.json", &before.to_string());
    project.run(&["connect", "cursor", "--file", "mcp.json", "--stdio", "--move"]).ok();
    let folder = project.path().join(".powerstrip/moved");
    let records = || std::fs::read_dir(&folder).unwrap().map(|record| record.unwrap().path());
    let path = records().next().unwrap();
    let record = std::fs::read_to_string(&path).unwrap();
    let mut record: Value = serde_json::from_str(&record).unwrap();
    record
        .as_object_mut()
        .unwrap()
        .retain(|key, _| ["client", "file", "servers"].contains(&&**key));
    std::fs::remove_file(path).unwrap();
    project.write(".powerstrip/moved/cursor.json", &record.to_string());
    // Another file of the client is not the one of the record.
    project.write("other.json", "{}");
    project.run(&["connect", "cursor", "--file", "other.json", "--stdio"]).ok();
    project.run(&["disconnect", "cursor", "--file", "other.json"]).ok();
    assert_eq!(project.read("other.json"), "{}");
    project.run(&["disconnect", "cursor", "--file", "mcp.json"]).ok();
    assert_eq!(file(&project, "mcp.json"), before);
    assert_eq!(records().count(), 0);
}

#[test]
fn moved_servers_stay_until_the_last_entry_of_the_gateway_is_removed() {
    let before = "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    // do not lose me\n    \"one\": {\"command\": \"python3\", \
        \"args\": [\"one.py\"]}\n  }\n}\n";
    for [first, last] in [["bb", "aa"], ["aa", "bb"]] {
        let project = Project::new();
        project.write("mcp.json", before);
        let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio", "--name"];
        project.run(&[&connect[..], &["aa", "--move"]].concat()).ok();
        project.run(&[&connect[..], &["bb"]].concat()).ok();
        let disconnect = ["disconnect", "cursor", "--file", "mcp.json", "--name"];
        let removed = project.run(&[&disconnect[..], &[first]].concat());
        let still = format!("still connected as `{last}`");
        assert!(removed.ok().contains(&still) && !removed.ok().contains("put `"), "{removed:?}");
        assert!(removed.ok().contains("moved servers are put back when"), "{removed:?}");
        let left = project.read("mcp.json");
        let has = |name: &str| left.contains(&format!("\"{name}\""));
        assert_eq!((has(last), has(first), has("one")), (true, false, false), "{left}");
        let back = project.run(&[&disconnect[..], &[last]].concat());
        assert!(back.ok().contains("put `one` back"), "{back:?}");
        assert_eq!(project.read("mcp.json"), before);
    }
}

#[test]
fn the_newest_server_of_a_name_comes_back() {
    let project = Project::new();
    let entry = |version: &str| json!({"command": "python3", "args": [version]});
    let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio", "--move"];
    for version in ["v1.py", "v2.py"] {
        project.write("mcp.json", &json!({"mcpServers": {"one": entry(version)}}).to_string());
        project.run(&connect).ok();
    }
    let back = project.run(&["disconnect", "cursor", "--file", "mcp.json"]);
    assert!(!back.ok().contains("left `one` as it is"), "{back:?}");
    assert_eq!(file(&project, "mcp.json"), json!({"mcpServers": {"one": entry("v2.py")}}));
}

#[test]
fn a_move_that_was_cut_off_before_the_file_changed_is_repeated() {
    let project = Project::new();
    let before =
        "{\n  \"mcpServers\": {\n    // mine\n    \"one\": {\"command\": \"python3\"}\n  }\n}\n";
    let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio", "--move"];
    project.write("mcp.json", before);
    project.run(&connect).ok();
    // As it is if the process dies between the record and the file.
    project.write("mcp.json", before);
    project.run(&connect).ok();
    project.run(&["disconnect", "cursor", "--file", "mcp.json"]).ok();
    assert_eq!(project.read("mcp.json"), before);
}

#[test]
fn nothing_is_moved_out_of_a_file_that_cannot_be_edited() {
    let project = Project::new();
    let entry = json!({"command": "python3", "env": {"API_KEY": SECRET}});
    let text = format!("{{\"mcpServers\": {{\"one\": {entry}, \"one\": {entry}}}}}");
    project.write("mcp.json", &text);
    let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio", "--move"];
    let refused = project.run(&connect);
    assert!(refused.failed(1).contains("edit it by hand"), "{refused:?}");
    assert_eq!(project.read("mcp.json"), text);
    assert_eq!(project.run(&["secret", "ls", "--json"]).json_of(0), json!([]));
    assert!(!project.path().join("powerstrip.yaml").exists());
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
fn names_in_a_file_of_a_client_cannot_control_the_terminal() {
    let evil =
        |start: &str| format!("{start}\u{1b}[32m\nadded `docs`\u{1b}[0m\u{202e}\u{1b}]0;x\u{7}");
    let project = Project::new();
    let mut before = json!({"inputs": [{"id": "key", "description": evil("purpose")}], "mcpServers": {
        "asks": {"command": "x", "env": {"KEY": "${input:key}"}},
        "odd": {"command": "x", "type": evil("kind")},
    }});
    before["mcpServers"][evil("refused")] = json!({"command": "x", "env": 5});
    before["mcpServers"][evil("moved")] = json!({"command": "python3", "autoApprove": ["x"]});
    project.write("mcp.json", &before.to_string());
    for command in [
        &["import", "mcp.json"][..],
        &["import", "mcp.json", "--write"],
        &["connect", "cursor", "--file", "mcp.json", "--stdio", "--move"],
        &["disconnect", "cursor", "--file", "mcp.json"],
    ] {
        let printed = project.run(command);
        printed.ok();
        let text = format!("{}{}", printed.stdout, printed.stderr);
        assert!(text.contains("moved"), "{command:?}: {text}");
        let odd = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!text.contains(odd), "{command:?}: {text:?}");
        let forged = text.lines().find(|line| line.starts_with("added `docs`"));
        assert_eq!(forged, None, "{command:?}: {text}");
    }
    assert_eq!(file(&project, "mcp.json"), before);
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
