use doors::Needs;
use reqwest::Method;
use serde_json::json;
use testkit::{Gateway, send};

use crate::access::support::{Caller, Setup, challenge};

/// A path that matches a route's pattern, and one of its methods.
fn example(pattern: &str, methods: &str) -> (Method, String) {
    let path = pattern.replace("{*tool}", "demo.echo").replace("{*reference}", "demo.echo@1/input");
    let path = path.replace("{agent}/{*door}", "bot/mcp").replace("{name}", "crm");
    let path = path.replace("{id}", "file_00000000000000000000000000000000");
    let path = path.replace("{*path}", "mcp").replace("{domain}/{name}/{major}", "a/b/1");
    (methods.split(", ").next().unwrap().parse().unwrap(), path)
}

#[tokio::test]
async fn every_route_except_probes_and_metadata_requires_a_credential() {
    let setup = Setup::open().await;
    let forged = Caller::new(&setup.gateway, Some("x".to_owned()));
    let mut closed = 0;
    let elsewhere = [("GET", "/no/such/route"), ("DELETE", "/mcp/discover"), ("PUT", "/no")];
    let routes = setup.routes().await;
    let listed = routes.iter().map(|route| (route.methods, route.pattern, route.needs));
    let unlisted = elsewhere.map(|(method, path)| (method, path, Needs::Scope("any")));
    for (methods, pattern, needs) in listed.chain(unlisted) {
        let (method, path) = example(pattern, methods);
        for caller in [setup.anonymous(), Caller::new(&setup.gateway, Some("x".to_owned()))] {
            let answer = send(caller.request(method.clone(), &path)).await;
            match needs {
                Needs::Nothing | Needs::OurName => {
                    // A browser without a login state, and a client document that was never requested.
                    let expected = match pattern {
                        "/oauth/login" | "/oauth/callback" => 400,
                        "/oauth/client.json" | "/approve/{token}" => 404,
                        "/" => 303,
                        // A form without a page of ours, and a browser without a pending sign-in.
                        "/dashboard/sign-in/start" => 403,
                        "/dashboard/sign-in/callback" => 404,
                        path if path.starts_with("/dashboard/assets/") => 404,
                        _ => 200,
                    };
                    assert_eq!(answer.status, expected, "{method} {path}: {answer:?}");
                }
                // Browsers are redirected to the sign-in page; requests that change something are refused.
                Needs::Session => {
                    closed += 1;
                    let expected = if method == "GET" { 303 } else { 401 };
                    assert_eq!(answer.status, expected, "{method} {path}: {answer:?}");
                }
                Needs::Scope(_) | Needs::LinkOr(_) | Needs::Call { .. } => {
                    closed += 1;
                    assert_eq!(answer.status, 401, "{method} {path}: {answer:?}");
                    assert!(
                        challenge(&answer).starts_with("Bearer resource_metadata=\"http"),
                        "{answer:?}"
                    );
                    assert_eq!(answer.body["errors"][0]["code"], "DENIED", "{answer:?}");
                }
            }
        }
    }
    assert!(closed >= 16, "{closed}");
    let answer = forged.get("/mcp/discover").await;
    assert!(challenge(&answer).contains("error=\"invalid_token\""), "{answer:?}");
}

