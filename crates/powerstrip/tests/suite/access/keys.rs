use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use testkit::{Gateway, MODERN, SqliteConnection};

use crate::access::support::{Caller, LEGACY, challenge, command};

pub(crate) async fn add_key(gateway: &Gateway, arguments: &[&str]) -> String {
    let (code, output) = command(gateway, &[&["keys", "add"], arguments].concat(), &[]).await;
    assert_eq!(code, Some(0), "{output}");
    output.trim().to_owned()
}

#[tokio::test]
async fn a_key_works_at_once_and_until_it_is_revoked() {
    let gateway = Gateway::with().config("auth: {}").start().await;
    let anonymous = Caller::new(&gateway, None);
    assert_eq!(anonymous.get("/mcp/discover").await.status, 401);
    let metadata = anonymous.get("/.well-known/oauth-protected-resource/mcp").await;
    assert_eq!(
        metadata.body.get("authorization_servers"),
        None,
        "there is no authorization server"
    );

    let key = add_key(&gateway, &["ci"]).await;
    let ci = Caller::new(&gateway, Some(key.clone()));
    assert_eq!(ci.call("demo.echo", &json!({"message": "x"})).await.status, 200);
    assert!(ci.modern("tools/list", json!({})).await.body["result"]["tools"].is_array());
    assert_eq!(ci.get("/metrics").await.status, 403);
    let (_, listed) = command(&gateway, &["keys", "list"], &[]).await;
    assert!(listed.contains(" good ") && listed.contains("s ago"), "{listed}");

    let (code, _) = command(&gateway, &["keys", "revoke", "ci"], &[]).await;
    assert_eq!(code, Some(0));
    let refused = ci.call("demo.echo", &json!({"message": "x"})).await;
    assert_eq!(refused.status, 401);
    assert!(challenge(&refused).contains("invalid_token"));

    let data = if testkit::on_postgres() {
        Vec::new()
    } else {
        std::fs::read(gateway.folder().join(".powerstrip/powerstrip.db-wal")).unwrap()
    };
    let secret = key.splitn(3, '_').nth(2).unwrap();
    let holds = |bytes: &[u8]| bytes.windows(20).any(|window| window == &secret.as_bytes()[..20]);
    assert!(!holds(&data) && !holds(gateway.log().as_bytes()), "only its hash is stored");
}

#[tokio::test]
async fn a_damaged_key_does_not_refuse_the_start_and_opens_nothing() {
    if testkit::on_postgres() {
        return;
    }
    let gateway = Gateway::with().config("auth: {}").start().await;
    let damaged = add_key(&gateway, &["ci"]).await;
    let whole = add_key(&gateway, &["laptop"]).await;
    let database = gateway.folder().join(".powerstrip/powerstrip.db");
    let sql = "UPDATE access_keys SET scopes = '{' WHERE name = 'ci'";
    let gateway = gateway.restart_after(|_| drop(SqliteConnection::execute(&database, sql))).await;
    let status = async |gateway: &Gateway, key: &str| {
        Caller::new(gateway, Some(key.to_owned())).get("/mcp/discover").await.status
    };
    assert_eq!((status(&gateway, &damaged).await, status(&gateway, &whole).await), (401, 200));
    let id = damaged.split('_').nth(1).unwrap();
    assert!(gateway.log().contains("a stored row is damaged"), "{}", gateway.log());
    let listed = gateway.run(&["keys"]).await;
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.stdout.contains("laptop") && listed.stderr.contains(id), "{listed:?}");

    let revoked = gateway.run(&["keys", "revoke", id]).await;
    assert_eq!((revoked.code, revoked.stdout.contains(id)), (Some(0), true), "{revoked:?}");
    let gateway = gateway.restart().await;
    let listed = gateway.run(&["keys"]).await;
    assert!(listed.stdout.contains("laptop") && !listed.stderr.contains(id), "{listed:?}");
    assert_eq!((status(&gateway, &damaged).await, status(&gateway, &whole).await), (401, 200));
}

#[tokio::test]
async fn keys_grant_only_their_scopes() {
    let gateway = Gateway::with().config("auth: {}").start().await;
    let reader = add_key(&gateway, &["reader", "--scope", "tools:read"]).await;
    let reader = Caller::new(&gateway, Some(reader));
    assert_eq!(reader.get("/mcp/discover").await.status, 200);
    assert_eq!(reader.call("demo.echo", &json!({"message": "x"})).await.status, 403);

    let scraper = add_key(&gateway, &["prometheus", "--scope", "metrics:read"]).await;
    let scraper = Caller::new(&gateway, Some(scraper));
    assert_eq!(scraper.get("/metrics").await.status, 200);
    assert_eq!(scraper.get("/mcp/discover").await.status, 403);

    let server = add_key(&gateway, &["weather", "--registration"]).await;
    let server = Caller::new(&gateway, Some(server));
    assert_eq!(server.get("/mcp/discover").await.status, 401);

    let short = add_key(&gateway, &["short", "--expires", "1ms"]).await;
    let short = Caller::new(&gateway, Some(short));
    assert_eq!(short.get("/mcp/discover").await.status, 401);
}

