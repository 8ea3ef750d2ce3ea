//! What one person is shown by a server is not shown to others.

use serde_json::json;
use testkit::{Browser, Gateway, ProtectedServer, eventually, powerstrip_binary};
use tokio::process::Command;

use crate::support::{command, error_of, gateway};

/// What somebody with this key is shown, as text.
async fn listed(gateway: &Gateway, key: Option<&str>, method: &str) -> String {
    let params = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let mut request = reqwest::Client::new()
        .post(gateway.url("/mcp"))
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
        .json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    request.send().await.expect("an answer").text().await.expect("text")
}

/// A gateway whose operator has logged in to a server; with a key of somebody else where callers need one.
async fn logged_in(protected: &ProtectedServer, more: &str) -> (Gateway, Option<String>) {
    let (url, issuer) = (&protected.url, &protected.issuer);
    let entry = format!("servers:\n  crm: {{ url: '{url}', auth: {{ issuer: '{issuer}' }} }}\n");
    let gateway = gateway(&format!("{more}{entry}")).await;
    let key = match more {
        "" => None,
        _ => command(&gateway, &["keys", "add", "somebody"]).await["secret"]
            .as_str()
            .map(str::to_owned),
    };
    let link = eventually("a link", || async {
        command(&gateway, &["login", "crm"]).await["login"].as_str().map(str::to_owned)
    });
    let mut browser = Browser::default();
    let away = browser.confirm(&link.await).await;
    assert_eq!(browser.open(&format!("{away}&login_hint=operator")).await.status, 200);
    // Whoever sees the tools finds the rest, too.
    eventually("the tools are listed", || async {
        let tools = listed(&gateway, key.as_deref(), "tools/list").await;
        tools.contains("of_operator").then_some(())
    })
    .await;
    (gateway, key)
}

#[tokio::test]
async fn where_there_are_several_people_one_persons_prompts_and_resources_are_not_the_others() {
    let protected = ProtectedServer::start().await;
    let (gateway, key) = logged_in(&protected, "auth: {}\n").await;
    for method in ["prompts/list", "resources/list"] {
        let shown = listed(&gateway, key.as_deref(), method).await;
        assert!(!shown.contains("of_operator"), "{method}: {shown}");
    }
}

#[tokio::test]
async fn the_only_person_is_shown_all_that_is_theirs() {
    let protected = ProtectedServer::start().await;
    let (gateway, _) = logged_in(&protected, "").await;
    for method in ["prompts/list", "resources/list"] {
        let shown = listed(&gateway, None, method).await;
        assert!(shown.contains("of_operator"), "{method}: {shown}");
    }
}

/// A server that named itself could send us anywhere for a token, and have people log in for it.
#[tokio::test]
async fn for_a_server_that_registered_itself_nobody_logs_in() {
    let protected = ProtectedServer::start().await;
    let gateway = gateway("").await;
    let token = gateway.folder().join(".powerstrip/registration-token");
    let token = std::fs::read_to_string(token).expect("a token");
    let body = json!({"name": "crm", "url": protected.url, "version": "1"});
    let request = reqwest::Client::new().post(gateway.url("/v1/servers")).json(&body);
    let answer = request.bearer_auth(token.trim()).send().await.expect("an answer");
    assert_eq!(answer.status().as_u16(), 201);
    error_of(&gateway, "401").await;
    let asked = Command::new(powerstrip_binary())
        .args(["login", "crm", "--json", "--config", "powerstrip.yaml"])
        .current_dir(gateway.folder())
        .output()
        .await
        .expect("the command runs");
    assert!(!asked.status.success() && asked.stdout.is_empty(), "{asked:?}");
    assert_eq!(protected.paths(), Vec::<String>::new(), "its authorization server is not asked");
    assert_eq!(protected.authorizations(), Vec::<String>::new(), "and it is shown no token");
}
