//! Lists that a server shows one user are not shown to others.

use serde_json::json;
use testkit::{Browser, Gateway, ProtectedServer, eventually, mcp_request};

use crate::oauth::support::{command, gateway, wait_for_error};

/// The list that a caller with this key receives, as text.
async fn listed(gateway: &Gateway, key: Option<&str>, method: &str) -> String {
    let mut request =
        mcp_request(reqwest::Client::new().post(gateway.url("/mcp")), method, json!({}));
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    request.send().await.expect("an answer").text().await.expect("text")
}

/// A gateway whose operator has logged in to a server; with `auth`, also the key of another caller.
async fn logged_in(protected: &ProtectedServer, more: &str) -> (Gateway, Option<String>) {
    let (url, issuer) = (&protected.url, &protected.issuer);
    let entry = format!("servers:\n  crm: {{ url: '{url}', auth: {{ issuer: '{issuer}' }} }}\n");
    let gateway = gateway(&format!("{more}{entry}")).await;
    let key = match more {
        "" => None,
        _ => {
            command(&gateway, &["keys", "add", "other"]).await["secret"].as_str().map(str::to_owned)
        }
    };
    let link = eventually("a link", || async {
        command(&gateway, &["login", "crm"]).await["login"].as_str().map(str::to_owned)
    });
    let mut browser = Browser::default();
    let away = browser.confirm(&link.await).await;
    assert_eq!(browser.open(&format!("{away}&login_hint=operator")).await.status, 200);
    // The other lists are ready when the tools are.
    eventually("the tools are listed", || async {
        let tools = listed(&gateway, key.as_deref(), "tools/list").await;
        tools.contains("of_operator").then_some(())
    })
    .await;
    (gateway, key)
}

#[tokio::test]
async fn with_several_users_prompts_and_resources_are_private() {
    let protected = ProtectedServer::start().await;
    let (gateway, key) = logged_in(&protected, "auth: {}\n").await;
    for method in ["prompts/list", "resources/list"] {
        let shown = listed(&gateway, key.as_deref(), method).await;
        assert!(!shown.contains("of_operator"), "{method}: {shown}");
    }
}

#[tokio::test]
async fn a_single_user_sees_all_their_prompts_and_resources() {
    let protected = ProtectedServer::start().await;
    let (gateway, _) = logged_in(&protected, "").await;
    for method in ["prompts/list", "resources/list"] {
        let shown = listed(&gateway, None, method).await;
        assert!(shown.contains("of_operator"), "{method}: {shown}");
    }
}

/// A registered server could send the gateway to any authorization server and have users log in for it.
#[tokio::test]
async fn registered_servers_get_no_user_tokens() {
    let protected = ProtectedServer::start().await;
    let gateway = gateway("").await;
    let body = json!({"name": "crm", "url": protected.url, "version": "1"});
    let request = reqwest::Client::new().post(gateway.url("/v1/servers")).json(&body);
    let answer = request.bearer_auth(gateway.registration_token()).send().await.expect("an answer");
    assert_eq!(answer.status().as_u16(), 201);
    wait_for_error(&gateway, "401").await;
    let login = gateway.run(&["login", "crm", "--json"]).await;
    assert!(login.code != Some(0) && login.stdout.is_empty(), "{login:?}");
    assert_eq!(
        protected.paths(),
        Vec::<String>::new(),
        "its authorization server is not contacted"
    );
    assert_eq!(protected.authorizations(), Vec::<String>::new(), "the server receives no token");
}
