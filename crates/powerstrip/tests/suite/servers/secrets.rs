//! Secrets that servers and tools echo are not visible to callers.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::StatusCode;
use serde_json::{Value, json};
use testkit::{Gateway, eventually};

use crate::servers::peer::Peer;

const ENV: &str = "env-c4nary/\"0123\"+x";
const BEARER: &str = "header-c4nary-456789";
const PASSWORD: &str = "basic-c4nary-password";
const QUERY: &str = "query-c4nary-987654";
const PACK: &str = "pack-c4nary-value-77";

/// The encodings of a canary that no output may contain.
fn canaries() -> Vec<String> {
    let mut all: Vec<String> =
        ["env-c4nary", "header-c4nary", "basic-c4nary", "query-c4nary", "pack-c4nary"]
            .map(str::to_owned)
            .into();
    all.extend([ENV, BEARER, PACK].map(|secret| BASE64_STANDARD.encode(secret)[..12].to_owned()));
    all.push(BASE64_STANDARD.encode(format!("user:{PASSWORD}")));
    all
}

fn assert_clean(what: &str, text: &str) {
    for canary in canaries() {
        assert!(!text.contains(&canary), "{what} has {canary}: {text}");
    }
}

/// Echoes its secret on stderr, in its list, results, errors and progress, and can be made to exit.
const STDIO: &str = r#"
import base64, json, os, sys, urllib.parse
secret = os.environ['API_KEY']
print('starting with', secret, file=sys.stderr, flush=True)
def say(message):
    print(json.dumps({'jsonrpc': '2.0', **message}), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    method, params = ask.get('method'), ask.get('params') or {}
    if 'id' not in ask:
        continue
    if method == 'server/discover':
        say({'id': ask['id'], 'result': {'resultType': 'complete', 'supportedVersions': ['2026-07-28'], 'capabilities': {'tools': {}}, 'ttlMs': 0, 'cacheScope': 'private', '_meta': {'io.modelcontextprotocol/serverInfo': {'name': secret, 'version': '1'}}}})
    elif method == 'tools/list':
        tool = lambda name: {'name': name, 'description': 'Uses ' + secret, 'inputSchema': {'type': 'object'}}
        say({'id': ask['id'], 'result': {'tools': [tool('say'), tool('fail'), tool('die')], 'resultType': 'complete'}})
    elif method == 'tools/call' and params['name'] == 'die':
        print('fatal: cannot log in with', secret, file=sys.stderr, flush=True)
        os._exit(3)
    elif method == 'tools/call' and params['name'] == 'fail':
        say({'id': ask['id'], 'error': {'code': -32603, 'message': 'no access with ' + secret, 'data': {secret: [secret]}}})
    elif method == 'tools/call':
        token = params.get('_meta', {}).get('progressToken')
        if token is not None:
            say({'method': 'notifications/progress', 'params': {'progressToken': token, 'progress': 1, 'message': secret}})
        forms = [secret, json.dumps(secret), urllib.parse.quote(secret), base64.b64encode(secret.encode()).decode(), base64.b64encode(b'k=' + secret.encode()).decode()]
        say({'id': ask['id'], 'result': {'content': [{'type': 'text', 'text': form} for form in forms], 'structuredContent': {'echo': forms}}})
    else:
        say({'id': ask['id'], 'error': {'code': -32601, 'message': secret}})
"#;

/// Answers MCP and plain requests with the credentials that they contain, and accepts traces.
async fn echo(State(traces): State<Arc<Mutex<Vec<u8>>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    if parts.uri.path() == "/v1/traces" {
        traces.lock().expect("no panic").extend_from_slice(&body);
        return Response::new(Body::empty());
    }
    let seen = |name: &str| {
        parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("none")
    };
    let echoed = format!("{} {} {}", seen("authorization"), seen("x-api-key"), parts.uri);
    if parts.uri.path() == "/plain" {
        return answer(StatusCode::BAD_REQUEST, "text/plain", echoed);
    }
    let Ok(ask) = serde_json::from_slice::<Value>(&body) else {
        return answer(StatusCode::FORBIDDEN, "text/plain", echoed);
    };
    let reply = match ask["method"].as_str().unwrap_or_default() {
        "server/discover" => {
            json!({"result": {"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": echoed, "version": "1"}}}})
        }
        "tools/list" => {
            let tool = |name: &str| json!({"name": name, "description": echoed, "inputSchema": {"type": "object"}});
            json!({"result": {"tools": [tool("say"), tool("fail"), tool("refuse")], "resultType": "complete"}})
        }
        "tools/call" if ask["params"]["name"] == "say" => {
            json!({"result": {"content": [{"type": "text", "text": echoed}]}})
        }
        "tools/call" if ask["params"]["name"] == "refuse" => {
            return answer(StatusCode::UNAUTHORIZED, "text/plain", echoed);
        }
        _ => json!({"error": {"code": -32602, "message": echoed, "data": echoed}}),
    };
    let mut reply = reply;
    reply["jsonrpc"] = json!("2.0");
    reply["id"] = ask["id"].clone();
    answer(StatusCode::OK, "application/json", reply.to_string())
}

