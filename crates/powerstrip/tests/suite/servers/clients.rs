//! Configuration files of real clients, taken in by `import` and `--mcp-json` and changed by `connect`.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{
    CommandOutput, Gateway, ReservedPort, StdioSession, eventually, mcp_call, powerstrip_binary,
};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::servers::support::{HttpFixture, fixture, wait_until_listed};

/// Secrets that are written out in the files; none of them may reach the config.
const LITERALS: [&str; 3] =
    ["sk-live-0123456789abcdef", "ghp_0123456789abcdefghij", "far-key-123456"];

const VARIABLES: [(&str, &str); 6] = [
    ("CURSOR_MODE", "x"),
    ("CURSOR_TOKEN", "cursor-token"),
    ("WINDSURF_KEY", "windsurf-key"),
    ("CODEX_TOKEN", "codex-token"),
    ("GEMINI_KEY", "gemini-key"),
    ("GEMINI_TOKEN", "gemini-token"),
];

/// A client, its file below the home folder, and its good servers.
struct Case {
    client: &'static str,
    file: &'static str,
    text: &'static str,
    good: &'static [&'static str],
    /// A part of the file that every edit must keep.
    kept: &'static str,
}

const CASES: [Case; 11] = [
    Case {
        client: "claude-code",
        file: ".claude.json",
        text: include_str!("clients/claude-code.json"),
        good: &["near", "far", "local"],
        kept: "\"numStartups\": 42",
    },
    Case {
        client: "claude-desktop",
        file: ".config/Claude/claude_desktop_config.json",
        text: include_str!("clients/claude-desktop.json"),
        good: &["near", "My-Server"],
        kept: "\"globalShortcut\": \"Ctrl+Space\"",
    },
    Case {
        client: "cursor",
        file: ".cursor/mcp.json",
        text: include_str!("clients/cursor.json"),
        good: &["near", "far"],
        kept: "// the servers of Cursor",
    },
    Case {
        client: "vscode",
        file: ".config/Code/User/mcp.json",
        text: include_str!("clients/vscode.json"),
        good: &["near", "far"],
        kept: "// asked for when the server starts",
    },
    Case {
        client: "windsurf",
        file: ".codeium/windsurf/mcp_config.json",
        text: include_str!("clients/windsurf.json"),
        good: &["near", "far"],
        kept: "\"broken\"",
    },
    Case {
        client: "zed",
        file: ".config/zed/settings.json",
        text: include_str!("clients/zed.json"),
        good: &["near", "older", "far"],
        kept: "\"vim_mode\": false, // really",
    },
    Case {
        client: "codex",
        file: ".codex/config.toml",
        text: include_str!("clients/codex.toml"),
        good: &["near", "far"],
        kept: "model = \"gpt-5\"",
    },
    Case {
        client: "gemini",
        file: ".gemini/settings.json",
        text: include_str!("clients/gemini.json"),
        good: &["near", "far"],
        kept: "\"selectedAuthType\": \"gemini-api-key\"",
    },
    Case {
        client: "",
        file: "cline_mcp_settings.json",
        text: include_str!("clients/cline.json"),
        good: &["near", "far"],
        kept: "",
    },
    Case {
        client: "",
        file: ".config/opencode/opencode.json",
        text: include_str!("clients/opencode.json"),
        good: &["near", "far"],
        kept: "",
    },
    Case {
        client: "",
        file: ".config/amp/settings.json",
        text: include_str!("clients/amp.json"),
        good: &["near", "far"],
        kept: "",
    },
];

/// A home folder with the file of a client.
struct Home {
    folder: tempfile::TempDir,
    file: PathBuf,
}

