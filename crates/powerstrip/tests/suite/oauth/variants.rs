//! Authorization servers and metadata that are unusual, as reported by users of many clients: they work, or the login
//! fails and says what to do.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Browser, ClientAuth, Gateway, Page, ProtectedServer, eventually};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use crate::oauth::support::{assert_no_secrets, call, command, gateway};

/// One oddity: how the servers are changed, and the `auth` of the config.
struct Variant {
    name: &'static str,
    auth: &'static str,
    change: fn(&ProtectedServer),
}

const fn variant(name: &'static str, auth: &'static str, change: fn(&ProtectedServer)) -> Variant {
    Variant { name, auth, change }
}

/// `ISSUER` is replaced by the authorization server's.
const NAMED: &str = "{ issuer: 'ISSUER' }";

fn methods(protected: &ProtectedServer, listed: Value) {
    protected.patch_metadata(json!({"token_endpoint_auth_methods_supported": listed}));
}

const WORKING: &[Variant] = &[
    variant("plain", "{}", |_| {}),
    variant("issuer_with_slash", "{}", |protected| {
        let issuer = format!("{}/", protected.issuer);
        protected.set_iss(&issuer);
        protected.patch_metadata(json!({"issuer": issuer}));
    }),
    variant("named_with_slash", "{}", |protected| {
        let named = [format!("{}/", protected.issuer)];
        protected.patch_resource_metadata(json!({"authorization_servers": named}));
    }),
    variant("config_without_slash", NAMED, |protected| {
        let issuer = format!("{}/", protected.issuer);
        protected.set_iss(&issuer);
        protected.patch_metadata(json!({"issuer": issuer}));
    }),
    variant("unlisted_pkce", NAMED, |protected| {
        protected.patch_metadata(json!({"code_challenge_methods_supported": null}));
    }),
    variant("secret_but_public", "{}", |protected| {
        methods(protected, json!(["none"]));
        protected.require_client_auth(ClientAuth::None);
    }),
    variant("secret_required", "{}", |protected| {
        methods(protected, json!(["none"]));
        protected.require_client_auth(ClientAuth::Basic);
    }),
    variant("post_unlisted", "{}", |protected| {
        methods(protected, json!(null));
        protected.require_client_auth(ClientAuth::Post);
    }),
    variant("no_method_listed", "{}", |protected| {
        methods(protected, json!([]));
        protected.require_client_auth(ClientAuth::Post);
    }),
    variant("registered_method", "{}", |protected| {
        protected.require_client_auth(ClientAuth::Post);
        let secret = format!("{}-registered", testkit::CANARY);
        let registration = json!({
            "client_id": "registered", "client_secret": secret, "client_secret_expires_at": "0",
            "token_endpoint_auth_method": "client_secret_post",
        });
        protected.set_registration(200, registration);
    }),
    variant("no_token_type", "{}", |protected| protected.patch_token(json!({"token_type": null}))),
    variant("scope_as_list", "{}", |protected| protected.patch_token(json!({"scope": ["read"]}))),
    variant("lifetime_as_text", "{}", |protected| {
        protected.patch_token(json!({"expires_in": "3600.0"}));
    }),
    variant("token_as_form", "{}", ProtectedServer::answer_tokens_as_form),
    variant("resource_refused", NAMED, |protected| {
        protected.refuse_resource("invalid_target", "it does not match the requested scopes");
    }),
    variant("resource_unknown", NAMED, |protected| {
        protected.refuse_resource("invalid_request", "The 'resource' parameter is not supported.");
    }),
    variant("resource_left_out", "{ resource: false }", |protected| {
        protected.refuse_resource("invalid_target", "no");
    }),
    variant("resource_by_another_name", "{ resource: 'api://crm' }", |protected| {
        protected.patch_resource_metadata(json!({"resource": "api://crm"}));
    }),
    variant("resource_missing", "{}", |protected| {
        protected.patch_resource_metadata(json!({"resource": null}));
    }),
    variant("issuer_not_in_a_list", "{}", |protected| {
        let issuer = &protected.issuer;
        let patch = json!({"authorization_servers": issuer, "scopes_supported": "read"});
        protected.patch_resource_metadata(patch);
    }),
    variant("metadata_elsewhere", "{}", |protected| {
        let gone = protected.url.replace("/mcp", "/gone");
        protected.resource(None, Some(&gone));
    }),
];

