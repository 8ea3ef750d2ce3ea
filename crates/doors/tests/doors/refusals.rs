//! What a door refuses although it could read which tool or server was asked for is in the audit trail.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use auth::{KeyKind, NewKey};
use doors::Options;
use http::{Method, StatusCode};
use http_body_util::Full;
use http_server::ServerLimits;
use proto::{Failure, Principal, TenantId, Via};
use remote::LspClient;
use serde_json::{Value, json};
use store::{AuditFilter, AuditRow, Database};
use strip::agents::{Agent, Listing, Profiles, Skill};
use strip::servers::{ClientIdentity, Offering, Server};
use strip::{Job, Output, Rate, RateRules, Settings, Strip};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::mcp_legacy::Client;
use crate::support::{
    Gateway, Reply, TIMEOUT, gateway, gateway_with, guarded_gateway, modern, next_event, settings,
    strip,
};

/// An agent that may use the server `letters` only.
const AGENT: &str = "quill";

const TASKS: &str = "io.modelcontextprotocol/tasks";

fn add_agent(strip: &Strip) {
    let mut profiles = Profiles::default();
    let skill = Skill {
        servers: ["letters".to_owned()].into_iter().collect(),
        tools: ["test.echo".parse().unwrap()].into_iter().collect(),
        auto_approve: true,
        approval_timeout: Duration::from_secs(30),
        approve: BTreeMap::new(),
    };
    profiles.skills.insert("writing".to_owned(), skill);
    let agent =
        Agent { skills: vec!["writing".to_owned()], listing: Listing::Whole, schemas: None };
    profiles.agents.insert(AGENT.to_owned(), agent);
    strip.set_agents(profiles);
}

/// Door, tool and outcome of refused rows, oldest first.
fn refused(rows: &[AuditRow]) -> Vec<(&str, &str, &str)> {
    assert!(rows.iter().all(|row| row.decision == "refused"), "{rows:?}");
    rows.iter().map(|row| (&*row.door, &*row.tool, &*row.outcome)).collect()
}

/// Sends an MCP request of 2026-07-28 to a path.
async fn ask(gateway: &Gateway, path: &str, token: &str, method: &str, params: Value) -> Reply {
    let (mut headers, mut body) = modern(json!(1), method, params);
    body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"extensions": {TASKS: {}}});
    if let Some(name) = body["params"]["uri"].as_str().or(body["params"]["taskId"].as_str()) {
        headers.insert("mcp-name", name.to_owned());
    }
    let mut request = gateway
        .request(Method::POST, path)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("authorization", format!("Bearer {token}"));
    for (name, value) in &headers {
        request = request.header(*name, value);
    }
    gateway.send(request.body(Full::from(body.to_string())).unwrap()).await
}

#[tokio::test]
async fn a_call_without_the_scope_leaves_its_row() {
    let (gateway, keys, _folder) = guarded_gateway().await;
    add_agent(&gateway.strip);
    let reader = NewKey {
        name: "reader".to_owned(),
        kind: KeyKind::Api,
        tenant: None,
        subject: None,
        agent: None,
        scopes: vec!["tools:read".to_owned()],
        lifetime: None,
    };
    let (_, token) = keys.add(reader).await.unwrap();
    let token = token.expose();
    for path in ["/mcp/tool/srv:odd%2Fname", "/agents/quill/mcp/tool/test.echo", "/v1/calls"] {
        let request = gateway
            .request(Method::POST, path)
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"));
        let reply = gateway.send(request.body(Full::from("{}")).unwrap()).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path}");
    }
    for (method, params) in [
        ("tools/call", json!({"name": "test_echo"})),
        ("tasks/cancel", json!({"taskId": "srv.1"})),
        ("resources/read", json!({"uri": "notes://1"})),
    ] {
        let reply = ask(&gateway, "/mcp", token, method, params).await;
        let message = reply.messages().pop().unwrap();
        assert!(message["error"].is_object(), "{method}: {message}");
    }
    let rows = gateway.audit_rows(6).await;
    assert_eq!(
        refused(&rows),
        [
            ("http", "srv:odd/name", "DENIED"),
            ("http", "test.echo", "DENIED"),
            ("http", "calls", "DENIED"),
            ("mcp-http", "test_echo", "DENIED"),
            ("mcp-http", "tasks/cancel", "DENIED"),
            ("mcp-http", "resources/read", "DENIED"),
        ]
    );
    assert!(rows.iter().all(|row| row.caller.subject == "key:reader"), "{rows:?}");
    assert_eq!(rows[1].caller.agent.as_deref(), Some(AGENT));
}