#[tokio::test]
async fn commands_send_a_key_to_a_remote_gateway() {
    let gateway = Gateway::with().config("auth: {}").start().await;
    let key = add_key(&gateway, &["laptop"]).await;
    let url = gateway.url("");
    let (code, output) = command(&gateway, &["tools", "--url", &url], &[]).await;
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("Authorization: Bearer"), "{output}");
    let (code, output) =
        command(&gateway, &["tools", "--url", &url], &[("POWERSTRIP_TOKEN", &key)]).await;
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("demo.echo"), "{output}");
    let call = ["call", "demo.echo", "--input", "{\"message\":\"x\"}", "--url", &url];
    let (code, output) = command(&gateway, &call, &[("POWERSTRIP_TOKEN", &key)]).await;
    assert_eq!(code, Some(0), "{output}");
    // On the same machine, the user who can reach the socket needs no key.
    assert_eq!(command(&gateway, &["tools"], &[]).await.0, Some(0));
}

/// Opens a stream and reads what arrives at once, if anything.
async fn open_stream(request: RequestBuilder) -> reqwest::Response {
    let stream = request.header("accept", "application/json, text/event-stream");
    let stream = stream.send().await.unwrap();
    assert_eq!(stream.status(), 200);
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    stream
}

/// Reads a stream to its end.
async fn read_to_end(mut stream: reqwest::Response, since: Instant) -> Duration {
    while let Ok(Some(_)) = stream.chunk().await {}
    since.elapsed()
}

fn listen(caller: &Caller<'_>, path: &str) -> RequestBuilder {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"_meta": meta, "notifications": {"toolsListChanged": true}});
    let request = caller.request(Method::POST, path).header("mcp-protocol-version", MODERN);
    request.header("mcp-method", "subscriptions/listen").json(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}),
    )
}

/// A call with a streamed answer that takes a minute.
fn long_call(caller: &Caller<'_>, session: &str) -> RequestBuilder {
    let message: Value = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "t.slow", "arguments": {}, "_meta": {"progressToken": 1}}});
    let request = caller.request(Method::POST, "/mcp").header("mcp-session-id", session);
    request.header("mcp-protocol-version", LEGACY[2]).json(&message)
}

const SLOW: &str = "id: t.slow\nversion: 1.0.0\ndescription: Takes a minute to answer.\ndeterministic: false\n\
    inputSchema: { type: object }\noutputSchema: { type: object }\nlimits: { timeoutMs: 60000 }\n\
    execution: { kind: cli, cmd: [python3, -c, \"import time; time.sleep(60)\"] }\n";

#[tokio::test]
async fn streams_end_when_their_key_is_revoked() {
    let config = "auth: {}\nlimits: { max: { timeout: 60s } }\nskills: { all: { tools: ['*'] } }\nagents: { bot: { skills: [all] } }";
    let gateway = Gateway::with().config(config).file("tools/slow.tool.yaml", SLOW).start().await;
    let revoked = Caller::new(&gateway, Some(add_key(&gateway, &["ci"]).await));
    let other = Caller::new(&gateway, Some(add_key(&gateway, &["other"]).await));
    let (session, others) = (revoked.session(LEGACY[2]).await, other.session(LEGACY[2]).await);
    let get = |caller: &Caller<'_>, session: &str| {
        caller.request(Method::GET, "/mcp").header("mcp-session-id", session)
    };
    let streams = [
        open_stream(get(&revoked, &session).header("mcp-protocol-version", LEGACY[2])).await,
        open_stream(listen(&revoked, "/mcp")).await,
        open_stream(listen(&revoked, "/agents/bot/mcp")).await,
        open_stream(long_call(&revoked, &session)).await,
    ];
    let kept = [
        open_stream(get(&other, &others).header("mcp-protocol-version", LEGACY[2])).await,
        open_stream(listen(&other, "/agents/bot/mcp")).await,
    ];
    let (code, _) = command(&gateway, &["keys", "revoke", "ci"], &[]).await;
    assert_eq!(code, Some(0));
    let since = Instant::now();
    for ended in
        futures_util::future::join_all(streams.map(|stream| read_to_end(stream, since))).await
    {
        // Five seconds are promised; a busy machine gets some more.
        assert!(ended < Duration::from_secs(8), "{ended:?}");
    }
    let kept =
        futures_util::future::select_all(kept.map(|stream| Box::pin(read_to_end(stream, since))));
    let ended = tokio::time::timeout(Duration::from_secs(4), kept).await;
    assert!(ended.is_err(), "streams of another key go on: {:?}", ended.map(|ended| ended.0));

    // An expired key ends its streams as well.
    let brief = Caller::new(&gateway, Some(add_key(&gateway, &["brief", "--expires", "4s"]).await));
    let since = Instant::now();
    let ended = read_to_end(open_stream(listen(&brief, "/mcp")).await, since).await;
    assert!(ended < Duration::from_secs(12), "{ended:?}");
}
