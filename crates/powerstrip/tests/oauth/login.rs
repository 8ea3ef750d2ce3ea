//! Tokens that a person agrees to, each for themselves.

use serde_json::{Value, json};
use testkit::{CANARY, Gateway, Protected, eventually};

use crate::support::{call, command, gateway, keeps_secrets};

fn entry(protected: &Protected) -> String {
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

/// Follows a link as a browser does: the authorization server agrees, and sends it back.
async fn follow(link: &str) -> (u16, String) {
    let response = reqwest::get(link).await.expect("an answer");
    let headers = response.headers().clone();
    let status = response.status().as_u16();
    assert_eq!(headers["referrer-policy"], "no-referrer", "the page of the gateway");
    (status, response.text().await.expect("a page"))
}

#[tokio::test]
async fn pain_5_a_person_logs_in_and_calls_with_a_token_of_their_own() {
    let protected = Protected::start().await;
    let gateway = gateway(&entry(&protected)).await;
    let link = link(&gateway).await;
    assert!(link.starts_with(&format!("{}/authorize?", protected.issuer)), "{link}");
    assert_eq!(self::link(&gateway).await, link, "one link at a time");

    let (status, page) = follow(&format!("{link}&login_hint=ada")).await;
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("crm") && !page.contains(CANARY), "{page}");
    let answer = call(&gateway, "crm:whoami").await;
    assert_eq!(answer["data"]["who"], json!("ada"), "{answer}");
    assert_eq!(command(&gateway, &["login", "crm"]).await["login"], Value::Null);

    let request = &protected.requests()[0];
    assert_eq!(request.form["grant_type"], "authorization_code");
    assert_eq!(request.form["resource"], protected.url);
    assert!(request.form["code_verifier"].len() >= 43);
    assert!(request.authorization.is_some(), "the secret of its registration: {request:?}");
    keeps_secrets(&gateway);
}

#[tokio::test]
async fn a_call_without_a_login_is_denied_and_says_where_to_go() {
    let protected = Protected::start().await;
    let gateway = gateway(&entry(&protected)).await;
    follow(&link(&gateway).await).await;
    call(&gateway, "crm:whoami").await;
    protected.revoke();
    let answer = eventually("the token is old enough to be given up", || async {
        let answer = call(&gateway, "crm:whoami").await;
        (answer["errors"][0]["code"] == json!("DENIED")).then_some(answer)
    })
    .await;
    let error = &answer["errors"][0];
    let login = error["details"]["login"].as_str().expect("a link");
    assert!(login.starts_with(&format!("{}/authorize?", protected.issuer)), "{answer}");
    assert!(error["message"].as_str().expect("a message").contains(login));
    assert!(!answer.to_string().contains(CANARY), "{answer}");
}

#[tokio::test]
async fn a_state_counts_once_and_another_issuers_answer_never() {
    let protected = Protected::start().await;
    let gateway = gateway(&entry(&protected)).await;
    protected.iss("https://evil.example");
    let (status, page) = follow(&link(&gateway).await).await;
    assert_eq!((status, protected.requests().len()), (400, 0), "{page}");

    protected.iss(&protected.issuer);
    let link = link(&gateway).await;
    assert_eq!(follow(&link).await.0, 200);
    let (status, page) = follow(&link).await;
    assert_eq!(status, 400, "the same state again: {page}");

    for query in ["", "?state=x&code=y", "?state=a&state=b", "?error=<script>alert(1)</script>"] {
        let (status, page) = follow(&gateway.url(&format!("/oauth/callback{query}"))).await;
        assert_eq!(status, 400, "{query}");
        assert!(!page.contains("<script>"), "{page}");
    }
    assert_eq!(protected.requests().len(), 1);
}

#[tokio::test]
async fn an_expired_token_is_refreshed_and_the_new_refresh_token_kept() {
    let protected = Protected::start().await;
    protected.life(5);
    let gateway = gateway(&entry(&protected)).await;
    follow(&link(&gateway).await).await;
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
    keeps_secrets(&gateway);
}

#[tokio::test]
async fn a_document_about_the_gateway_is_its_name_where_that_is_enough() {
    let protected = Protected::start().await;
    protected.bend(json!({"client_id_metadata_document_supported": true}));
    let config = format!(
        "servers:\n  crm: {{ url: '{}', auth: {{ issuer: '{}', redirect_uri: 'https://gateway.example/oauth/callback' }} }}\n",
        protected.url, protected.issuer
    );
    let gateway = gateway(&config).await;
    assert_eq!(gateway.get("/oauth/client.json").await.status, 404, "nobody was told of it yet");
    let link = link(&gateway).await;
    let id = "https://gateway.example/oauth/client.json";
    assert!(
        link.contains("client_id=https%3A%2F%2Fgateway.example%2Foauth%2Fclient.json"),
        "{link}"
    );
    let document = gateway.get("/oauth/client.json").await.body;
    assert_eq!(document["client_id"], json!(id));
    assert_eq!(document["redirect_uris"], json!(["https://gateway.example/oauth/callback"]));
    assert!(!protected.paths().contains(&"/register".to_owned()));
}