#[tokio::test]
async fn a_call_without_the_scope_over_a_pipe_leaves_its_row() {
    let (strip, _gate, folder) = strip(settings()).await;
    publish_servers(&strip);
    let (client, server) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(server);
    let user = Arc::new(Principal {
        tenant: TenantId::new("local"),
        subject: "guest".to_owned(),
        agent: None,
        scopes: vec!["tools:read".to_owned()],
        via: Via::Local,
    });
    tokio::spawn(doors::serve_session(strip, user, read, write));
    let mut client = BufReader::new(client);
    let mut answer = String::new();
    for message in [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {},
            "protocolVersion": "2025-06-18", "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "test_echo"}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe",
            "params": {"uri": "notes://1"}}),
    ] {
        client.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        if message["id"].is_number() {
            answer.clear();
            let reading = client.read_line(&mut answer);
            tokio::time::timeout(TIMEOUT, reading).await.expect("a line in time").unwrap();
        }
    }
    assert!(answer.contains("the token does not cover this"), "{answer}");
    let rows = rows_in(folder.path(), 2).await;
    let expected = ["resources/subscribe", "test_echo"].map(|tool| ("mcp-stdio", tool, "DENIED"));
    assert_eq!(refused(&rows), expected);
}

/// The rows of the trail in a data folder, newest first, once there are `count`.
async fn rows_in(folder: &std::path::Path, count: usize) -> Vec<AuditRow> {
    let database = Database::open(folder).await.unwrap();
    let reading = async {
        loop {
            let rows = database.audit_rows(AuditFilter::default()).await.unwrap();
            if rows.len() >= count {
                return rows;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, reading).await.expect("a row in time")
}

#[tokio::test]
async fn a_call_with_an_invalid_option_or_input_leaves_its_row() {
    let gateway = gateway().await;
    let post =
        |path: &'static str, header: Option<(&'static str, &'static str)>, body: &'static str| {
            let mut request =
                gateway.request(Method::POST, path).header("content-type", "application/json");
            if let Some((name, value)) = header {
                request = request.header(name, value);
            }
            gateway.send(request.body(Full::from(body)).unwrap())
        };
    let tool = "/mcp/tool/test.echo";
    for (path, header, body) in [
        (tool, Some(("powerstrip-timeout-ms", "soon")), "{}"),
        (tool, Some(("idempotency-key", "")), "{}"),
        ("/mcp/tool/no.such", Some(("powerstrip-verify", "maybe")), "{}"),
        (tool, None, "{"),
        ("/v1/calls", Some(("powerstrip-timeout-ms", "0")), "{}"),
        ("/v1/calls", None, "7"),
        ("/v1/calls", None, r#"{"calls": [{"id": "a", "tool": "t", "depends_on": ["b"]}]}"#),
    ] {
        let reply = post(path, header, body).await;
        assert_eq!(reply.code(), json!("INVALID_INPUT"), "{path} {header:?} {body}");
    }
    let params = json!({"name": "test_echo", "_meta": {"powerstrip/timeout-ms": "soon"}});
    let reply = ask(&gateway, "/mcp", "", "tools/call", params.clone()).await;
    assert_eq!(reply.messages()[0]["error"]["code"], json!(-32602));
    let (client, _) = Client::connect(&gateway, "2025-06-18").await;
    let answer = client.ask(7, "tools/call", params).await;
    assert_eq!(answer["error"]["code"], json!(-32602));
    let rows = gateway.audit_rows(9).await;
    let expected: Vec<_> =
        ["test.echo", "test.echo", "no.such", "test.echo", "calls", "calls", "calls"]
            .map(|tool| ("http", tool, "INVALID_INPUT"))
            .into_iter()
            .chain(["test_echo"; 2].map(|tool| ("mcp-http", tool, "INVALID_INPUT")))
            .collect();
    assert_eq!(refused(&rows), expected);
}

#[tokio::test]
async fn an_invalid_option_over_lsp_leaves_its_row() {
    let (strip, _gate, folder) = strip(settings()).await;
    let (client, server) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(server);
    let user = auth::LocalAccess::default().user();
    tokio::spawn(doors::serve_session(strip, user, read, write));
    let client = LspClient::connect(client);
    let invalid = json!({"tool": "test.key", "timeoutMs": 0});
    client.request("mcp.tool.invoke", invalid).await.unwrap_err();
    let rows = rows_in(folder.path(), 1).await;
    assert_eq!(refused(&rows), [("lsp", "test.key", "INVALID_INPUT")]);
}

/// A server with one resource and one prompt.
struct Notes(&'static str);

#[async_trait]
impl Server for Notes {
    fn name(&self) -> &str {
        self.0
    }

    fn offering(&self) -> Arc<Offering> {
        Arc::new(Offering {
            prompts: vec![Arc::new(json!({"name": "summary"}))],
            resources: vec![Arc::new(json!({"uri": format!("{}://1", self.0), "name": "one"}))],
            capabilities: json!({"resources": {}, "prompts": {}, "extensions": {TASKS: {}}}),
            ..Offering::default()
        })
    }

    fn timeout(&self) -> Option<Duration> {
        None
    }

    async fn request(&self, _: &str, job: &Job) -> Result<Output, Failure> {
        let uri = &job.input["uri"];
        Ok(Output::new(json!({"contents": [{"uri": uri, "text": "a note"}]})))
    }

    fn watch(&self, _: Option<&ClientIdentity>, _: BTreeSet<String>) {}
}

/// With two servers, a URI of neither belongs to neither.
fn publish_servers(strip: &Strip) {
    for name in ["notes", "letters"] {
        strip.servers().publish(Arc::new(Notes(name)));
    }
}

/// A name that exists at a server that the caller may not use has the same answer as one that does not exist, and both
/// leave a row and count against the rate.
#[tokio::test]
async fn guesses_of_names_of_servers_are_recorded_and_counted() {
    let rate = Rate { count: NonZeroU32::new(8).unwrap(), per: Duration::from_secs(3_600) };
    let rate = RateRules { principal: Some(rate), ..RateRules::default() };
    let settings = Settings { rate, ..settings() };
    let gateway = gateway_with(settings, Options::default(), ServerLimits::default()).await;
    add_agent(&gateway.strip);
    publish_servers(&gateway.strip);
    let agents = "/agents/quill/mcp";
    let read = async |path: &'static str, uri: &'static str| {
        let reply = ask(&gateway, path, "", "resources/read", json!({"uri": uri})).await;
        reply.messages().pop().unwrap()
    };
    let given = read("/mcp", "notes://1").await;
    assert_eq!(given["result"]["contents"][0]["text"], json!("a note"));

    let guesses = [
        ("resources/read", json!({"uri": "notes://1"}), json!({"uri": "else://1"})),
        ("prompts/get", json!({"name": "notes:summary"}), json!({"name": "else:summary"})),
        ("tasks/get", json!({"taskId": "notes.1"}), json!({"taskId": "else.1"})),
    ];
    for (method, hit, miss) in guesses {
        let mut errors = Vec::new();
        for params in [hit, miss] {
            let reply = ask(&gateway, agents, "", method, params).await;
            let mut error = reply.messages().pop().unwrap()["error"].take();
            let text = error["message"].as_str().unwrap().replace("else", "notes");
            error["message"] = text.into();
            error["data"]["uri"] = Value::Null;
            errors.push(error);
        }
        assert_eq!(errors[0], errors[1], "{method}");
    }
    // The local user has made seven requests, and the agent acts for the same user.
    let last = read(agents, "else://2").await;
    assert_eq!(last["error"]["code"], json!(-32602), "{last}");
    let over = read(agents, "notes://1").await;
    assert!(over["error"]["message"].as_str().unwrap().contains("is limited to 8"), "{over}");

    let rows = gateway.audit_rows(9).await;
    let rows: Vec<_> = rows.iter().map(|row| (&*row.tool, &*row.outcome)).collect();
    assert_eq!(
        rows,
        [
            ("notes:resources/read", "OK"),
            ("notes:resources/read", "NOT_FOUND"),
            ("resources/read", "NOT_FOUND"),
            ("notes:prompts/get", "NOT_FOUND"),
            ("prompts/get", "NOT_FOUND"),
            ("notes:tasks/get", "NOT_FOUND"),
            ("tasks/get", "NOT_FOUND"),
            ("resources/read", "NOT_FOUND"),
            ("notes:resources/read", "RATE_LIMIT"),
        ]
    );
}

#[tokio::test]
async fn a_refused_subscription_leaves_its_row() {
    let gateway = gateway().await;
    publish_servers(&gateway.strip);
    let (client, _) = Client::connect(&gateway, "2025-06-18").await;
    let answer = client.ask(1, "resources/subscribe", json!({"uri": "else://1"})).await;
    assert_eq!(answer["error"]["code"], json!(-32002), "{answer}");
    let rows = gateway.audit_rows(1).await;
    assert_eq!(refused(&rows), [("mcp-http", "resources/subscribe", "NOT_FOUND")]);
}

#[tokio::test]
async fn subscriptions_to_resources_are_recorded_and_counted() {
    let rate = Rate { count: NonZeroU32::new(1).unwrap(), per: Duration::from_secs(3_600) };
    let rate = RateRules { principal: Some(rate), ..RateRules::default() };
    let settings = Settings { rate, ..settings() };
    let gateway = gateway_with(settings, Options::default(), ServerLimits::default()).await;
    publish_servers(&gateway.strip);
    let (client, _) = Client::connect(&gateway, "2025-06-18").await;
    let answer = client.ask(1, "resources/subscribe", json!({"uri": "notes://1"})).await;
    assert!(answer["result"].is_object(), "{answer}");
    let over = client.ask(2, "resources/subscribe", json!({"uri": "letters://1"})).await;
    let listen = json!({"notifications": {"resourceSubscriptions": ["notes://1"]}});
    let listened = ask(&gateway, "/mcp", "", "subscriptions/listen", listen).await;
    for refused in [over, listened.messages().pop().unwrap()] {
        assert!(refused["error"]["message"].as_str().unwrap().contains("is limited to 1"));
    }
    let rows = gateway.audit_rows(3).await;
    let rows: Vec<_> = rows.iter().map(|row| (&*row.tool, &*row.outcome)).collect();
    assert_eq!(
        rows,
        [
            ("notes:resources/subscribe", "OK"),
            ("letters:resources/subscribe", "RATE_LIMIT"),
            ("subscriptions/listen", "RATE_LIMIT"),
        ]
    );
}

#[tokio::test]
async fn callers_without_the_scope_to_call_subscribe_to_no_resource() {
    let (gateway, keys, _folder) = guarded_gateway().await;
    publish_servers(&gateway.strip);
    for (scopes, watched) in [
        (vec!["tools:read".to_owned()], Value::Null),
        (vec!["tools:read".to_owned(), "tools:call".to_owned()], json!(["notes://1"])),
    ] {
        let key = NewKey {
            name: format!("listener-{}", scopes.len()),
            kind: KeyKind::Api,
            tenant: None,
            subject: None,
            agent: None,
            scopes,
            lifetime: None,
        };
        let (_, token) = keys.add(key).await.unwrap();
        let asked = json!({"toolsListChanged": true, "resourceSubscriptions": ["notes://1"]});
        let params = json!({"notifications": asked});
        let (headers, body) = modern(json!(1), "subscriptions/listen", params);
        let mut request = gateway.mcp(&headers, &body);
        let bearer = format!("Bearer {}", token.expose()).parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
        let mut stream = gateway.open(request).await.unwrap().into_body();
        let method = "notifications/subscriptions/acknowledged";
        let accepted = next_event(&mut stream, |message| message["method"] == method).await;
        let accepted = &accepted["params"]["notifications"];
        assert_eq!(accepted["toolsListChanged"], json!(true), "{accepted}");
        assert_eq!(accepted["resourceSubscriptions"], watched, "{accepted}");
    }
}
