use http::{Method, StatusCode};
use http_body_util::Full;
use serde_json::json;

use crate::support::gateway;

const ROUTES: [(Method, &str); 10] = [
    (Method::POST, "/mcp"),
    (Method::GET, "/mcp"),
    (Method::GET, "/mcp/discover"),
    (Method::GET, "/mcp/prompt/a/b/1"),
    (Method::POST, "/mcp/tool/test.echo"),
    (Method::GET, "/mcp/schema/test.echo@2/input"),
    (Method::GET, "/openapi.json"),
    (Method::GET, "/readyz"),
    (Method::GET, "/metrics"),
    (Method::GET, "/no/such/route"),
];

#[tokio::test]
async fn a_foreign_host_or_origin_is_refused() {
    let gateway = gateway().await;
    for (method, path) in ROUTES {
        for (host, origin) in [
            ("evil.com", None),
            ("127.0.0.1.evil.com", None),
            ("localhost", Some("https://evil.com")),
            ("localhost", Some("null")),
        ] {
            let mut request =
                http::Request::builder().method(&method).uri(path).header("host", host);
            if let Some(origin) = origin {
                request = request.header("origin", origin);
            }
            let reply = gateway.send(request.body(Full::default()).unwrap()).await;
            assert_eq!(reply.status, StatusCode::FORBIDDEN, "{method} {path} {host} {origin:?}");
            let body = reply.json();
            assert_eq!(body["ok"], json!(false));
            assert_eq!(body["errors"][0]["code"], json!("DENIED"));
        }
    }
}

#[tokio::test]
async fn the_same_routes_admit_local_callers() {
    let gateway = gateway().await;
    for (method, path) in ROUTES {
        for origin in [None, Some("http://localhost:6274"), Some("http://127.0.0.1")] {
            let mut request = gateway.request(method.clone(), path);
            // With this media type browsers send a preflight request first, so another port is accepted.
            if let Some(origin) = origin {
                request =
                    request.header("origin", origin).header("content-type", "application/json");
            }
            let reply = gateway.send(request.body(Full::default()).unwrap()).await;
            assert_ne!(reply.status, StatusCode::FORBIDDEN, "{method} {path} {origin:?}");
        }
    }
}

#[tokio::test]
async fn a_probe_may_use_any_host_but_learns_nothing() {
    let gateway = gateway().await;
    let request = http::Request::get("/healthz").header("host", "pod-7.internal");
    let reply = gateway.send(request.body(Full::default()).unwrap()).await;
    assert_eq!(reply.json(), json!({"status": "ok"}));
}

#[tokio::test]
async fn callers_cannot_choose_their_identity() {
    let gateway = gateway().await;
    let request = gateway
        .request(Method::POST, "/mcp/tool/test.whoami")
        .header("x-tenant-id", "victim")
        .header("x-org-id", "victim")
        .header("x-user", "admin")
        .header("x-forwarded-user", "admin")
        .header("x-forwarded-host", "evil.com")
        .header("forwarded", "for=10.0.0.1;host=evil.com")
        .header("authorization", "Bearer made-up")
        .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01");
    let reply = gateway.send(request.body(Full::default()).unwrap()).await;
    assert_eq!(
        reply.json()["data"],
        json!({"tenant": "local", "subject": "local", "door": "http"})
    );
}
