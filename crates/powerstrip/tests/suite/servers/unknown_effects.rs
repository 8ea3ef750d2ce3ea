//! Calls with an idempotency key whose server may have acted and gave no answer that can be read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures_util::stream;
use serde_json::{Value, json};
use testkit::{Gateway, eventually};
use tokio::net::TcpListener;

use crate::servers::support::{over_http, wait_until_listed};

/// A server whose tools note that they ran and end the process before the answer.
const DYING: &str = r#"
import json, sys
TOOL = {"name": "act", "description": "Acts, and ends.", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    def answer(**fields):
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **fields}), flush=True)
    method = message["method"]
    if method == "initialize":
        answer(result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "dying", "version": "1"}})
    elif method == "tools/list":
        repeatable = {**TOOL, "name": "repeat", "annotations": {"idempotentHint": True}}
        answer(result={"tools": [TOOL, repeatable]})
    elif method == "tools/call":
        with open(sys.argv[1], "a") as ledger:
            ledger.write(message["params"]["name"] + "\n")
        sys.exit(1)
    else:
        answer(error={"code": -32601, "message": method})
"#;

fn error(answer: &testkit::Response) -> &Value {
    &answer.body["errors"][0]
}

#[tokio::test]
async fn a_key_does_not_run_again_what_a_dying_process_may_have_done() {
    let builder = Gateway::with();
    let ledger = builder.scratch().join("ledger");
    let config = format!(
        "servers:\n  dying: {{ command: python3, args: [dying.py, '{}'] }}\n",
        ledger.display()
    );
    let gateway = builder.config(&config).file("dying.py", DYING).start().await;
    wait_until_listed(&gateway, "dying__act").await;
    let key = [("idempotency-key", "order")];
    let runs_of = |tool: &str| {
        let ledger = std::fs::read_to_string(&ledger).unwrap_or_default();
        ledger.lines().filter(|ran| *ran == tool).count()
    };

    let first = gateway.call_with("dying:act", &json!({}), &key).await;
    let said = error(&first);
    assert_eq!((first.status, &said["retryable"]), (503, &json!(false)), "{first:?}");
    assert_eq!(said["details"]["outcome"], "unknown", "{first:?}");
    assert_eq!(runs_of("act"), 1);
    eventually("a repeatable tool runs in the restarted process", || async {
        gateway.call_with("dying:repeat", &json!({}), &key).await;
        (runs_of("repeat") >= 2).then_some(())
    })
    .await;
    let again = gateway.call_with("dying:act", &json!({}), &key).await;
    assert_eq!(error(&again)["details"]["outcome"], "unknown", "{again:?}");
    assert_eq!(runs_of("act"), 1);
}

/// A server that answers a call with the status, type and body that its arguments say, and a call of the tool `job` with
/// a task that it knows nothing of later. The body of a redirect is its location.
async fn answer(State(calls): State<Arc<AtomicUsize>>, Json(message): Json<Value>) -> Response {
    let result = match message["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}),
        "tools/list" => {
            let tool = |name: &str, annotations: Value| {
                json!({"name": name, "description": "Answers with what it is given.",
                    "inputSchema": {"type": "object"}, "annotations": annotations})
            };
            let repeatable = tool("repeat", json!({"idempotentHint": true}));
            let mut job = tool("job", json!({}));
            job["execution"] = json!({"taskSupport": "required"});
            json!({"tools": [tool("act", json!({})), repeatable, job], "resultType": "complete"})
        }
        "tools/call" if message["params"]["name"] == "job" => {
            calls.fetch_add(1, Ordering::SeqCst);
            json!({"resultType": "task", "taskId": "t1", "status": "working", "pollIntervalMs": 20})
        }
        "tools/call" => {
            calls.fetch_add(1, Ordering::SeqCst);
            let given = |name: &str| message["params"]["arguments"][name].clone();
            let status: StatusCode = given("status").to_string().parse().unwrap();
            let [kind, body] =
                ["type", "body"].map(|name| given(name).as_str().unwrap().to_owned());
            if kind == "cut" {
                let parts = [Ok("{"), Err(std::io::Error::other("the connection breaks"))];
                return (status, Body::from_stream(stream::iter(parts))).into_response();
            }
            return match status.is_redirection() {
                true if body.is_empty() => status.into_response(),
                true => (status, [(LOCATION, body)]).into_response(),
                false => (status, [(CONTENT_TYPE, kind)], body).into_response(),
            };
        }
        other => {
            let error = json!({"code": -32601, "message": other});
            return Json(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}))
                .into_response();
        }
    };
    Json(json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).into_response()
}

#[tokio::test]
async fn a_key_does_not_run_again_what_a_server_saw_and_did_not_answer() {
    let calls = Arc::new(AtomicUsize::new(0));
    let login = async || (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer scope=\"more\"")]);
    let router = Router::new().route("/login", get(login));
    let router = router.fallback(answer).with_state(Arc::clone(&calls));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let config = format!("servers:\n{}", over_http("far", &url));
    let gateway = Gateway::with().config(&config).start().await;
    wait_until_listed(&gateway, "far__act").await;

    let (events, json_type) = ("text/event-stream", "application/json");
    for (tool, kind, status, body, code, unknown) in [
        ("act", events, 200, "", "UNAVAILABLE", true),
        ("act", json_type, 200, "{", "INTERNAL", true),
        ("act", json_type, 502, "", "UNAVAILABLE", true),
        ("act", json_type, 408, "", "UNAVAILABLE", true),
        ("act", "cut", 404, "", "UNAVAILABLE", true),
        ("act", "cut", 403, "", "UNAVAILABLE", true),
        ("act", json_type, 429, "", "RATE_LIMIT", false),
        ("act", json_type, 503, "", "UNAVAILABLE", false),
        ("act", json_type, 303, "", "UNAVAILABLE", true),
        ("act", json_type, 301, "/nothing", "UNAVAILABLE", true),
        ("act", json_type, 302, "http://192.0.2.1/", "UNAVAILABLE", true),
        ("act", json_type, 303, "/login", "UNAVAILABLE", true),
        ("act", json_type, 307, "http://192.0.2.1/", "UNAVAILABLE", false),
        ("job", json_type, 200, "", "UNAVAILABLE", true),
        ("repeat", json_type, 200, "{", "INTERNAL", false),
    ] {
        let (id, input) =
            (format!("far:{tool}"), json!({"type": kind, "status": status, "body": body}));
        let name = format!("{tool} {kind} {status} {body}");
        let key = [("idempotency-key", name.as_str())];
        let before = calls.load(Ordering::SeqCst);
        let first = gateway.call_with(&id, &input, &key).await;
        let again = gateway.call_with(&id, &input, &key).await;
        let runs = calls.load(Ordering::SeqCst) - before;
        assert_eq!(
            (error(&first)["code"].as_str(), runs),
            (Some(code), if unknown { 1 } else { 2 })
        );
        for answer in [&first, &again] {
            let said = error(answer);
            assert_eq!(said["details"]["outcome"] == "unknown", unknown, "{name}: {answer:?}");
            assert!(!unknown || said["retryable"] == false, "{name}: {answer:?}");
        }
    }

    let lost = json!({"type": events, "status": 200, "body": ""});
    let without_key = gateway.call("far:act", &lost).await;
    assert_eq!(error(&without_key)["retryable"], true, "{without_key:?}");
    assert_eq!(error(&without_key)["details"]["outcome"], Value::Null, "{without_key:?}");
}