#[tokio::test]
async fn a_challenge_names_the_authorization_server() {
    let setup = Setup::open().await;
    for (path, resource) in [("/mcp", "/mcp"), ("/mcp/discover", "")] {
        let refused = setup.anonymous().get(path).await;
        let challenge = challenge(&refused);
        assert!(challenge.contains("scope=\"tools:read tools:call\""), "{challenge}");
        assert!(!challenge.contains("error"), "who brought nothing did nothing wrong: {challenge}");
        let place =
            challenge.split("resource_metadata=\"").nth(1).unwrap().split('"').next().unwrap();
        let expected = format!("/.well-known/oauth-protected-resource{resource}");
        assert_eq!(place, setup.gateway.url(&expected));
        let metadata = setup.anonymous().get(&expected).await;
        assert_eq!(metadata.status, 200);
        assert_eq!(metadata.body["resource"], setup.gateway.url(resource));
        assert_eq!(metadata.body["authorization_servers"], json!([setup.issuer.url()]));
        assert_eq!(metadata.body["scopes_supported"], json!(["tools:read", "tools:call"]));
        assert_eq!(metadata.body["bearer_methods_supported"], json!(["header"]));
    }
    let unknown = setup.anonymous().get("/.well-known/oauth-protected-resource/etc/passwd").await;
    assert_eq!(unknown.status, 404);
    let agents =
        setup.anonymous().get("/.well-known/oauth-protected-resource/agents/bot/mcp").await;
    assert_eq!(agents.body["resource"], setup.gateway.url("/agents/bot/mcp"));
}

#[tokio::test]
async fn a_rejected_token_gets_a_reason() {
    let setup = Setup::open().await;
    for (changes, why) in [
        (json!({"aud": "https://other.example"}), "another audience"),
        (json!({"aud": null}), "another audience"),
        (json!({"iss": "https://other.example"}), "another issuer"),
        (json!({"exp": 1}), "expired"),
        (json!({"nbf": 99_999_999_999_u64}), "not valid yet"),
        (json!({"org": null}), "`org` is missing"),
        (json!({"org": "local"}), "`org` is missing or cannot be used"),
    ] {
        let refused = setup.caller(changes.clone()).get("/mcp/discover").await;
        assert_eq!(refused.status, 401, "{changes}");
        let challenge = challenge(&refused);
        assert!(
            challenge.contains("error=\"invalid_token\"") && challenge.contains(why),
            "{challenge}"
        );
        assert!(challenge.contains("resource_metadata=\""), "{challenge}");
    }
    let flood = Caller::new(&setup.gateway, Some("x".repeat(20_000)));
    assert_eq!(flood.get("/mcp/discover").await.status, 401);
    let both = setup.anonymous().request(Method::GET, "/mcp/discover?access_token=x");
    assert_eq!(send(both).await.status, 401);
}

#[tokio::test]
async fn an_unreachable_issuer_is_reported() {
    let setup = Setup::open().await;
    setup.issuer.set_down(true);
    let refused = setup.caller(json!({})).get("/mcp/discover").await;
    assert_eq!((refused.status, &refused.body["errors"][0]["code"]), (503, &json!("UNAVAILABLE")));
    assert_eq!(refused.body["errors"][0]["retryable"], json!(true), "{refused:?}");
    assert_eq!(setup.anonymous().get("/healthz").await.status, 200);
}

#[tokio::test]
async fn pages_of_other_sites_are_refused_even_with_a_token() {
    let setup = Setup::open().await;
    let ann = setup.caller(json!({}));
    for (origin, status) in [
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost:6274", 200),
        (&setup.gateway.url(""), 200),
    ] {
        let request = ann.request(Method::GET, "/mcp/discover").header("origin", origin);
        assert_eq!(send(request).await.status, status, "{origin}");
    }
}

#[tokio::test]
async fn probes_reveal_nothing_to_anonymous_callers() {
    let setup = Setup::open().await;
    assert_eq!(setup.anonymous().get("/healthz").await.body, json!({"status": "ok"}));
    assert_eq!(setup.anonymous().get("/readyz").await.body, json!({"ready": true}));
}

#[tokio::test]
async fn without_auth_local_callers_need_no_credential() {
    let gateway = Gateway::start().await;
    assert_eq!(gateway.get("/mcp/discover").await.status, 200);
    assert_eq!(gateway.get("/.well-known/oauth-protected-resource").await.status, 404);
    assert_eq!(gateway.get("/metrics").await.status, 200);
    let called = gateway.call("demo.echo", &json!({"message": "x"})).await;
    assert_eq!(called.status, 200);
    assert!(gateway.get("/readyz").await.body["problems"].is_array());
}
