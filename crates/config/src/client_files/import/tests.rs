use std::collections::BTreeSet;
use std::path::Path;

use environment::Environment;
use serde_json::{Value, json};

use super::{Imported, Importer, Literals};
use crate::client_files::parse;
use crate::clients::Format;

const PROJECT: &str = "/srv/project/.vscode/mcp.json";
const OWN: &str = "/home/ada/.cursor/mcp.json";

fn import_as(literals: Literals, document: &Value, path: &str) -> Result<Imported, String> {
    let environment =
        Environment::default().with([("HOME", "/home/ada"), ("HOST", "h.example"), ("SET", "yes")]);
    let importer = Importer {
        environment: &environment,
        literals,
        taken: BTreeSet::from(["TAKEN_KEY".to_owned()]),
        skip: BTreeSet::from(["known".to_owned()]),
    };
    importer.read_document(document, Path::new(path))
}

fn import(document: Value) -> Imported {
    import_as(Literals::Move, &document, OWN).unwrap()
}

fn entry(imported: &Imported, name: &str) -> Value {
    let usual = serde_json::to_value(crate::Server::default()).unwrap();
    let mut entry = serde_json::to_value(&imported.servers[name]).unwrap();
    entry.as_object_mut().unwrap().retain(|key, value| usual[key.as_str()] != *value);
    entry
}

fn one(entry_of_client: Value) -> Value {
    let imported = import(json!({"mcpServers": {"a": entry_of_client}}));
    assert!(imported.refused.is_empty(), "{:?}", imported.refused);
    entry(&imported, "a")
}

#[test]
fn variables_become_references() {
    assert_eq!(
        one(json!({
            "command": "${HOME}/bin/x",
            "args": ["--dir=${workspaceFolderBasename:-x}", "${UNSET:-d}", "--key=${KEY}", "${SET:-d}"],
            "env": {"A": "${TOKEN}", "B": "x-${env:C}", "D": "${HOST}:80", "E": "$GEMINI"},
        })),
        json!({
            "command": "/home/ada/bin/x",
            "args": ["--dir=x", "d", {"env": "KEY", "prefix": "--key="}, {"env": "SET"}],
            "env": {
                "A": {"env": "TOKEN"}, "B": {"env": "C", "prefix": "x-"}, "D": "h.example:80", "E": {"env": "GEMINI"},
            },
        })
    );
    assert_eq!(
        one(
            json!({"type": "sse", "url": "https://${HOST}/sse?key=${KEY}", "headers": {"Authorization": "Bearer ${T}"}})
        ),
        json!({
            "url": {"env": "KEY", "prefix": "https://h.example/sse?key="},
            "transport": "sse",
            "headers": {"Authorization": {"env": "T", "prefix": "Bearer "}},
        })
    );
}

#[test]
fn inputs_become_secrets_to_fill() {
    let document = json!({
        "inputs": [{"type": "promptString", "id": "api-key", "description": "Key of the API", "password": true}],
        "servers": {"a": {"type": "stdio", "command": "x", "args": ["--dir", "${workspaceFolder}/data"],
            "env": {"KEY": "${input:api-key}"}}},
    });
    let imported = import_as(Literals::Move, &document, PROJECT).unwrap();
    assert_eq!(
        entry(&imported, "a"),
        json!({"command": "x", "args": ["--dir", "/srv/project/data"], "cwd": "/srv/project", "env": {"KEY": {"secret": "API_KEY"}}})
    );
    assert_eq!(imported.needed["API_KEY"], "Key of the API");
}

#[test]
fn an_input_and_a_written_secret_never_share_a_name() {
    let (asked, written) = (json!("${input:api-key}"), json!("hunter2222"));
    for (first, second) in [(&asked, &written), (&written, &asked)] {
        let server = |value: &Value| json!({"command": "x", "env": {"API_KEY": value}});
        let imported = import(json!({"mcpServers": {"a": server(first), "b": server(second)}}));
        let names = ["a", "b"].map(|name| entry(&imported, name)["env"]["API_KEY"].clone());
        assert_ne!(names[0], names[1]);
        let stored: Vec<_> = imported.secrets.keys().collect();
        assert!(stored.iter().all(|name| !imported.needed.contains_key(*name)), "{stored:?}");
    }
    let imported =
        import(json!({"mcpServers": {"a": {"command": "x", "env": {"K": "${input:taken-key}"}}}}));
    assert!(imported.notes.iter().any(|note| note.contains("TAKEN_KEY")), "{:?}", imported.notes);
}

