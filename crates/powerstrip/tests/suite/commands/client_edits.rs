//! `connect` and `disconnect` of files that others change meanwhile, that cannot be replaced, or that have entries of
//! other gateways: nothing is lost, and nothing of others is taken.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::CommandOutput;

use crate::commands::project::{Project, run_in};

const SECRET: &str = "sk-live-0123456789abcdef";

fn entry(name: &str) -> Value {
    json!({"command": "python3", "args": [format!("{name}.py")]})
}

fn servers(project: &Project, file: &str) -> Value {
    let document: Value = serde_json::from_str(&project.read(file)).unwrap();
    document["mcpServers"].clone()
}

fn names(project: &Project, file: &str) -> Vec<String> {
    let mut names: Vec<_> = servers(project, file).as_object().unwrap().keys().cloned().collect();
    names.sort();
    names
}

/// Runs a command, and adds a server to the client's file after the command has read it.
fn run_while_added(project: &Project, command: &[&str], server: &str) -> CommandOutput {
    let folder = project.path().join("client");
    let copies = || {
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        entries.filter(|name| name.to_string_lossy().contains(".bak")).count()
    };
    let before = copies();
    let lock = fs::File::open(&folder).unwrap();
    lock.lock().unwrap();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| project.run(command));
        while copies() == before && !running.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut document: Value = serde_json::from_str(&project.read("client/mcp.json")).unwrap();
        document["mcpServers"][server] = entry(server);
        project.write("client/mcp.json", &document.to_string());
        lock.unlock().unwrap();
        running.join().unwrap()
    })
}

#[test]
fn servers_that_a_client_adds_while_its_file_is_edited_are_not_lost() {
    let project = Project::new();
    let before = json!({"mcpServers": {"one": entry("one")}});
    project.write("powerstrip.yaml", "servers: {}\n").write("client/mcp.json", &before.to_string());
    let connect = ["connect", "cursor", "--file", "client/mcp.json", "--stdio"];
    let connected = run_while_added(&project, &connect, "two");
    assert!(connected.ok().contains("connected cursor"), "{connected:?}");
    assert_eq!(names(&project, "client/mcp.json"), ["one", "powerstrip", "two"]);

    project.run(&["disconnect", "cursor", "--file", "client/mcp.json"]).ok();
    let moved = run_while_added(&project, &[&connect[..], &["--move"]].concat(), "three");
    for name in ["one", "two", "three"] {
        assert!(moved.ok().contains(&format!("moved `{name}` to")), "{moved:?}");
    }
    assert!(!moved.stdout.contains("has it already"), "{moved:?}");
    assert_eq!(names(&project, "client/mcp.json"), ["powerstrip"]);

    let disconnect = ["disconnect", "cursor", "--file", "client/mcp.json"];
    let disconnected = run_while_added(&project, &disconnect, "four");
    assert!(disconnected.ok().contains("disconnected cursor"), "{disconnected:?}");
    let back = servers(&project, "client/mcp.json");
    let expected = ["one", "two", "three", "four"].map(|name| (name.to_owned(), entry(name)));
    assert_eq!(back, Value::Object(expected.into_iter().collect()));
}

#[test]
fn a_move_that_is_repeated_adds_a_server_with_a_number_once() {
    let project = Project::new();
    let before = json!({"mcpServers": {"two": entry("two")}}).to_string();
    project.write("powerstrip.yaml", "servers:\n  two: { command: python3, args: [other.py] }\n");
    let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio", "--move", "--json"];
    for (moved, known) in [(json!(["two-2"]), json!([])), (json!([]), json!(["two-2"]))] {
        // As it is if the process dies before the file is replaced.
        project.write("mcp.json", &before);
        let connected = project.run(&connect).json_of(0);
        assert_eq!((&connected["moved"], &connected["known"]), (&moved, &known), "{connected}");
    }
    assert!(!project.read("powerstrip.yaml").contains("two-3"));
    project.run(&["disconnect", "cursor", "--file", "mcp.json"]).ok();
    assert_eq!(project.read("mcp.json"), before);
}

#[test]
fn nothing_is_moved_out_of_a_file_that_cannot_be_replaced() {
    let (project, home) = (Project::new(), tempfile::tempdir().unwrap());
    let server = json!({"command": "python3", "env": {"API_KEY": SECRET}});
    project.write("mcp.json", &json!({"mcpServers": {"one": server}}).to_string());
    fs::create_dir(home.path().join(".cursor")).unwrap();
    symlink(project.path().join("mcp.json"), home.path().join(".cursor/mcp.json")).unwrap();
    let environment = [("HOME", home.path().to_str().unwrap())];
    let connect = ["connect", "cursor", "--stdio", "--move"];
    let refused = project.run_with(&connect, "", &environment);
    assert!(refused.failed(1).contains("nothing is written through it"), "{refused:?}");
    assert_eq!(project.run(&["secret", "ls", "--json"]).json_of(0), json!([]));
    assert!(!project.path().join("powerstrip.yaml").exists());
}

