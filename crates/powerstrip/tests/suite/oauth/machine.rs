//! Tokens that need no user.

use std::time::Duration;

use serde_json::json;
use testkit::{CANARY, ProtectedServer};

use crate::oauth::support::{
    SECRET, assert_no_secrets, call, client_credentials_entry, gateway, wait_for_error,
};

#[tokio::test]
async fn a_challenged_call_obtains_a_token_and_succeeds() {
    let protected = ProtectedServer::start().await;
    let gateway = gateway(&client_credentials_entry(&protected, "")).await;
    let answer = call(&gateway, "crm:whoami").await;
    assert_eq!(answer["data"]["who"], json!("client_credentials"), "{answer}");

    let requests = protected.requests();
    assert_eq!(requests.len(), 1, "one token for all: {requests:?}");
    assert_eq!(requests[0].form["resource"], protected.url);
    assert_eq!(requests[0].form["scope"], "read", "the scopes that the server's metadata names");
    // `strip:canary7f3d-client+secret`, each part form-encoded.
    let basic = "Basic c3RyaXA6Y2FuYXJ5N2YzZC1jbGllbnQlMkJzZWNyZXQ=";
    assert_eq!(requests[0].authorization.as_deref(), Some(basic));
    assert!(!answer.to_string().contains(CANARY));
    assert_no_secrets(&gateway);
}

#[tokio::test]
async fn the_callers_token_never_reaches_a_server() {
    let protected = ProtectedServer::start().await;
    let gateway = gateway(&client_credentials_entry(&protected, "")).await;
    call(&gateway, "crm:whoami").await;
    let headers = [("authorization", "Bearer agents-own"), ("x-api-key", "agents-own")];
    let answer = gateway.call_with("crm:whoami", &json!({}), &headers).await.body;
    assert_eq!(answer["ok"], json!(true), "{answer}");
    let shown = protected.authorizations();
    assert!(
        shown.iter().all(|value| value.starts_with(&format!("Bearer {CANARY}-access"))),
        "{shown:?}"
    );
}

#[tokio::test]
async fn a_wider_scope_is_requested_once_together_with_the_old_one() {
    let protected = ProtectedServer::start().await;
    let gateway = gateway(&client_credentials_entry(&protected, "")).await;
    let answer = call(&gateway, "crm:admin").await;
    assert_eq!(answer["data"]["scopes"], json!(["admin", "read"]), "{answer}");
    assert_eq!(protected.requests().len(), 2);
    assert_eq!(call(&gateway, "crm:whoami").await["data"]["scopes"], json!(["admin", "read"]));
    assert_eq!(protected.requests().len(), 2, "the wider token is used for both");
}

#[tokio::test]
async fn a_token_is_renewed_before_it_ends_and_once_for_many_calls() {
    let protected = ProtectedServer::start().await;
    let gateway = gateway(&client_credentials_entry(&protected, "")).await;
    call(&gateway, "crm:whoami").await;
    assert_eq!(protected.requests().len(), 1);
    // Tokens are renewed after four fifths of their lifetime: here after 800 of 1000 ms. Only the wider token has this
    // lifetime; on a busy machine it is renewed before the sixteen calls, too.
    protected.set_token_lifetime(1);
    call(&gateway, "crm:admin").await;
    protected.set_token_lifetime(3_600);
    let before = protected.requests().len();
    tokio::time::sleep(Duration::from_millis(850)).await;
    let input = json!({});
    let calls: Vec<_> = (0..16).map(|_| gateway.call("crm:whoami", &input)).collect();
    for answer in join(calls).await {
        assert_eq!(answer.body["ok"], json!(true), "{answer:?}");
    }
    assert_eq!(protected.requests().len(), before + 1, "one renewal for sixteen calls");
}

async fn join<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut outputs = Vec::new();
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    std::future::poll_fn(|context| {
        futures.retain_mut(|future| match future.as_mut().poll(context) {
            std::task::Poll::Ready(output) => {
                outputs.push(output);
                false
            }
            std::task::Poll::Pending => true,
        });
        if futures.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    outputs
}

#[tokio::test]
async fn tokens_survive_a_restart_and_revoked_ones_are_replaced() {
    let protected = ProtectedServer::start().await;
    let data = tempfile::tempdir().expect("a folder");
    let place = data.path().join("data");
    let config =
        format!("data_dir: '{}'\n{}", place.display(), client_credentials_entry(&protected, ""));
    let first = gateway(&config).await;
    call(&first, "crm:whoami").await;
    assert_eq!(first.stop().await, Some(0));

    let second = gateway(&config).await;
    assert_eq!(call(&second, "crm:whoami").await["ok"], json!(true));
    assert_eq!(protected.requests().len(), 1, "the token was in the vault");
    protected.revoke();
    assert_eq!(call(&second, "crm:whoami").await["ok"], json!(true));
    assert_eq!(protected.requests().len(), 2);
    assert_eq!(second.stop().await, Some(0));

    // With another vault key the stored token cannot be read, which does no harm.
    let builder = testkit::Gateway::with().config(&config).env("CRM_SECRET", SECRET);
    let third = builder.env("POWERSTRIP_KEY", &"k".repeat(40)).start().await;
    assert_eq!(call(&third, "crm:whoami").await["ok"], json!(true));
    assert_eq!(protected.requests().len(), 3);
    testkit::eventually("the log says so", || async {
        third.log().contains("sealed with another key").then_some(())
    })
    .await;
}

#[tokio::test]
async fn resource_can_be_left_out_for_servers_that_refuse_it() {
    let protected = ProtectedServer::start().await;
    protected
        .patch_metadata(json!({"token_endpoint_auth_methods_supported": ["client_secret_post"]}));
    let gateway =
        gateway(&client_credentials_entry(&protected, ", resource: false, scopes: [extra]")).await;
    assert_eq!(call(&gateway, "crm:whoami").await["ok"], json!(true));
    let request = &protected.requests()[0];
    assert!(!request.form.contains_key("resource"), "{request:?}");
    assert_eq!((&*request.form["scope"], &*request.form["client_secret"]), ("extra read", SECRET));
    assert_eq!(request.authorization, None);
    assert_no_secrets(&gateway);
}

#[tokio::test]
async fn a_token_is_exchanged_for_one_of_the_server() {
    let protected = ProtectedServer::start().await;
    let config = format!(
        "servers:\n  crm:\n    url: '{}'\n    auth: {{ grant: token_exchange, client_id: strip, \
         subject_token: {{ env: CRM_SECRET }}, issuer: '{}' }}\n",
        protected.url, protected.issuer
    );
    let gateway = gateway(&config).await;
    assert_eq!(call(&gateway, "crm:whoami").await["ok"], json!(true));
    let form = &protected.requests()[0].form;
    assert_eq!(form["subject_token"], SECRET);
    assert_eq!(form["subject_token_type"], "urn:ietf:params:oauth:token-type:access_token");
    assert_eq!((&form["client_id"], &form["resource"]), (&"strip".to_owned(), &protected.url));
    assert_no_secrets(&gateway);
}

#[tokio::test]
async fn a_wrong_secret_is_reported_to_the_operator_only() {
    let protected = ProtectedServer::start().await;
    protected.patch_metadata(json!({"token_endpoint": format!("{}/nowhere", protected.issuer)}));
    let gateway = gateway(&client_credentials_entry(&protected, "")).await;
    let error = wait_for_error(&gateway, "token endpoint").await;
    assert!(error.contains("HTTP 404"), "{error}");
    assert_no_secrets(&gateway);
}