#[test]
fn secrets_leave_the_entries() {
    let document = json!({"mcpServers": {
        "a": {"command": "x", "args": ["--token", "abcdef123456", "--url=http://ok"], "env": {"TAKEN_KEY": "hunter2222", "MODE": "fast"}},
        "b": {"url": "https://x.example/mcp?api_key=abc12345", "headers": {"Authorization": "Bearer s3cr3t-value"}},
        "c": {"command": "x", "env": {"TAKEN_KEY": "hunter2222"}},
    }});
    let imported = import(document.clone());
    assert_eq!(
        [entry(&imported, "a"), entry(&imported, "b"), entry(&imported, "c")],
        [
            json!({"command": "x", "args": ["--token", {"secret": "A_TOKEN"}, "--url=http://ok"],
                "env": {"TAKEN_KEY": {"secret": "A_TAKEN_KEY"}, "MODE": "fast"}}),
            json!({"url": {"secret": "B_URL"}, "headers": {"Authorization": {"secret": "B_AUTHORIZATION", "prefix": "Bearer "}}}),
            json!({"command": "x", "env": {"TAKEN_KEY": {"secret": "A_TAKEN_KEY"}}}),
        ]
    );
    let values: Vec<_> =
        imported.secrets.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    assert_eq!(
        values,
        [
            ("A_TAKEN_KEY", "hunter2222"),
            ("A_TOKEN", "abcdef123456"),
            ("B_AUTHORIZATION", "s3cr3t-value"),
            ("B_URL", "https://x.example/mcp?api_key=abc12345"),
        ]
    );
    let mut outside = import(document.clone());
    outside.use_stored("A_TOKEN", "OLD");
    assert_eq!(entry(&outside, "a")["args"][1], json!({"secret": "OLD"}));
    assert_eq!(outside.use_environment().len(), 3);
    assert_eq!(entry(&outside, "b")["url"], json!({"env": "B_URL"}));
    let kept = import_as(Literals::Keep, &document, OWN).unwrap();
    assert_eq!(entry(&kept, "a")["env"]["TAKEN_KEY"], "hunter2222");
    assert!(kept.secrets.is_empty());
}

#[test]
fn no_part_of_a_secret_is_in_names_entries_or_notes() {
    const HEX: &str = "9f8e7d6c5b4a392817069f8e7d6c5b4a";
    const BARE: [&str; 3] =
        ["Zx81kQ9mLp20vRt7Yb3w", "Aq7Wn5Ec2Rt8Yu1Io4Pa", "Hs3Dk6Gf9Jl1Qz8Xc5Vb"];
    let imported = import(json!({"mcpServers": {"db": {"command": "x", "args": [
        format!("--token={HEX}"),
        "postgres://u:hunter22pass@db.example.com/x",
        "-p", BARE[0], BARE[1],
        "--database-url=postgres://u:hunter33pass@db.example.com/x",
        "https://u:hunter44pass@x.example/mcp?api_key=hunter55",
        "-pvalue", BARE[2],
        "--db=postgres://u:hunter66pass@${HOST}",
    ]}}}));
    assert!(imported.refused.is_empty(), "{:?}", imported.refused);
    let entry = entry(&imported, "db");
    assert_eq!(
        entry["args"],
        json!([
            {"secret": "DB_TOKEN", "prefix": "--token="},
            {"secret": "DB_ARGUMENT_2"},
            "-p", {"secret": "DB_P"}, {"secret": "DB_ARGUMENT_5"},
            {"secret": "DB_DATABASE_URL", "prefix": "--database-url="},
            {"secret": "DB_ARGUMENT_7"},
            "-pvalue", {"secret": "DB_ARGUMENT_9"},
            {"secret": "DB_DB", "prefix": "--db="},
        ])
    );
    assert_eq!(imported.secrets.len(), 8);
    let names: Vec<_> = imported.secrets.keys().collect();
    let shown = format!("{entry} {names:?} {:?}", imported.notes).to_ascii_uppercase();
    for part in [HEX, BARE[0], BARE[1], BARE[2], "hunter"] {
        assert!(!shown.contains(&part.to_ascii_uppercase()), "{part}: {shown}");
    }
}

