//! What a token is for, and limits on wrong ones.

use reqwest::Method;
use serde_json::json;
use testkit::send;

use crate::access::keys::add_key;
use crate::access::support::{Caller, Setup, challenge};

#[tokio::test]
async fn a_token_for_the_door_of_an_agent_opens_that_door_only() {
    let setup = Setup::open().await;
    let door = setup.gateway.url("/agents/bot/mcp");
    let bot = setup.caller(json!({"aud": door}));
    assert_eq!(bot.get("/agents/bot/mcp/discover").await.status, 200);
    let call = bot.request(Method::POST, "/agents/bot/mcp/tool/demo.echo");
    assert_eq!(send(call.json(&json!({"message": "x"}))).await.status, 200);

    for path in [
        "/mcp/discover",
        "/agents/researcher/mcp/discover",
        "/agents/bot/../researcher/mcp/discover",
        "/v1/files",
        "/v1/servers",
        "/openapi.json",
        "/no/such/route",
    ] {
        let refused = bot.get(path).await;
        assert_eq!(refused.status, 401, "{path}: {refused:?}");
        let challenge = challenge(&refused);
        assert!(challenge.contains("error=\"invalid_token\""), "{path}: {challenge}");
        assert!(challenge.contains("resource_metadata="), "{path}: {challenge}");
    }
    assert_eq!(bot.modern("tools/list", json!({})).await.status, 401);
    assert_eq!(bot.call("demo.echo", &json!({"message": "x"})).await.status, 401);

    for wide in ["", "/", "/mcp"] {
        let aud = json!([door, setup.gateway.url(wide)]);
        let caller = setup.caller(json!({"aud": aud}));
        for path in ["/mcp/discover", "/agents/researcher/mcp/discover"] {
            assert_eq!(caller.get(path).await.status, 200, "{wide} {path}");
        }
    }
}

#[tokio::test]
async fn a_token_cannot_name_a_key_or_a_program_as_its_subject() {
    let setup = Setup::open().await;
    for subject in ["key:ci", "client:ci"] {
        let caller = setup.caller(json!({"sub": subject}));
        let refused = caller.get("/mcp/discover").await;
        assert_eq!(refused.status, 401, "{subject}: {refused:?}");
        assert!(challenge(&refused).contains("`sub`"), "{refused:?}");
    }
    let program = setup.caller(json!({"sub": null, "client_id": "ci"}));
    assert_eq!(program.get("/mcp/discover").await.status, 200);
}

#[tokio::test]
async fn valid_credentials_at_a_route_that_they_do_not_open_are_no_wrong_tokens() {
    let setup = Setup::open().await;
    let key = Caller::new(&setup.gateway, Some(add_key(&setup.gateway, &["ci"]).await));
    let token = setup.caller(json!({}));
    for _ in 0..60 {
        for caller in [&key, &token] {
            let register = caller.request(Method::POST, "/v1/servers").json(&json!({}));
            let refused = send(register).await;
            assert_eq!(refused.status, 403, "{refused:?}");
        }
    }
    let guess = Caller::new(&setup.gateway, Some("ps_guess_x".to_owned()));
    let wrong = send(guess.request(Method::POST, "/v1/servers").json(&json!({}))).await;
    assert_eq!(wrong.status, 401, "{wrong:?}");
}

#[tokio::test]
async fn wrong_tokens_of_an_address_are_limited_and_good_ones_are_not() {
    let setup = Setup::open().await;
    let mut refused = None;
    for guess in 0..150 {
        let caller = Caller::new(&setup.gateway, Some(format!("ps_guess{guess}_x")));
        let answer = caller.get("/mcp/discover").await;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        assert_eq!(answer.status, 401, "{answer:?}");
    }
    let refused = refused.expect("wrong tokens are limited");
    assert_eq!(refused.body["errors"][0]["code"], json!("RATE_LIMIT"), "{refused:?}");
    assert!(refused.headers.contains_key("retry-after"), "{refused:?}");

    assert_eq!(setup.caller(json!({})).get("/mcp/discover").await.status, 200, "a valid token");
    let expired = setup.caller(json!({"exp": 1})).get("/mcp/discover").await;
    assert_eq!(expired.status, 401, "its client has to learn that it must renew it: {expired:?}");
    assert_eq!(setup.anonymous().get("/mcp/discover").await.status, 401);
}
