//! Hostile servers and authorization servers: refused without a request, and without effect on other servers.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Gateway, Misbehaviour, ProtectedServer, eventually};

use crate::oauth::support::{
    assert_no_secrets, call, client_credentials_entry, command, gateway, wait_for_error,
};

/// A server without an `auth` entry: it names its own authorization server.
fn server_without_auth(protected: &ProtectedServer) -> String {
    format!(
        "egress: {{ allow: ['{}'] }}\nservers:\n  crm: {{ url: '{}' }}\n",
        protected.issuer.trim_start_matches("http://"),
        protected.url
    )
}

#[tokio::test]
async fn endpoints_with_other_schemes_are_refused() {
    for (patch, says) in [
        (json!({"authorization_endpoint": "javascript:alert(1)"}), "authorization_endpoint"),
        (json!({"authorization_endpoint": "file:///etc/passwd"}), "authorization_endpoint"),
        (json!({"code_challenge_methods_supported": ["plain"]}), "S256"),
        (json!({"code_challenge_methods_supported": null}), "S256"),
        (json!({"issuer": "https://evil.example"}), "another issuer"),
    ] {
        let protected = ProtectedServer::start().await;
        protected.patch_metadata(patch.clone());
        let gateway = gateway(&server_without_auth(&protected)).await;
        let error = login_error(&gateway, says).await;
        assert!(protected.requests().is_empty(), "{patch}: {error}");
        assert!(!protected.paths().contains(&"/register".to_owned()), "{patch}");
    }
}

#[tokio::test]
async fn metadata_on_a_private_address_is_not_fetched() {
    let (protected, inner) = (ProtectedServer::start().await, ProtectedServer::start().await);
    // The server's authorization server is on loopback, which is not allowed.
    let bare = format!("servers:\n  crm: {{ url: '{}', auth: {{}} }}\n", protected.url);
    let first = gateway(&bare).await;
    login_error(&first, "loopback").await;
    assert!(protected.paths().is_empty(), "{:?}", protected.paths());

    // The server names another loopback URL for its metadata.
    protected
        .resource(None, Some(&format!("{}/.well-known/oauth-authorization-server", inner.issuer)));
    let second = gateway(&bare).await;
    login_error(&second, "loopback").await;
    for (place, says) in [
        ("file:///etc/passwd", "scheme `file`"),
        ("http://169.254.169.254/latest/meta-data", "link-local"),
    ] {
        protected.resource(None, Some(place));
        let third = gateway(&bare).await;
        login_error(&third, says).await;
    }
    assert!(inner.paths().is_empty() && protected.paths().is_empty());
}

/// Tries to log in until the server's last error contains `says`.
async fn login_error(gateway: &Gateway, says: &str) -> String {
    eventually(&format!("a login that fails and says {says:?}"), || async {
        let output = gateway.run(&["login", "crm", "--json"]).await;
        assert_ne!(output.code, Some(0), "{output:?}");
        assert!(output.stderr.contains("no token for server `crm`"), "{output:?}");
        let shown = command(gateway, &["servers"]).await;
        shown[0]["lastError"].as_str().filter(|error| error.contains(says)).map(str::to_owned)
    })
    .await
}

#[tokio::test]
async fn a_secret_is_sent_only_to_its_own_authorization_server() {
    let (honest, thief) = (ProtectedServer::start().await, ProtectedServer::start().await);
    // The server names the thief as its authorization server; the config names another.
    let config = client_credentials_entry(&honest, "").replace(&honest.url, &thief.url);
    let gateway = gateway(&config).await;
    wait_for_error(&gateway, "does not accept the token").await;
    assert!(thief.requests().is_empty() && thief.paths().is_empty());
    assert!(!honest.requests().is_empty());
    assert_no_secrets(&gateway);
}

#[tokio::test]
async fn a_server_that_claims_another_resource_gets_no_token() {
    let protected = ProtectedServer::start().await;
    protected.resource(Some("https://bank.example/mcp"), None);
    let gateway = gateway(&client_credentials_entry(&protected, "")).await;
    wait_for_error(&gateway, "another resource").await;
    assert!(protected.requests().is_empty());
}

#[tokio::test]
async fn malformed_answers_cost_bounded_time_and_affect_no_other_server() {
    let loops = |protected: &ProtectedServer| Misbehaviour::Redirects(protected.issuer.clone());
    for (endpoint, says) in [("metadata", "was not found"), ("token", "not a token response")] {
        let protected = ProtectedServer::start().await;
        protected.misbehave(endpoint, Misbehaviour::Html);
        let gateway = gateway(&client_credentials_entry(&protected, "")).await;
        wait_for_error(&gateway, says).await;
    }
    for endpoint in ["metadata", "token"] {
        let protected = ProtectedServer::start().await;
        protected.misbehave(endpoint, loops(&protected));
        let gateway = gateway(&client_credentials_entry(&protected, "")).await;
        wait_for_error(&gateway, "redirects").await;
    }
    for endpoint in ["metadata", "token", "resource"] {
        let protected = ProtectedServer::start().await;
        protected.misbehave(endpoint, Misbehaviour::Huge);
        let gateway = gateway(&client_credentials_entry(&protected, "")).await;
        wait_for_error(&gateway, "262144").await;
    }
}

#[tokio::test]
async fn a_hanging_token_endpoint_delays_no_other_server() {
    let protected = ProtectedServer::start().await;
    protected.misbehave("token", Misbehaviour::Hangs);
    let gateway = gateway(&client_credentials_entry(&protected, "")).await;
    let began = Instant::now();
    let answer = call(&gateway, "demo.echo").await;
    assert_eq!(answer["errors"][0]["code"], json!("INVALID_INPUT"), "it runs: {answer}");
    assert!(began.elapsed() < Duration::from_secs(5));
    wait_for_error(&gateway, "timed out after 10000 ms").await;
}