#[test]
fn every_client_has_its_keys() {
    assert_eq!(one(json!({"serverUrl": "https://w/mcp"})), json!({"url": "https://w/mcp"}));
    assert_eq!(
        one(
            json!({"httpUrl": "https://g/mcp", "timeout": 30000, "includeTools": ["a"], "trust": true})
        ),
        json!({"url": "https://g/mcp", "timeout": "30s", "only": ["a"]})
    );
    assert_eq!(
        one(
            json!({"source": "custom", "command": {"path": "x", "args": ["a"], "env": {"M": "1"}}, "settings": {}})
        ),
        json!({"command": "x", "args": ["a"], "env": {"M": "1"}})
    );
    assert_eq!(
        one(json!({"command": "x", "disabled": true, "autoApprove": ["a"], "timeout": 60})),
        json!({"command": "x", "disabled": true, "timeout": "1m"})
    );
    assert_eq!(
        one(
            json!({"type": "local", "command": ["x", "-y", "z"], "environment": {"M": 1}, "enabled": false})
        ),
        json!({"command": "x", "args": ["-y", "z"], "env": {"M": "1"}, "disabled": true})
    );
    assert_eq!(
        one(json!({"command": "npx -y some-server"})),
        json!({"command": "npx", "args": ["-y", "some-server"]})
    );
    let codex = parse("[mcp_servers.a]\nurl = \"https://c/mcp\"\nbearer_token_env_var = \"T\"\nenv_http_headers = { X = \"Y\" }\n\n[mcp_servers.b]\ncommand = \"x\"\nenv_vars = [\"Z\"]\ntool_timeout_sec = 5.0\n", Format::Toml).unwrap();
    let imported = import_as(Literals::Move, &codex, "/home/ada/.codex/config.toml").unwrap();
    assert_eq!(
        entry(&imported, "a"),
        json!({"url": "https://c/mcp", "headers": {"Authorization": {"env": "T", "prefix": "Bearer "}, "X": {"env": "Y"}}})
    );
    assert_eq!(
        entry(&imported, "b"),
        json!({"command": "x", "env": {"Z": {"env": "Z"}}, "timeout": "5s"})
    );
    assert_eq!(imported.origins["b"], ["mcp_servers", "b"]);
}

#[test]
fn the_variables_of_an_env_file_are_read_and_its_secrets_moved() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "# ours\nAPI_KEY='hunter2-hunter2'\nexport MODE=fast\nTOKEN=from-file-1234\nnot a line\n";
    std::fs::write(folder.path().join(".env"), text).unwrap();
    let at = |file: &str| json!({"type": "stdio", "command": "x", "env": {"TOKEN": "${T}"}, "envFile": file});
    let document = json!({"servers": {"a": at("${workspaceFolder}/.env"), "b": at("nowhere.env")}});
    let file = folder.path().join(".vscode/mcp.json");
    let read = |literals| import_as(literals, &document, file.to_str().unwrap()).unwrap();
    let imported = read(Literals::Move);
    let entry = entry(&imported, "a");
    assert_eq!(
        entry["env"],
        json!({"API_KEY": {"secret": "API_KEY"}, "MODE": "fast", "TOKEN": {"env": "T"}})
    );
    assert_eq!(imported.secrets["API_KEY"].expose(), "hunter2-hunter2");
    assert!(imported.notes[0].contains("line 5"), "{:?}", imported.notes);
    let (name, why) = &imported.refused[0];
    assert!(name == "b" && why.contains("nowhere.env cannot be read"), "{name}: {why}");
    assert!(why.contains("remove `envFile`"), "{why}");
    let kept = read(Literals::Keep);
    assert_eq!(self::entry(&kept, "a")["env"]["API_KEY"], "hunter2-hunter2");
}

#[test]
fn projects_of_claude_code_are_imported() {
    let imported = import(json!({
        "numStartups": 5,
        "mcpServers": {"a": {"command": "x"}},
        "projects": {"/srv/shop": {"mcpServers": {"a": {"type": "stdio", "command": "./y", "env": {}}, "b": {"url": "https://b/mcp"}}}, "/srv/other": {}},
    }));
    assert_eq!(imported.servers.keys().collect::<Vec<_>>(), ["a", "a-shop", "b"]);
    assert_eq!(entry(&imported, "a-shop"), json!({"command": "/srv/shop/y", "cwd": "/srv/shop"}));
    assert_eq!(imported.origins["a-shop"], ["projects", "/srv/shop", "mcpServers", "a"]);
}

#[test]
fn a_bad_entry_leaves_the_others_alone() {
    let imported = import(json!({"mcpServers": {
        "good": {"command": "x"},
        "Brave Search": {"command": "x", "unknown": 1},
        "known": {"command": "x"},
        "none": {}, "both": {"command": "x", "url": "https://x"}, "text": "npx", "socket": {"type": "ws", "url": "wss://x"},
        "number": {"command": 5}, "client": {"command": "x", "args": ["${command:pick}"]},
        "unset": {"command": "${UNSET}/x"}, "powerstrip": {"command": "x"}, "bad-url": {"url": "ftp://x"},
        "Brave-Search": {"command": "y"},
    }}));
    assert_eq!(imported.servers.keys().collect::<Vec<_>>(), ["Brave-Search", "good"]);
    let refused: Vec<_> = imported.refused.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(refused.len(), 10, "{:?}", imported.refused);
    assert!(
        imported.notes.iter().any(|note| note.contains("`unknown` is left out")),
        "{:?}",
        imported.notes
    );
    for (document, why) in [
        (json!([]), "not an object"),
        (json!({}), "no servers"),
        (json!({"a": {"b": 1}}), "no servers"),
    ] {
        let error = import_as(Literals::Move, &document, OWN).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    let bare = import(json!({"a": {"command": "x"}}));
    assert_eq!(bare.servers.len(), 1);
}
