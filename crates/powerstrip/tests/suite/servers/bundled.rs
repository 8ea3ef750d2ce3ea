//! Our own capability servers behind the gateway.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{CommandOutput, Gateway, powerstrip_binary};
use tokio::process::Command;

const NAMES: [&str; 9] = [
    "audit-compliance-mcp",
    "doc-parser-mcp",
    "image-ocr-mcp",
    "job-search-mcp",
    "media-transform-mcp",
    "resume-profile-mcp",
    "social-intelligence-mcp",
    "text-analysis-mcp",
    "video-subtitle-mcp",
];

/// A gateway in a folder without a config, whose servers have a home folder of their own.
async fn empty_gateway() -> Gateway {
    let builder = Gateway::with();
    let home = builder.scratch().display().to_string();
    builder.env("HOME", &home).start().await
}

async fn run(gateway: &Gateway, arguments: &[&str]) -> CommandOutput {
    let mut command = Command::new(powerstrip_binary());
    command.args(arguments).current_dir(gateway.folder()).stdin(Stdio::null()).kill_on_drop(true);
    command.output().await.unwrap().into()
}

async fn upload(gateway: &Gateway, name: &str, content: &str) -> Value {
    std::fs::write(gateway.folder().join(name), content).unwrap();
    run(gateway, &["--json", "files", "put", name]).await.json_of(0)[0]["file_id"].clone()
}

#[tokio::test]
async fn installed_servers_are_added_by_one_flag_and_take_files_by_id() {
    let gateway = empty_gateway().await;
    let added = run(&gateway, &["--json", "add", "--bundled"]).await.json_of(0);
    let config = std::fs::read_to_string(gateway.folder().join("powerstrip.yaml")).unwrap();
    for name in NAMES {
        assert!(!added["servers"][name]["state"].is_null(), "{added:#}");
        let entry = config.split(&format!("  {name}:\n")).nth(1).unwrap_or_default();
        let entry: Vec<_> = entry.lines().take_while(|line| line.starts_with("    ")).collect();
        // Jobs outlive idle time, so their server is not stopped when it is idle.
        let eager = name == "video-subtitle-mcp";
        let start = (!eager).then_some("start: lazy");
        for key in start.into_iter().chain(["instances: shared", "timeout: 2m", "pin: off"]) {
            assert!(
                entry.iter().any(|line| line.trim().replace('"', "") == key),
                "{name}, {key}: {config}"
            );
        }
    }
    let file = upload(&gateway, "note.txt", "A gateway guards the tools of agents.").await;
    let keywords =
        gateway.call("text-analysis-mcp:extract_keywords", &json!({"file_id": file})).await;
    assert!(keywords.body["data"]["keywords"].to_string().contains("gateway"), "{keywords:?}");
    let page = "<table><tr><th>Town<th>People<tr><td>Ulm<td>126,000</table>";
    let file = upload(&gateway, "towns.html", page).await;
    let tables = gateway.call("doc-parser-mcp:extract_tables", &json!({"file_id": file})).await;
    let rows = &tables.body["data"]["tables"][0]["rows"];
    assert_eq!(*rows, json!([["Town", "People"], ["Ulm", "126,000"]]), "{tables:?}");

    let file = upload(&gateway, "mail.txt", "Write to ada@example.org about the gateway.").await;
    let found = gateway.call("audit-compliance-mcp:find_pii", &json!({"file_id": file})).await;
    assert_eq!(found.body["data"]["spans"][0]["type"], "EMAIL_ADDRESS", "{found:?}");

    // A second run changes nothing.
    let again = run(&gateway, &["add", "--bundled"]).await;
    assert!(again.stderr.contains("`text-analysis-mcp` is in the config already"), "{again:?}");
    let after = std::fs::read_to_string(gateway.folder().join("powerstrip.yaml")).unwrap();
    assert_eq!(after, config);
}
