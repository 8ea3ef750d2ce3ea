//! Tokens that users agree to, each for themselves.

use serde_json::{Value, json};
use testkit::{Browser, CANARY, Gateway, ProtectedServer, eventually};

use crate::oauth::support::{assert_no_secrets, call, command, gateway};

fn entry(protected: &ProtectedServer) -> String {
    format!(
        "servers:\n  crm: {{ url: '{}', auth: {{ issuer: '{}' }} }}\n",
        protected.url, protected.issuer
    )
}

async fn link(gateway: &Gateway) -> String {
    eventually("a link", || async {
        command(gateway, &["login", "crm"]).await["login"].as_str().map(str::to_owned)
    })
    .await
}

#[tokio::test]
async fn a_user_logs_in_and_calls_with_their_own_token() {
    let protected = ProtectedServer::start().await;
    let gateway = gateway(&entry(&protected)).await;
    let link = link(&gateway).await;
    assert!(link.starts_with(&gateway.url("/oauth/login?")), "{link}");
    assert_eq!(self::link(&gateway).await, link, "one link at a time");

    let mut browser = Browser::default();
    let away = browser.confirm(&link).await;
    assert!(away.starts_with(&format!("{}/authorize?", protected.issuer)), "{away}");
    let page = browser.open(&format!("{away}&login_hint=ada")).await;
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(page.headers["referrer-policy"], "no-referrer", "the address holds the code");
    assert!(page.text.contains("crm") && !page.text.contains(CANARY), "{page:?}");
    let answer = call(&gateway, "crm:whoami").await;
    assert_eq!(answer["data"]["who"], json!("ada"), "{answer}");
    assert_eq!(command(&gateway, &["login", "crm"]).await["login"], Value::Null);

    let request = &protected.requests()[0];
    assert_eq!(request.form["grant_type"], "authorization_code");
    assert_eq!(request.form["resource"], protected.url);
    assert!(request.form["code_verifier"].len() >= 43);
    assert!(request.authorization.is_some(), "the secret of its registration: {request:?}");
    assert_no_secrets(&gateway);
}

#[tokio::test]
async fn a_call_without_a_login_is_denied_with_a_login_link() {
    let protected = ProtectedServer::start().await;
    let gateway = gateway(&entry(&protected)).await;
    Browser::default().log_in(&link(&gateway).await).await;
    call(&gateway, "crm:whoami").await;
    protected.revoke();
    let answer = eventually("the token is old enough to be given up", || async {
        let answer = call(&gateway, "crm:whoami").await;
        (answer["errors"][0]["code"] == json!("DENIED")).then_some(answer)
    })
    .await;
    let error = &answer["errors"][0];
    let login = error["details"]["login"].as_str().expect("a link");
    assert!(login.starts_with(&gateway.url("/oauth/login?")), "{answer}");
    assert!(error["message"].as_str().expect("a message").contains(login));
    assert!(!answer.to_string().contains(CANARY), "{answer}");
}

#[tokio::test]
async fn a_call_before_the_first_login_carries_the_link_and_the_command() {
    let protected = ProtectedServer::start().await;
    let gateway = gateway(&entry(&protected)).await;
    let answer = eventually("the server asks for a login", || async {
        let answer = gateway.call("crm:whoami", &json!({})).await.body;
        let asked = answer["errors"][0]["details"]["state"] == json!("needs_sign_in");
        asked.then_some(answer)
    })
    .await;
    let error = &answer["errors"][0];
    assert_eq!(error["code"], json!("UNAVAILABLE"), "{answer}");
    assert_eq!(error["details"]["command"], json!("powerstrip login crm"), "{answer}");
    let login = error["details"]["login"].as_str().expect("a link");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains(login) && message.contains("`powerstrip login crm`"), "{message}");
    assert_eq!(link(&gateway).await, login, "the link of the command");
    Browser::default().log_in(login).await;
    let answer = call(&gateway, "crm:whoami").await;
    assert_eq!(answer["ok"], json!(true), "{answer}");
}

#[tokio::test]
async fn a_state_is_single_use_and_bound_to_its_issuer() {
    let protected = ProtectedServer::start().await;
    let gateway = gateway(&entry(&protected)).await;
    protected.set_iss("https://evil.example");
    let mut browser = Browser::default();
    let page = browser.log_in(&link(&gateway).await).await;
    assert_eq!((page.status, protected.requests().len()), (400, 0), "{page:?}");

    protected.set_iss(&protected.issuer);
    let link = link(&gateway).await;
    let away = browser.confirm(&link).await;
    assert_eq!(browser.open(&away).await.status, 200);
    let page = browser.open(&away).await;
    assert_eq!(page.status, 400, "the same state again: {page:?}");
    assert_eq!(browser.open(&link).await.status, 400, "and the link again");

    for path in ["callback", "login"] {
        for query in ["", "?state=x&code=y", "?state=a&state=b", "?error=<script>alert(1)</script>"]
        {
            let page = browser.open(&gateway.url(&format!("/oauth/{path}{query}"))).await;
            assert_eq!(page.status, 400, "{path}{query}");
            assert!(!page.text.contains("<script>"), "{page:?}");
        }
    }
    assert_eq!(protected.requests().len(), 1);
}

#[tokio::test]
async fn an_expired_token_is_refreshed_and_the_new_refresh_token_kept() {
    let protected = ProtectedServer::start().await;
    protected.set_token_lifetime(5);
    let gateway = gateway(&entry(&protected)).await;
    Browser::default().log_in(&link(&gateway).await).await;
    for round in 1..=2 {
        eventually("a refreshed token", || async {
            call(&gateway, "crm:whoami").await;
            let refreshed = protected.requests().len() - 1;
            (refreshed >= round).then_some(())
        })
        .await;
        assert_eq!(call(&gateway, "crm:whoami").await["data"]["who"], json!("refreshed"));
    }
    let used: Vec<_> =
        protected.requests().iter().filter_map(|r| r.form.get("refresh_token").cloned()).collect();
    assert!(used.len() >= 2 && used[0] != used[1], "rotated: {used:?}");
    assert_no_secrets(&gateway);
}

#[tokio::test]
async fn a_client_metadata_document_replaces_registration() {
    let protected = ProtectedServer::start().await;
    protected.patch_metadata(json!({"client_id_metadata_document_supported": true}));
    let config = format!(
        "servers:\n  crm: {{ url: '{}', auth: {{ issuer: '{}', redirect_uri: 'https://gateway.example/oauth/callback' }} }}\n",
        protected.url, protected.issuer
    );
    let gateway = gateway(&config).await;
    assert_eq!(
        gateway.get("/oauth/client.json").await.status,
        404,
        "it is served only after its first use"
    );
    let link = link(&gateway).await;
    let query = link.strip_prefix("https://gateway.example/oauth/login").expect("our page");
    let page = gateway.url(&format!("/oauth/login{query}"));
    let away = Browser::default().confirm(&page).await;
    let id = "https://gateway.example/oauth/client.json";
    assert!(
        away.contains("client_id=https%3A%2F%2Fgateway.example%2Foauth%2Fclient.json"),
        "{away}"
    );
    let cookie = Browser::default().load(&page).await.headers["set-cookie"].clone();
    let cookie = cookie.to_str().expect("text");
    assert!(cookie.starts_with("__Host-") && cookie.ends_with("; Path=/; Secure"), "{cookie}");
    let document = gateway.get("/oauth/client.json").await.body;
    assert_eq!(document["client_id"], json!(id));
    assert_eq!(document["redirect_uris"], json!(["https://gateway.example/oauth/callback"]));
    assert!(!protected.paths().contains(&"/register".to_owned()));
}
