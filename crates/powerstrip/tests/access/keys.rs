use serde_json::json;
use testkit::Gateway;

use crate::support::{Caller, challenge, command};

async fn made(gateway: &Gateway, arguments: &[&str]) -> String {
    let (code, told) = command(gateway, &[&["keys", "add"], arguments].concat(), &[]).await;
    assert_eq!(code, Some(0), "{told}");
    told.trim().to_owned()
}

#[tokio::test]
async fn a_key_opens_the_doors_at_once_and_until_it_is_revoked() {
    let gateway = Gateway::with().config("auth: {}").start().await;
    let stranger = Caller::new(&gateway, None);
    assert_eq!(stranger.get("/mcp/discover").await.status, 401);
    let metadata = stranger.get("/.well-known/oauth-protected-resource/mcp").await;
    assert_eq!(metadata.body.get("authorization_servers"), None, "nobody else gives out tokens");

    let key = made(&gateway, &["ci"]).await;
    let ci = Caller::new(&gateway, Some(key.clone()));
    assert_eq!(ci.call("demo.echo", &json!({"message": "x"})).await.status, 200);
    assert!(ci.modern("tools/list", json!({})).await.body["result"]["tools"].is_array());
    assert_eq!(ci.get("/metrics").await.status, 403);
    let (_, listed) = command(&gateway, &["keys", "list"], &[]).await;
    assert!(listed.contains("good, used "), "{listed}");

    let (code, _) = command(&gateway, &["keys", "revoke", "ci"], &[]).await;
    assert_eq!(code, Some(0));
    let refused = ci.call("demo.echo", &json!({"message": "x"})).await;
    assert_eq!(refused.status, 401);
    assert!(challenge(&refused).contains("invalid_token"));

    let data = std::fs::read(gateway.folder().join(".powerstrip/powerstrip.db-wal")).unwrap();
    let secret = key.splitn(3, '_').nth(2).unwrap();
    let holds = |bytes: &[u8]| bytes.windows(20).any(|window| window == &secret.as_bytes()[..20]);
    assert!(!holds(&data) && !holds(gateway.log().as_bytes()), "only its hash is kept");
}

#[tokio::test]
async fn keys_may_do_what_they_are_for_and_no_more() {
    let gateway = Gateway::with().config("auth: {}").start().await;
    let reader = made(&gateway, &["reader", "--scope", "tools:read"]).await;
    let reader = Caller::new(&gateway, Some(reader));
    assert_eq!(reader.get("/mcp/discover").await.status, 200);
    assert_eq!(reader.call("demo.echo", &json!({"message": "x"})).await.status, 403);

    let scraper = made(&gateway, &["prometheus", "--scope", "metrics:read"]).await;
    let scraper = Caller::new(&gateway, Some(scraper));
    assert_eq!(scraper.get("/metrics").await.status, 200);
    assert_eq!(scraper.get("/mcp/discover").await.status, 403);

    let server = made(&gateway, &["weather", "--registration"]).await;
    let server = Caller::new(&gateway, Some(server));
    assert_eq!(server.get("/mcp/discover").await.status, 401);

    let short = made(&gateway, &["short", "--expires", "1ms"]).await;
    let short = Caller::new(&gateway, Some(short));
    assert_eq!(short.get("/mcp/discover").await.status, 401);
}

#[tokio::test]
async fn commands_bring_a_key_to_a_gateway_elsewhere() {
    let gateway = Gateway::with().config("auth: {}").start().await;
    let key = made(&gateway, &["laptop"]).await;
    let url = gateway.url("");
    let (code, told) = command(&gateway, &["tools", "--url", &url], &[]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("Authorization: Bearer"), "{told}");
    let (code, told) =
        command(&gateway, &["tools", "--url", &url], &[("POWERSTRIP_TOKEN", &key)]).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("demo.echo"), "{told}");
    let call = ["call", "demo.echo", "--input", "{\"message\":\"x\"}", "--url", &url];
    let (code, told) = command(&gateway, &call, &[("POWERSTRIP_TOKEN", &key)]).await;
    assert_eq!(code, Some(0), "{told}");
    // Beside it, who can reach its socket is its user.
    assert_eq!(command(&gateway, &["tools"], &[]).await.0, Some(0));
}
