//! Secrets of which each person has a value of their own: used for that person's calls only, and shown nowhere.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response as Answer};
use axum::{Json, Router};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Response, eventually, send};

use crate::access::support::{Caller, Setup};

/// Answers with a digest of its secret, and with the secret itself, which must be scrubbed.
const SERVER: &str = r#"
import hashlib, json, os, sys
secret = os.environ.get('API_KEY', '')
print('my secret is', secret, file=sys.stderr, flush=True)
def say(id, result):
    print(json.dumps({'jsonrpc': '2.0', 'id': id, 'result': result}), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    if 'id' not in ask:
        continue
    if ask['method'] == 'server/discover':
        say(ask['id'], {'resultType': 'complete', 'supportedVersions': ['2026-07-28'], 'capabilities': {'tools': {}}, 'ttlMs': 0, 'cacheScope': 'private', '_meta': {'io.modelcontextprotocol/serverInfo': {'name': 'crm', 'version': '1'}}})
    elif ask['method'] == 'tools/list':
        say(ask['id'], {'tools': [{'name': 'who', 'description': 'Says who.', 'inputSchema': {'type': 'object'}}], 'resultType': 'complete'})
    else:
        text = {'digest': hashlib.sha256(secret.encode()).hexdigest(), 'raw': secret}
        say(ask['id'], {'content': [{'type': 'text', 'text': json.dumps(text)}], 'structuredContent': text, 'resultType': 'complete'})
"#;

const CONFIG: &str = "servers:\n  \
    crm: { command: python3, args: [server.py], env: { API_KEY: { secret: crm, per: person } } }\n  \
    plain: { command: python3, args: [server.py] }\n";

const CANARY: &str = "c4nary-of";

fn value(who: &str) -> String {
    format!("{CANARY}-{who}-0123456789")
}

fn digest(value: &str) -> String {
    let text = proto::digest(value.as_bytes()).to_string();
    text.rsplit(':').next().unwrap().to_owned()
}

async fn open() -> Setup {
    let setup = Setup::with(CONFIG, |gateway| {
        gateway.file("server.py", SERVER).env("POWERSTRIP_LOG", "debug")
    })
    .await;
    let ann = setup.caller(json!({"org": "acme", "sub": "ann"}));
    eventually("the tools are listed", || async {
        let found = ann.get("/mcp/discover").await.body.to_string();
        (found.contains("crm:who") && found.contains("plain:who")).then_some(())
    })
    .await;
    setup
}

async fn store(caller: &Caller<'_>, name: &str, value: &str) -> Response {
    let path = format!("/v1/secrets/{name}");
    send(caller.request(Method::POST, &path).json(&json!({"value": value}))).await
}

/// The digest of the secret that a call used.
fn used(answer: &Response) -> &str {
    answer.body["data"]["digest"].as_str().unwrap_or_else(|| panic!("no digest in {answer:?}"))
}

fn assert_unset(answer: &Response) {
    let error = &answer.body["errors"][0];
    assert_eq!(error["code"], "DENIED", "{answer:?}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`powerstrip secret set --mine crm`"), "{message}");
    assert!(message.contains("/dashboard/secrets"), "{message}");
}

#[tokio::test]
async fn a_persons_secret_is_used_for_their_calls_only() {
    let setup = open().await;
    let ann = setup.caller(json!({"org": "acme", "sub": "ann"}));
    let amy = setup.caller(json!({"org": "acme", "sub": "amy"}));
    let other = setup.caller(json!({"org": "globex", "sub": "ann"}));
    let bot = setup.caller(json!({"org": "acme", "sub": "ann", "agent": "bot"}));
    let nothing = json!({});
    assert_unset(&ann.call("crm:who", &nothing).await);
    let listed = ann.get("/v1/secrets").await.body;
    assert_eq!(listed["secrets"][0]["name"], "crm", "{listed}");
    assert_eq!(listed["secrets"][0]["servers"], json!(["crm"]));
    assert_eq!(listed["secrets"][0]["stored_unix_ms"], Value::Null);

    assert_eq!(store(&bot, "crm", &value("bot")).await.status, 403, "agents store nothing");
    let unknown = store(&ann, "other", &value("ann")).await;
    assert_eq!(unknown.status, 404, "{unknown:?}");
    assert!(unknown.body.to_string().contains("`crm`"), "{unknown:?}");
    assert_eq!(store(&ann, "crm", &value("ann")).await.status, 200);
    let answer = ann.call("crm:who", &nothing).await;
    assert_eq!(used(&answer), digest(&value("ann")));
    assert_eq!(answer.body["data"]["raw"], "****", "{answer:?}");
    assert_eq!(
        used(&bot.call("crm:who", &nothing).await),
        digest(&value("ann")),
        "it acts for her"
    );

    // Neither a colleague nor a person of another tenant has it.
    assert_unset(&amy.call("crm:who", &nothing).await);
    assert_unset(&other.call("crm:who", &nothing).await);
    assert_eq!(store(&amy, "crm", &value("amy")).await.status, 200);
    assert_eq!(used(&amy.call("crm:who", &nothing).await), digest(&value("amy")));
    assert_eq!(used(&ann.call("crm:who", &nothing).await), digest(&value("ann")));
    let remove =
        async |caller: &Caller<'_>| send(caller.request(Method::DELETE, "/v1/secrets/crm")).await;
    assert_eq!(remove(&other).await.status, 404, "it has none to remove");

    // A change and a removal take effect without a restart.
    assert_eq!(store(&ann, "crm", &value("ann-2")).await.status, 200);
    assert_eq!(used(&ann.call("crm:who", &nothing).await), digest(&value("ann-2")));
    assert_eq!(remove(&ann).await.status, 200);
    assert_unset(&ann.call("crm:who", &nothing).await);
    assert_eq!(used(&amy.call("crm:who", &nothing).await), digest(&value("amy")));

    // The value of the gateway is for listing: no call uses it.
    let stored = setup.gateway.run_with_input(&["secret", "set", "crm"], &value("gateway")).await;
    stored.ok();
    assert_unset(&ann.call("crm:who", &nothing).await);
    // The server is started again for it.
    let of_amy = eventually("the server is back", || async {
        let answer = amy.call("crm:who", &nothing).await;
        answer.body["data"]["digest"].as_str().map(str::to_owned)
    })
    .await;
    assert_eq!(of_amy, digest(&value("amy")));
    assert_eq!(used(&ann.call("plain:who", &nothing).await), digest(""));
    assert_nowhere(&setup).await;
}

