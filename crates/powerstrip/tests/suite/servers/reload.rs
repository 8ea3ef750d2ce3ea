//! Servers are added and removed by config changes; unchanged ones keep running.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Gateway, eventually, mcp_call, powerstrip_binary, send};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::servers::support::{
    HttpFixture, command, fixture, listed, over_http, over_stdio, wait_until_listed,
};

#[tokio::test]
async fn a_changed_config_adds_and_removes_servers() {
    let far = HttpFixture::start().await;
    let stays = format!("listen: 127.0.0.1:0\nservers:\n{}", over_stdio("near"));
    let gateway =
        Gateway::with().config(&format!("servers:\n{}", over_stdio("near"))).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    let sessions = command(&gateway, &["servers"]).await;

    gateway.write("powerstrip.yaml", &format!("{stays}{}", over_http("far", &far.url)));
    wait_until_listed(&gateway, "far__greet").await;
    let answer = gateway.call("far:greet", &json!({"name": "Ada"})).await.body;
    assert_eq!(answer["ok"], json!(true), "{answer}");

    gateway.write("powerstrip.yaml", &format!("{stays}limts: {{}}\n"));
    eventually("the log names the key", || async {
        gateway.log().contains("limts: unknown key").then_some(())
    })
    .await;
    assert!(listed(&gateway).await.contains(&"far__greet".to_owned()), "nothing has changed");

    gateway.write("powerstrip.yaml", &stays);
    eventually("the removed server's tools are gone", || async {
        (!listed(&gateway).await.iter().any(|name| name.starts_with("far__"))).then_some(())
    })
    .await;
    let after = command(&gateway, &["servers"]).await;
    assert_eq!(after[0]["name"], json!("near"));
    assert_eq!(
        after[0]["restarts"], sessions[0]["restarts"],
        "an unchanged server is not restarted"
    );
    assert_eq!(after.as_array().map(Vec::len), Some(1), "{after}");
}

#[tokio::test]
async fn servers_of_mcp_json_are_imported_and_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mcp.json");
    let servers = json!({"mcpServers": {"near": {"command": fixture(), "args": []}}});
    std::fs::write(&file, servers.to_string()).expect("the file can be written");
    let powerstrip = || {
        let mut command = Command::new(powerstrip_binary());
        command.current_dir(folder.path()).stdin(Stdio::null()).kill_on_drop(true);
        command
    };

    let imported = powerstrip().args(["import", "mcp.json"]).output().await.expect("it runs");
    let yaml = String::from_utf8(imported.stdout).expect("text");
    assert!(yaml.starts_with("servers:\n"), "{yaml}");
    let gateway = Gateway::with().config(&yaml).start().await;
    wait_until_listed(&gateway, "near__greet").await;

    let mut served = powerstrip()
        .args(["serve", "--json", "--listen", "127.0.0.1:0", "--mcp-json", "mcp.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut text = String::new();
    let mut stdout = BufReader::new(served.stdout.take().expect("stdout is piped"));
    while serde_json::from_str::<Value>(&text).is_err() {
        let read = stdout.read_line(&mut text).await.expect("it says where it listens");
        assert_ne!(read, 0, "it ended early: {text}");
    }
    let said: Value = serde_json::from_str(&text).expect("JSON");
    let url = said["mcp"].as_str().expect("a URL");
    eventually("the server answers", || async {
        let result = mcp_call(url, "near__greet", json!({"name": "Ada"})).await;
        (result["content"][0]["text"] == json!("Hello, Ada!")).then_some(())
    })
    .await;

    // A server that is not in the config file is not switched there.
    let token = folder.path().join(said["adminToken"].as_str().expect("a path"));
    let token = std::fs::read_to_string(token).expect("the admin token");
    let disable = format!("{}/v1/servers/near/disable", said["url"].as_str().expect("a URL"));
    let request = reqwest::Client::new().post(disable).json(&json!({}));
    let refused = send(request.bearer_auth(token.trim())).await;
    assert!(refused.body.to_string().contains("--mcp-json"), "{refused:?}");
}