async fn start(variants: &[Variant]) -> (Gateway, Vec<ProtectedServer>) {
    let mut config = "egress: { allow: ['127.0.0.1'] }\nservers:\n".to_owned();
    let mut servers = Vec::new();
    for Variant { name, auth, change } in variants {
        let protected = ProtectedServer::start().await;
        change(&protected);
        let auth = auth.replace("ISSUER", &protected.issuer);
        config.push_str(&format!("  {name}: {{ url: '{}', auth: {auth} }}\n", protected.url));
        servers.push(protected);
    }
    (gateway(&config).await, servers)
}

/// Logs in as a person would; the page that the browser ends on.
async fn log_in(gateway: &Gateway, name: &str) -> Page {
    let link = eventually(&format!("a link for {name}"), || async {
        let output = gateway.run(&["login", name, "--json"]).await;
        assert_eq!(output.code, Some(0), "{name}: {output:?}");
        output.json()["login"].as_str().map(str::to_owned)
    })
    .await;
    Browser::default().log_in(&link).await
}

#[tokio::test]
async fn unusual_authorization_servers_work() {
    let (gateway, servers) = start(WORKING).await;
    for (Variant { name, .. }, protected) in WORKING.iter().zip(&servers) {
        let page = log_in(&gateway, name).await;
        assert_eq!(page.status, 200, "{name}: {page:?}");
        let answer = call(&gateway, &format!("{name}:whoami")).await;
        assert_eq!(answer["ok"], json!(true), "{name}: {answer}");
        let asked = protected.authorize_queries();
        let resource = asked.last().and_then(|query| query.get("resource"));
        match *name {
            "resource_refused" | "resource_unknown" | "resource_left_out" => {
                assert_eq!(resource, None, "{name}");
            }
            "resource_by_another_name" => {
                assert_eq!(resource.map(String::as_str), Some("api://crm"))
            }
            _ => assert_eq!(resource, Some(&protected.url), "{name}"),
        }
    }
    assert_no_secrets(&gateway);
}

#[tokio::test]
async fn a_login_that_cannot_begin_says_why_and_what_to_do() {
    let refused: &[(Variant, &[&str])] = &[
        (
            variant("unlisted_pkce", "{}", |protected| {
                protected.patch_metadata(json!({"code_challenge_methods_supported": null}));
            }),
            &["S256", "`auth.issuer`"],
        ),
        (
            variant("another_issuer", "{}", |protected| {
                protected.patch_metadata(json!({"issuer": "https://other.example"}));
            }),
            &["https://other.example", "`auth.issuer`"],
        ),
        (
            variant("another_resource", "{}", |protected| {
                protected.resource(Some("https://bank.example/mcp"), None);
            }),
            &["https://bank.example/mcp", "`auth.resource`"],
        ),
        (
            variant("registration_refused", "{}", |protected| {
                let said = "ask Ada for a client";
                let body = json!({"error": "access_denied", "error_description": said});
                protected.set_registration(403, body);
            }),
            &["HTTP 403", "ask Ada for a client", "`auth.client_id`"],
        ),
        (
            variant("no_registration", "{}", |protected| {
                protected.patch_metadata(json!({"registration_endpoint": null}));
            }),
            &["register themselves", "`auth.client_id`"],
        ),
    ];
    for (variant, says) in refused {
        let (gateway, servers) = start(std::slice::from_ref(variant)).await;
        let output = gateway.run(&["login", variant.name, "--json"]).await;
        assert_ne!(output.code, Some(0), "{output:?}");
        for part in *says {
            assert!(output.stderr.contains(part), "{}: {part}: {}", variant.name, output.stderr);
        }
        assert!(servers[0].requests().is_empty(), "{}", variant.name);
    }
}