impl Home {
    fn new(case: &Case, url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(case.file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::create_dir_all(folder.path().join("bin")).unwrap();
        std::os::unix::fs::symlink(fixture(), folder.path().join("bin/fixture")).unwrap();
        let text = case.text.replace("@FIXTURE@", &fixture().display().to_string());
        let text =
            text.replace("@URL@", url).replace("@FOLDER@", &folder.path().display().to_string());
        std::fs::write(&file, text).unwrap();
        Self { folder, file }
    }

    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(powerstrip_binary());
        command.current_dir(folder).env("HOME", self.folder.path()).envs(VARIABLES);
        command.env_remove("XDG_CONFIG_HOME").env_remove("CODEX_HOME");
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    async fn run(&self, folder: &Path, arguments: &[&str]) -> CommandOutput {
        self.command(folder).args(arguments).output().await.unwrap().into()
    }

    fn file(&self) -> &str {
        self.file.to_str().unwrap()
    }
}

async fn store_secret(home: &Home, folder: &Path) {
    let mut child = home
        .command(folder)
        .args(["secret", "set", "API_KEY"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stdin, b"vscode-key").await.unwrap();
    drop(stdin);
    assert!(child.wait().await.unwrap().success());
}

/// `import --write` adds the good servers, without their secrets, and says what is wrong with the others.
async fn import(case: &Case, url: &str) {
    let home = Home::new(case, url);
    let project = tempfile::tempdir().unwrap();
    let config = project.path().join("powerstrip.yaml");
    std::fs::write(&config, "# ours\nlisten: 127.0.0.1:0 # any\n").unwrap();
    let printed = home.run(project.path(), &["import", home.file()]).await;
    assert!(printed.ok().starts_with("servers:\n"), "{printed:?}");
    let written = home.run(project.path(), &["import", home.file(), "--write", "--json"]).await;
    let report = written.json_of(0);
    let refused = report["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 1, "{}: {report}", case.client);
    assert_eq!(refused[0]["name"], "broken");
    let yaml = std::fs::read_to_string(&config).unwrap();
    assert!(yaml.starts_with("# ours\nlisten: 127.0.0.1:0 # any\nservers:\n"), "{yaml}");
    for literal in LITERALS {
        assert!(!yaml.contains(literal) && !printed.stdout.contains(literal), "{yaml}");
    }
    if case.text.contains("${input:") {
        assert!(report["secrets_missing"]["API_KEY"].as_str().unwrap().contains("Key of the API"));
        store_secret(&home, project.path()).await;
    }
    for name in case.good {
        let tool = format!("{name}:greet");
        let answer = home
            .run(project.path(), &["call", &tool, "--input", "{\"name\":\"Ada\"}", "--json"])
            .await;
        assert!(answer.ok().contains("Hello, Ada!"), "{}: {answer:?}", case.client);
    }
}

/// `serve --mcp-json` uses the good servers at once.
async fn serve(case: &Case, url: &str) {
    let home = Home::new(case, url);
    let project = tempfile::tempdir().unwrap();
    if case.text.contains("${input:") {
        store_secret(&home, project.path()).await;
    }
    let mut served = home
        .command(project.path())
        .args(["serve", "--json", "--listen", "127.0.0.1:0", "--mcp-json", home.file()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut text = String::new();
    let mut stdout = BufReader::new(served.stdout.take().unwrap());
    while serde_json::from_str::<Value>(&text).is_err() {
        let read = stdout.read_line(&mut text).await.unwrap();
        assert_ne!(read, 0, "{}: it ended early: {text}", case.client);
    }
    let said: Value = serde_json::from_str(&text).unwrap();
    let url = said["mcp"].as_str().unwrap();
    for name in case.good {
        greet_at(url, name).await;
    }
    served.kill().await.unwrap();
}

async fn greet_at(url: &str, server: &str) {
    eventually(&format!("{server} answers at {url}"), || async {
        let result = mcp_call(url, &format!("{server}__greet"), json!({"name": "Ada"})).await;
        (result["content"][0]["text"] == json!("Hello, Ada!")).then_some(())
    })
    .await;
}

/// `connect --move` puts the client's servers behind a gateway that runs, and the client's entry leads to them.
async fn connect(case: &Case, url: &str) {
    let home = Home::new(case, url);
    let port = ReservedPort::reserve();
    let gateway = VARIABLES
        .iter()
        .fold(Gateway::with().at(&port), |gateway, (name, value)| gateway.env(name, value));
    let gateway = gateway.start().await;
    if case.text.contains("${input:") {
        store_secret(&home, gateway.folder()).await;
    }
    let before = std::fs::read_to_string(&home.file).unwrap();
    let printed = home.run(gateway.folder(), &["connect", case.client, "--print"]).await;
    assert!(printed.ok().contains("powerstrip"), "{printed:?}");
    assert_eq!(std::fs::read_to_string(&home.file).unwrap(), before);

    let moved = home.run(gateway.folder(), &["connect", case.client, "--move", "--json"]).await;
    let report = moved.json_of(0);
    assert_eq!(report["file"], json!(home.file), "{}", case.client);
    let backup = std::fs::read_to_string(report["backup"].as_str().unwrap()).unwrap();
    assert_eq!(backup, before);
    let after = std::fs::read_to_string(&home.file).unwrap();
    assert!(after.contains(case.kept) && after.contains("broken"), "{after}");
    assert!(!after.contains("fixture\""), "{}: moved servers are gone: {after}", case.client);
    for name in case.good {
        wait_until_listed(&gateway, &format!("{name}__greet")).await;
    }
    let entry = &report["entry"];
    let address = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| entry[key].as_str());
    match address {
        Some(url) => {
            for name in case.good {
                greet_at(url, name).await;
            }
        }
        None => {
            assert_eq!(entry["command"], json!(powerstrip_binary()));
            let arguments: Vec<_> =
                entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
            assert_eq!(arguments[..2], ["stdio", "--config"]);
            let mut session = StdioSession::start(&gateway);
            session.mcp_initialize().await;
            for name in case.good {
                let tool = format!("{name}__greet");
                let params = json!({"name": tool, "arguments": {"name": "Ada"}});
                let answer = session.mcp("tools/call", &params).await;
                assert!(answer.to_string().contains("Hello, Ada!"), "{answer}");
            }
        }
    }
    let again = home.run(gateway.folder(), &["connect", case.client, "--move", "--json"]).await;
    assert_eq!(again.json_of(0)["changed"], json!(false), "{}", case.client);
    assert_eq!(std::fs::read_to_string(&home.file).unwrap(), after);
}

#[tokio::test]
async fn files_of_real_clients_are_imported() {
    let far = HttpFixture::start().await;
    for case in &CASES {
        import(case, &far.url).await;
    }
}

#[tokio::test]
async fn files_of_real_clients_are_served() {
    let far = HttpFixture::start().await;
    for case in &CASES {
        serve(case, &far.url).await;
    }
}

#[tokio::test]
async fn real_clients_are_connected_and_their_servers_moved() {
    let far = HttpFixture::start().await;
    for case in CASES.iter().filter(|case| !case.client.is_empty()) {
        connect(case, &far.url).await;
    }
}