fn answer(status: StatusCode, kind: &str, body: String) -> Response {
    let response = Response::builder().status(status).header("content-type", kind);
    response.body(Body::from(body)).expect("an answer")
}

const SERVICE: &str = "openapi: 3.1.0\ninfo: { title: Plain, version: '1' }\npaths:\n  /plain:\n    get:\n      operationId: plain\n      responses: { '200': { description: fine } }\n";

const PACKED: &str = "id: t.pack\nversion: 1.0.0\ndescription: Repeats its secret.\ndeterministic: false\nenv: { passthrough: [PACK_TOKEN] }\n\
    inputSchema: { type: object }\noutputSchema: { type: object }\n\
    execution: { kind: cli, cmd: [python3, -c, \"import json, os, sys; s = os.environ['PACK_TOKEN']; print(s, file=sys.stderr); print(json.dumps({'s': [s, {s: 1}]}))\"] }\n";

#[tokio::test]
async fn secrets_echoed_by_servers_reach_no_caller() {
    let traces = Arc::new(Mutex::new(Vec::new()));
    let router = Router::new().fallback(echo).with_state(Arc::clone(&traces));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await.expect("it runs") });

    let basic = BASE64_STANDARD.encode(format!("user:{PASSWORD}"));
    let config = format!(
        "telemetry: {{ otlp: '{base}' }}\nservers:\n  std: {{ command: python3, args: [server.py], cwd: ., env: {{ API_KEY: {{ env: ENV_SECRET }} }} }}\n  \
         web: {{ url: '{base}/mcp?api_key={QUERY}', headers: {{ Authorization: 'Bearer {BEARER}', X-Api-Key: {{ env: ENV_SECRET }} }} }}\n  \
         svc: {{ kind: openapi, document: ./plain.yaml, base_url: '{base}', headers: {{ Authorization: 'Basic {basic}' }} }}\n"
    );
    let gateway = Gateway::with()
        .config(&config)
        .file("server.py", STDIO)
        .file("plain.yaml", SERVICE)
        .file("tools/pack.tool.yaml", PACKED)
        .env("ENV_SECRET", ENV)
        .env("PACK_TOKEN", PACK)
        .env("POWERSTRIP_LOG", "debug")
        .start()
        .await;
    let discovered = eventually("the tools are there", || async {
        let reply = gateway.get("/mcp/discover").await.body.to_string();
        ["std:say", "web:say", "svc:plain"].iter().all(|tool| reply.contains(tool)).then_some(reply)
    })
    .await;
    assert_clean("the catalog", &discovered);

    for tool in [
        "std:say",
        "std:fail",
        "web:say",
        "web:fail",
        "web:refuse",
        "svc:plain",
        "t.pack",
        "std:die",
    ] {
        let reply = gateway.call(tool, &json!({})).await.body.to_string();
        assert_clean(tool, &reply);
        let repeats = tool != "web:refuse";
        assert_eq!(reply.contains("****"), repeats, "{tool}: {reply}");
        let meta = json!({"progressToken": 1});
        let reply = Peer::modern(&gateway).call(tool, json!({}), meta).await;
        assert_clean(tool, &format!("{} {:?}", reply.answer, reply.before));
    }
    let servers = eventually("the end of the process is noted", || async {
        let reply = gateway.get("/v1/servers").await.body.to_string();
        reply.contains("cannot log in").then_some(reply)
    })
    .await;
    assert_clean("/v1/servers", &servers);
    for arguments in
        [&["servers"][..], &["servers", "--json"], &["call", "std:fail", "--input", "{}"]]
    {
        let variables = [("ENV_SECRET", ENV), ("PACK_TOKEN", PACK)];
        let output = gateway.run_with(arguments, &variables).await;
        assert_clean("standard output", &output.stdout);
        assert_clean("standard error", &output.stderr);
    }
    assert_clean("the log", &gateway.log());
    gateway.stop().await;
    let traces = traces.lock().expect("no panic");
    assert!(!traces.is_empty(), "traces are sent");
    assert_clean("the traces", &String::from_utf8_lossy(&traces));
}