#[test]
fn an_entry_that_starts_another_gateway_is_neither_overwritten_nor_removed() {
    let project = Project::new();
    let before = json!({"mcpServers": {"one": entry("one")}}).to_string();
    project.write("mcp.json", &before);
    project.write("a/powerstrip.yaml", "servers: {}\n").write("b/powerstrip.yaml", "servers: {}\n");
    let run = |folder: &str, command: &str, more: &[&str]| {
        let arguments = [&[command, "cursor", "--file", "../mcp.json"][..], more].concat();
        run_in(&project.path().join(folder), &arguments, "", &[])
    };
    run("a", "connect", &["--stdio", "--move"]).ok();
    let connected = project.read("mcp.json");
    let refused = run("b", "connect", &["--stdio", "--move"]);
    assert!(refused.failed(2).contains("`powerstrip` is another server"), "{refused:?}");
    let refused = run("b", "disconnect", &[]);
    assert!(refused.failed(1).contains("it starts another gateway"), "{refused:?}");
    assert_eq!(project.read("mcp.json"), connected);

    run("b", "connect", &["--stdio", "--name", "b"]).ok();
    assert_eq!(names(&project, "mcp.json"), ["b", "powerstrip"]);
    let removed = run("b", "disconnect", &["--name", "b"]);
    assert!(!removed.ok().contains("still connected"), "{removed:?}");
    assert_eq!(project.read("mcp.json"), connected);
    run("a", "disconnect", &[]).ok();
    assert_eq!(project.read("mcp.json"), before);
}

#[test]
fn only_entries_of_the_gateway_stay_with_the_client() {
    let project = Project::new();
    project.write("powerstrip.yaml", "public_url: https://tools.example.com\n");
    let document = json!({"mcpServers": {
        "crm": {"url": "https://tools.example.com/crm/mcp"},
        "me": {"url": format!("https://tools.example.com/mcp?key={SECRET}")},
    }});
    project.write("mcp.json", &document.to_string());
    let connect = ["connect", "cursor", "--file", "mcp.json", "--stdio"];
    project.run(&[&connect[..], &["--name", "gw"]].concat()).ok();
    // As if the program had another name.
    let program = servers(&project, "mcp.json")["gw"]["command"].as_str().unwrap().to_owned();
    let records = fs::read_dir(project.path().join(".powerstrip/moved")).unwrap();
    let records = records.map(|record| record.unwrap().path());
    for path in records.chain([project.path().join("mcp.json")]) {
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace(&program, "/opt/powerstrip-0.1")).unwrap();
    }
    let imported = project.run(&["import", "mcp.json"]);
    assert!(imported.ok().contains("crm:"), "{imported:?}");
    for (name, left_out) in [("crm", false), ("me", true), ("gw", true)] {
        let note = format!("`{name}` is this gateway");
        assert_eq!(imported.stderr.contains(&note), left_out, "{imported:?}");
    }
    let moved = project.run(&[&connect[..], &["--move", "--json"]].concat()).json_of(0);
    assert_eq!(moved["moved"], json!(["crm"]), "{moved}");
    assert_eq!(names(&project, "mcp.json"), ["gw", "me", "powerstrip"]);
}

#[test]
fn a_moved_server_that_is_not_put_back_is_kept() {
    let project = Project::new();
    let server = json!({"command": "python3", "env": {"API_KEY": SECRET}});
    project.write("mcp.json", &json!({"mcpServers": {"one": server}}).to_string());
    project.run(&["connect", "cursor", "--file", "mcp.json", "--stdio", "--move"]).ok();
    let other = project.read("mcp.json").replacen(
        "\"powerstrip\"",
        "\"one\": {\"command\": \"other\"}, \"powerstrip\"",
        1,
    );
    project.write("mcp.json", &other);
    let disconnect = ["disconnect", "cursor", "--file", "mcp.json"];
    for _ in 0..2 {
        let kept = project.run(&disconnect);
        assert!(kept.ok().contains("left `one` as it is"), "{kept:?}");
        assert!(kept.stdout.contains(".powerstrip/moved/cursor-"), "{kept:?}");
        assert_eq!(servers(&project, "mcp.json"), json!({"one": {"command": "other"}}));
    }
    project.write("mcp.json", &project.read("mcp.json").replace("\"one\"", "\"other\""));
    let back = project.run(&disconnect);
    assert!(back.ok().contains("put `one` back"), "{back:?}");
    assert_eq!(servers(&project, "mcp.json")["one"], server);
    let again = project.run(&disconnect);
    assert!(
        again.ok().contains("was not connected") && !again.stdout.contains("left `one`"),
        "{again:?}"
    );
}