/// The header of each request, by method.
type Seen = Arc<Mutex<Vec<(String, String)>>>;

/// An MCP server over HTTP that answers with a digest of the header that it was sent.
async fn answer(State(seen): State<Seen>, headers: HeaderMap, Json(ask): Json<Value>) -> Answer {
    let header = headers.get("authorization").map_or("", |value| value.to_str().unwrap());
    let method = ask["method"].as_str().unwrap_or_default();
    seen.lock().unwrap().push((method.to_owned(), header.to_owned()));
    if ask["id"].is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let result = match method {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0,
            "cacheScope": "private", "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "web", "version": "1"}},
        }),
        "tools/list" => json!({
            "resultType": "complete",
            "tools": [{"name": "who", "description": "Says who.", "inputSchema": {"type": "object"}}],
        }),
        _ => {
            let data = json!({"digest": digest(header), "raw": header});
            let content = [json!({"type": "text", "text": data.to_string()})];
            json!({"resultType": "complete", "content": content, "structuredContent": data})
        }
    };
    Json(json!({"jsonrpc": "2.0", "id": ask["id"], "result": result})).into_response()
}

#[tokio::test]
async fn a_persons_header_is_sent_with_their_calls_only() {
    let seen = Seen::default();
    let router = Router::new().fallback(answer).with_state(Arc::clone(&seen));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let config = format!(
        "servers:\n  web: {{ url: '{url}', headers: {{ Authorization: {{ secret: web, per: person, prefix: 'Bearer ' }} }} }}\n"
    );
    let setup = Setup::with(&config, |gateway| gateway.env("POWERSTRIP_LOG", "debug")).await;
    let ann = setup.caller(json!({"org": "acme", "sub": "ann"}));
    let amy = setup.caller(json!({"org": "acme", "sub": "amy"}));
    eventually("the tool is listed", || async {
        ann.get("/mcp/discover").await.body.to_string().contains("web:who").then_some(())
    })
    .await;
    let nothing = json!({});
    let unset = ann.call("web:who", &nothing).await;
    assert_eq!(unset.body["errors"][0]["details"]["secrets"], json!(["web"]), "{unset:?}");
    for (who, caller) in [("ann", &ann), ("amy", &amy)] {
        assert_eq!(store(caller, "web", &value(who)).await.status, 200);
    }
    for (who, caller) in [("ann", &ann), ("amy", &amy), ("ann", &ann)] {
        let answer = caller.call("web:who", &nothing).await;
        assert_eq!(used(&answer), digest(&format!("Bearer {}", value(who))), "{who}");
        assert!(!answer.body.to_string().contains(CANARY), "{answer:?}");
    }
    for (method, header) in seen.lock().unwrap().iter() {
        assert!(method != "tools/list" || header.is_empty(), "listed with {header}");
    }
    assert_nowhere(&setup).await;
}

/// No secret is in the log, an answer, a page, a file or a command's output.
async fn assert_nowhere(setup: &Setup) {
    let gateway = &setup.gateway;
    let clean = |what: &str, text: &str| assert!(!text.contains(CANARY), "{what}: {text}");
    clean("the log", &gateway.log());
    let admin = Caller::new(gateway, Some(gateway.admin_token()));
    let reader = setup.caller(
        json!({"org": "acme", "sub": "ann", "scope": "tools:read tools:call metrics:read"}),
    );
    for path in ["/v1/secrets", "/v1/servers", "/mcp/discover", "/openapi.json", "/metrics"] {
        clean(path, &reader.get(path).await.body.to_string());
        clean(path, &admin.get(path).await.body.to_string());
    }
    for command in
        [&["secret", "ls"][..], &["secret", "ls", "--json"], &["servers"], &["config", "show"]]
    {
        let ran = gateway.run(command).await;
        clean(&command.join(" "), &format!("{}{}", ran.stdout, ran.stderr));
    }
    let mut folders = vec![gateway.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let bytes = std::fs::read(entry.path()).unwrap();
                let found = bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
                assert!(!found, "{:?}", entry.path());
            }
        }
    }
}

/// A route names no person: the secret of another cannot be addressed, and agents change none.
pub(crate) async fn assert_only_own(setup: &Setup, methods: &str) {
    let callers = [
        (json!({"org": "globex", "sub": "ann"}), 404),
        (json!({"org": "acme", "sub": "amy"}), 404),
        (json!({"org": "acme", "sub": "ann", "agent": "bot"}), 403),
    ];
    for (claims, refused) in callers {
        let caller = setup.caller(claims.clone());
        for method in methods.split(", ") {
            let request = caller.request(method.parse().unwrap(), "/v1/secrets/crm");
            let answer = send(request.json(&json!({"value": "x"}))).await;
            assert_eq!(answer.status, refused, "{method} by {claims}: {answer:?}");
            assert!(!answer.body.to_string().contains("acme"), "{answer:?}");
        }
    }
}
