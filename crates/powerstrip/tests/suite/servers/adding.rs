//! `add`, `remove`, `enable` and `disable` change the config file, and a running gateway follows.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{CommandOutput, McpServer, Service, eventually, powerstrip_binary};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::servers::support::{HttpFixture, fixture};

/// An empty folder in which commands run.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(powerstrip_binary());
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    async fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.command(arguments).output().await.unwrap().into()
    }

    async fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[&["--json"], arguments].concat()).await.json_of(0)
    }

    fn config(&self) -> String {
        std::fs::read_to_string(self.path().join("powerstrip.yaml")).unwrap()
    }

    /// Starts a gateway and waits until it listens.
    async fn serve(&self) -> Child {
        let mut served = self
            .command(&["serve", "--json", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut text = String::new();
        let mut stdout = BufReader::new(served.stdout.take().unwrap());
        while serde_json::from_str::<Value>(&text).is_err() {
            assert_ne!(stdout.read_line(&mut text).await.unwrap(), 0, "it ended early: {text}");
        }
        served
    }

    async fn greets(&self, server: &str) {
        let tool = format!("{server}:greet");
        let answer = self.run(&["call", &tool, "--input", "{\"name\":\"Ada\"}"]).await;
        assert!(answer.ok().contains("Hello, Ada!"), "{answer:?}");
    }
}

#[tokio::test]
async fn a_replaced_server_is_reported_as_it_is_now() {
    let folder = Folder::new();
    let program = fixture();
    let program = program.to_str().unwrap();
    let mut served = folder.serve().await;
    let good = ["add", "tool", "--force", "--", program];
    let bad = ["add", "tool", "--force", "--", "/no/such/program"];
    for (arguments, state) in [(&bad, "down"), (&good, "ready"), (&bad, "down")] {
        let added = folder.json(&arguments[..]).await;
        let tool = &added["servers"]["tool"];
        assert_eq!((&tool["state"], tool["error"].is_null()), (&json!(state), state == "ready"));
    }
    served.kill().await.unwrap();
}

#[tokio::test]
async fn servers_are_added_while_the_gateway_runs_and_leave_again() {
    let (folder, far) = (Folder::new(), HttpFixture::start().await);
    let program = fixture();
    let program = program.to_str().unwrap();
    let mut served = folder.serve().await;
    let added = folder
        .json(&[
            "add",
            "near",
            "-e",
            "API_KEY=sk-live-0123456789abcdef",
            "-e",
            "MODE=fast",
            "--",
            program,
        ])
        .await;
    assert_eq!(added["servers"]["near"]["state"], "ready", "{added}");
    assert_eq!(added["secrets_stored"], json!(["API_KEY"]));
    assert_eq!(
        folder.config(),
        format!(
            "servers:\n  near:\n    command: {program}\n    env:\n      API_KEY: {{ secret: API_KEY }}\n      MODE: fast\n"
        )
    );
    let added = folder.json(&["add", "far", &far.url]).await;
    assert_eq!(added["servers"]["far"]["state"], "ready", "{added}");
    folder.greets("near").await;
    folder.greets("far").await;

    let broken = folder.json(&["add", "broken", "--", "/no/such/program"]).await;
    let error = broken["servers"]["broken"]["error"].as_str().unwrap();
    assert!(error.contains("/no/such/program"), "{broken}");
    let taken = folder.run(&["add", "far", "--", "x"]).await;
    assert!(taken.failed(2).contains("--force"), "{taken:?}");

    let with_comment = folder.config().replace("  far:\n", "  # the far one\n  far:\n");
    std::fs::write(folder.path().join("powerstrip.yaml"), &with_comment).unwrap();
    let disabled = folder.json(&["disable", "far"]).await;
    assert_eq!(disabled["servers"]["far"]["state"], "disabled", "{disabled}");
    assert!(folder.config().contains("disabled: true"));
    let enabled = folder.json(&["enable", "far"]).await;
    assert_eq!(enabled["servers"]["far"]["state"], "ready", "{enabled}");
    assert_eq!(folder.config(), with_comment);
    let removed = folder.json(&["remove", "far", "broken"]).await;
    assert_eq!(removed["servers"], json!({"far": null, "broken": null}), "{removed}");
    assert!(
        folder.config().ends_with("      MODE: fast\n  # the far one\n"),
        "{}",
        folder.config()
    );
    let unknown = folder.run(&["remove", "near", "unknown"]).await;
    assert!(unknown.failed(1).contains("no server `unknown`"), "{unknown:?}");
    folder.greets("near").await;
    served.kill().await.unwrap();
}

#[tokio::test]
async fn the_catalog_is_searched_and_says_what_it_needs() {
    let folder = Folder::new();
    let listed = folder.json(&["add", "--list"]).await;
    assert!(listed["catalog"].as_array().unwrap().len() >= 40, "{listed}");
    let found = folder.run(&["add", "--list", "brave"]).await;
    assert!(found.ok().contains("BRAVE_API_KEY"), "{found:?}");
    let unknown = folder.run(&["add", "playwrite"]).await;
    assert!(unknown.failed(2).contains("did you mean `playwright`"), "{unknown:?}");
    let missing = folder.run(&["add", "filesystem"]).await;
    assert!(missing.failed(2).contains("--arg"), "{missing:?}");
    assert!(!folder.path().join("powerstrip.yaml").exists());

    let added = folder.json(&["add", "docs", "--from", "filesystem", "--arg", "/srv/docs"]).await;
    assert_eq!(added["servers"], Value::Null, "no gateway runs: {added}");
    let added = folder.json(&["add", "github"]).await;
    assert!(added["secrets_missing"]["GITHUB_TOKEN"].as_str().unwrap().contains("secret set"));
    assert_eq!(
        folder.config(),
        "servers:\n  docs:\n    command: npx\n    args: [\"-y\", \"@modelcontextprotocol/server-filesystem\", /srv/docs]\n  github:\n    url: https://api.githubcopilot.com/mcp/\n    headers:\n      Authorization: { prefix: \"Bearer \", secret: GITHUB_TOKEN }\n"
    );
    folder.run(&["check"]).await.ok();
}

#[tokio::test]
async fn a_registry_is_searched_where_the_catalog_has_nothing() {
    let folder = Folder::new();
    let tool = json!({"name": "forecast", "inputSchema": {"type": "object"}});
    let server = McpServer::start(vec![tool]).await;
    let row = |name: &str, definition: Value| {
        let mut row = json!({"server": definition});
        row["server"]["name"] = json!(name);
        row["server"]["description"] = json!("Weather");
        row
    };
    let remote = json!({"remotes": [{"type": "streamable-http", "url": server.url()}]});
    let package = json!({"packages": [{"registryType": "npm", "identifier": "@x/storms", "version": "1.0.0"}]});
    let rows = [row("io.example/weather", remote), row("io.example/storms", package)];
    let registry = Service::answering("/v0/servers", json!({"servers": rows})).await;
    let url = registry.url("");
    std::fs::write(folder.path().join("powerstrip.yaml"), format!("server_registry: {url}\n"))
        .unwrap();

    let listed = folder.json(&["add", "--list", "weather"]).await;
    assert_eq!(listed["registry"][0]["name"], "io.example/weather", "{listed}");
    let refused = folder.run(&["add", "storms"]).await;
    assert!(refused.failed(2).contains("--yes"), "{refused:?}");
    assert!(refused.stderr.contains("npx -y @x/storms@1.0.0"), "{refused:?}");
    let private = folder.run(&["add", "weather", "--yes"]).await;
    assert!(private.failed(2).contains("--allow-private"), "{private:?}");
    let unasked = folder.run(&["add", "weather", "--allow-private"]).await;
    assert!(unasked.failed(2).contains("--yes"), "{unasked:?}");
    folder.json(&["add", "weather", "--yes", "--allow-private"]).await;
    let answer = folder.run(&["call", "weather:forecast", "--input", "{}"]).await;
    assert!(answer.ok().contains("forecast"), "{answer:?}");
    let none = folder.run(&["add", "x", "--registry", "http://127.0.0.1:1"]).await;
    assert!(none.failed(1).contains("cannot be reached"), "{none:?}");
}

impl Folder {
    async fn store_secret(&self, name: &str, value: &str) {
        let mut child = self
            .command(&["secret", "set", name])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stdin, value.as_bytes()).await.unwrap();
        drop(stdin);
        assert!(child.wait().await.unwrap().success());
    }

    fn script(&self, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path().join("server.sh");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    async fn wait_for_state(&self, name: &str, state: &str) {
        eventually(&format!("{name} is {state}"), || async {
            let servers = self.json(&["servers"]).await;
            let mut servers = servers.as_array().unwrap().iter();
            let server = servers.find(|server| server["name"] == name)?;
            (server["state"] == state).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn usual_mistakes_are_answered_with_the_command_to_type() {
    let folder = Folder::new();
    for (typed, expected) in [
        (&["add", "crm", "npx", "-y", "foo"][..], "powerstrip add crm -- npx -y foo"),
        (&["add", "crm", "npx"], "powerstrip add crm -- npx"),
        (&["add", "crm", "mcp.example.com"], "write `https://mcp.example.com`"),
        (&["add", "crm", "https://mcp.example.com", "more"], "unexpected argument `more`"),
    ] {
        let refused = folder.run(typed).await;
        assert!(refused.failed(2).contains(expected), "{typed:?}: {refused:?}");
    }
    assert!(!folder.path().join("powerstrip.yaml").exists());
    let mut served = folder.serve().await;
    let added = folder.run(&["add", "crm", "--", "npxx", "-y", "foo"]).await;
    assert!(added.ok().contains("did you mean `npx`? `npxx` is not in PATH"), "{added:?}");
    served.kill().await.unwrap();
}

/// The first day, from an empty folder, by commands alone.
#[tokio::test]
async fn a_server_is_added_given_a_secret_broken_repaired_and_disabled() {
    let (folder, far) = (Folder::new(), HttpFixture::start().await);
    let run = format!("test -n \"$TOKEN\" && exec '{}'", fixture().display());
    folder.script(&run);
    let mut served = folder.serve().await;
    let added =
        folder.json(&["add", "box", "-e", "TOKEN=${input:TOKEN}", "--", "./server.sh"]).await;
    assert_eq!(added["servers"]["box"]["state"], "needs_secret", "{added}");
    assert!(folder.config().contains("command: ./server.sh\n"), "{}", folder.config());
    let added = folder.json(&["add", "far", &far.url]).await;
    assert_eq!(
        added["servers"]["far"]["state"], "ready",
        "one missing secret stops one server: {added}"
    );
    folder.store_secret("TOKEN", "box-token-1").await;
    folder.wait_for_state("box", "ready").await;
    folder.greets("box").await;

    folder.script("echo 'the database is gone' >&2; exit 3");
    folder.run(&["servers", "restart", "box"]).await.ok();
    folder.wait_for_state("box", "down").await;
    let logs = folder.run(&["servers", "logs", "box"]).await;
    assert!(logs.ok().contains("the database is gone"), "{logs:?}");
    folder.greets("far").await;

    folder.script(&run);
    folder.run(&["servers", "restart", "box"]).await.ok();
    folder.wait_for_state("box", "ready").await;
    folder.greets("box").await;
    let disabled = folder.json(&["disable", "box"]).await;
    assert_eq!(disabled["servers"]["box"]["state"], "disabled", "{disabled}");
    let refused = folder.run(&["call", "box:greet", "--input", "{\"name\":\"Ada\"}"]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    served.kill().await.unwrap();
}

#[tokio::test]
async fn a_running_gateway_is_found_by_connect_and_serves_a_new_tool_at_once() {
    let folder = Folder::new();
    let _served = folder.serve().await;
    let printed = folder.run(&["connect", "cursor", "--print"]).await;
    let url = printed.ok();
    assert!(url.contains("\"http://127.0.0.1:") && !url.contains(":7777"), "{printed:?}");
    folder.run(&["new", "tool", "text.shout", "--kind", "python"]).await.ok();
    let called = folder.run(&["call", "text.shout", "--input", r#"{"name":"Ada"}"#]).await;
    assert!(called.ok().contains("Hello, Ada!"), "{called:?}");
}