#[tokio::test]
async fn a_login_that_fails_ends_the_waiting_command_with_the_cause() {
    let failing: &[(Variant, &[&str])] = &[
        (
            variant("no_resource", "{}", |protected| {
                protected.refuse_resource("invalid_target", "no such audience");
            }),
            &["invalid_target", "no such audience", "`auth.resource`"],
        ),
        (
            variant("error_with_200", "{}", |protected| {
                let error = json!({"access_token": null, "error": "bad_verification_code"});
                protected.patch_token(error);
            }),
            &["bad_verification_code"],
        ),
        (
            variant("error_as_object", "{}", |protected| {
                let error = json!({"code": 403, "message": "API disabled"});
                protected.patch_token(json!({"error": error}));
            }),
            &["API disabled"],
        ),
        (
            variant("another_kind_of_token", "{}", |protected| {
                protected.patch_token(json!({"token_type": "mac"}));
            }),
            &["`mac`"],
        ),
        (
            variant("answered_by_another", "{}", |protected| {
                protected.set_iss("https://evil.example");
            }),
            &["another issuer", "https://evil.example"],
        ),
    ];
    for (variant, says) in failing {
        let (gateway, _servers) = start(std::slice::from_ref(variant)).await;
        let mut command = gateway.command(&["login", variant.name]);
        let mut waiting = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(waiting.stdout.take().expect("stdout is piped")).lines();
        let link = loop {
            let line = lines.next_line().await.expect("text").expect("a link before the end");
            if line.trim().starts_with("http") {
                break line.trim().to_owned();
            }
        };
        let page = Browser::default().log_in(&link).await;
        assert_eq!(page.status, 400, "{}: {page:?}", variant.name);
        let mut stderr = String::new();
        let mut pipe = waiting.stderr.take().expect("stderr is piped");
        pipe.read_to_string(&mut stderr).await.expect("text");
        assert!(!waiting.wait().await.expect("it ends").success(), "{stderr}");
        let page = page.text.replace("&#39;", "'");
        for part in *says {
            assert!(stderr.contains(part), "{}: {part}: {stderr}", variant.name);
            assert!(page.contains(part), "{}: {part}: {page}", variant.name);
        }
        assert_no_secrets(&gateway);
    }
}

#[tokio::test]
async fn a_refresh_token_is_requested_where_it_takes_a_scope() {
    let offers = variant("offers", "{}", |protected| {
        protected.patch_metadata(json!({"scopes_supported": ["read", "offline_access"]}));
    });
    let (gateway, servers) = start(&[offers]).await;
    assert_eq!(log_in(&gateway, "offers").await.status, 200);
    assert_eq!(servers[0].authorize_queries()[0]["scope"], "offline_access read");
}

#[tokio::test]
async fn a_server_that_moves_to_another_issuer_gets_a_token_of_that_one() {
    let (old, new) = (ProtectedServer::start().await, ProtectedServer::start().await);
    let config =
        format!("egress: {{ allow: ['127.0.0.1'] }}\nservers:\n  crm: {{ url: '{}' }}\n", old.url);
    let gateway = gateway(&config).await;
    assert_eq!(log_in(&gateway, "crm").await.status, 200);
    assert_eq!(call(&gateway, "crm:whoami").await["ok"], json!(true));
    old.patch_resource_metadata(json!({"authorization_servers": [new.issuer]}));
    old.revoke();
    let link = eventually("a link to the new issuer", || async {
        command(&gateway, &["login", "crm"]).await["login"].as_str().map(str::to_owned)
    })
    .await;
    let away = Browser::default().confirm(&link).await;
    assert!(away.starts_with(&new.issuer), "{away}");
    assert!(
        new.requests().is_empty(),
        "no refresh token of the old one was sent: {:?}",
        new.requests()
    );
}