#[test]
fn a_disconnect_that_cannot_edit_says_where_moved_servers_are() {
    let project = Project::new();
    project.write("mcp.json", &json!({"mcpServers": {"one": entry("one")}}).to_string());
    project.run(&["connect", "cursor", "--file", "mcp.json", "--stdio", "--move"]).ok();
    project.write("mcp.json", "{\"mcpServers\": null}");
    let refused = project.run(&["disconnect", "cursor", "--file", "mcp.json"]);
    let why = refused.failed(1);
    assert!(why.contains("edit it by hand") && !why.contains("--print"), "{why}");
    assert!(why.contains(".powerstrip/moved/cursor-"), "{why}");
}

#[test]
fn keys_that_were_added_to_the_entry_of_the_gateway_stay() {
    let project = Project::new();
    for (client, file) in [("codex", "config.toml"), ("cursor", "mcp.json")] {
        let connect = ["connect", client, "--file", file, "--http"];
        project.write("powerstrip.yaml", "listen: 127.0.0.1:7701\n");
        project.run(&connect).ok();
        let added = match client {
            "codex" => format!(
                "{}startup_timeout_sec = 20\n\n[mcp_servers.powerstrip.tools.hi]\napproval_mode = \"approve\"\n",
                project.read(file)
            ),
            _ => project.read(file).replace("\"url\"", "\"approval_mode\": [\"hi\"], \"url\""),
        };
        project.write(file, &added);
        let again = project.run(&connect);
        assert!(again.ok().contains("is connected already"), "{again:?}");
        assert_eq!(project.read(file), added);

        project.write("powerstrip.yaml", "listen: 127.0.0.1:7702\n");
        project.run(&connect).ok();
        let text = project.read(file);
        assert!(text.contains(":7702/mcp") && !text.contains(":7701"), "{text}");
        assert!(text.contains("approval_mode"), "{text}");
        assert_eq!(text.contains("startup_timeout_sec"), client == "codex", "{text}");
        project.run(&["disconnect", client, "--file", file]).ok();
        assert!(!project.read(file).contains("powerstrip"), "{}", project.read(file));
    }
}

#[test]
fn a_server_that_waits_for_its_secret_gets_none_of_another() {
    let project = Project::new();
    let waiting = "servers:\n  crm: { command: python3, env: { API_KEY: { secret: API_KEY } } }\n";
    project.write("powerstrip.yaml", waiting);
    let other = json!({"command": "python3", "args": ["gh.py"], "env": {"API_KEY": SECRET}});
    project.write("mcp.json", &json!({"mcpServers": {"gh": other}}).to_string());
    project.run(&["import", "mcp.json", "--write"]).ok();
    project.run(&["add", "two", "-e", "API_KEY=sk-live-ba9876543210", "--", "python3", "two.py"]);
    let config = project.read("powerstrip.yaml");
    assert_eq!(config.matches("secret: API_KEY }").count(), 1, "{config}");
    let listed = project.run(&["secret", "ls", "--json"]).json_of(0);
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|secret| &secret["name"]).collect();
    assert_eq!(names, ["API_KEY", "GH_API_KEY", "TWO_API_KEY"], "{listed}");
    let row = listed[0].to_string();
    assert!(row.contains("null"), "nothing is stored as API_KEY: {row}");
}

#[test]
fn commands_that_add_servers_at_the_same_time_share_no_name() {
    let project = Project::new();
    let folder = project.path();
    let add = |number: usize| {
        let (name, key) =
            (format!("server-{number}"), format!("API_KEY=sk-live-{number}0123456789"));
        let command = ["add", &name, "-e", &key, "--", "python3", &name];
        let added = run_in(folder, &command, "", &[]);
        added.ok();
    };
    let move_out = |number: usize| {
        let file = format!("{number}.json");
        let entry = json!({"command": "python3", "args": [file]});
        fs::write(folder.join(&file), json!({"mcpServers": {"same": entry}}).to_string()).unwrap();
        let command = ["connect", "cursor", "--file", &file, "--stdio", "--move"];
        let moved = run_in(folder, &command, "", &[]);
        moved.ok();
    };
    std::thread::scope(|scope| {
        for number in 0..3 {
            scope.spawn(move || add(number));
            scope.spawn(move || move_out(number));
        }
    });
    let config = project.read("powerstrip.yaml");
    for name in ["server-0", "server-1", "server-2", "same", "same-2", "same-3"] {
        assert_eq!(config.matches(&format!("  {name}:")).count(), 1, "{name}: {config}");
    }
    let listed = project.run(&["secret", "ls", "--json"]).json_of(0);
    assert_eq!(listed.as_array().unwrap().len(), 3, "{listed}");
}

#[test]
fn a_data_folder_made_by_add_or_connect_stays_out_of_git() {
    let project = Project::new();
    let key = format!("API_KEY={SECRET}");
    let add = ["--data-dir", "state", "add", "one", "-e", &key, "--", "python3", "one.py"];
    project.run(&add).ok();
    let connect = ["--data-dir", "moves", "connect", "cursor", "--file", "mcp.json", "--stdio"];
    project.run(&connect).ok();
    for folder in ["state", "moves"] {
        assert_eq!(project.read(&format!("{folder}/.gitignore")), "*\n");
    }
}
