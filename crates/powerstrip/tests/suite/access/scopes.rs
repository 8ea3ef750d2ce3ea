use serde_json::{Value, json};
use testkit::{Gateway, MODERN, Response, eventually, sibling_program};

use crate::access::support::{Caller, LEGACY, Setup, call_message, challenge};

fn assert_refused(answer: &Response, at: &str) {
    assert_eq!(answer.status, 403, "{at}: {answer:?}");
    let challenge = challenge(answer);
    assert!(challenge.contains("error=\"insufficient_scope\""), "{at}: {challenge}");
    assert!(
        challenge.contains("scope=\"tools:read tools:call\""),
        "{at}: all at once: {challenge}"
    );
    assert!(challenge.contains("resource_metadata=\""), "{at}: {challenge}");
}

#[tokio::test]
async fn a_read_only_token_calls_no_tool_in_any_revision_or_door() {
    let setup = Setup::open().await;
    let reader = setup.caller(json!({"scope": "tools:read"}));
    assert_refused(&reader.call("demo.echo", &json!({"message": "x"})).await, "REST");
    let params = json!({"name": "demo.echo", "arguments": {"message": "x"}});
    assert_refused(&reader.modern("tools/call", params).await, MODERN);
    for version in LEGACY {
        let session = reader.session(version).await;
        assert_refused(
            &reader.legacy(version, &session, &call_message("demo.echo")).await,
            version,
        );
        // An unknown revision, or none at all, is refused as well.
        let odd = reader.legacy("2024-11-05", &session, &call_message("demo.echo")).await;
        assert_refused(&odd, "2024-11-05");
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let listed = reader.legacy(version, &session, &list).await;
        assert!(listed.body["result"]["tools"].is_array(), "{version}: {listed:?}");
    }
    assert_refused(&reader.legacy("", "", &call_message("demo.echo")).await, "no session");
    for method in ["tasks/update", "tasks/cancel"] {
        assert_refused(&reader.modern(method, json!({"taskId": "x"})).await, method);
    }
    assert!(reader.modern("tools/list", json!({})).await.body["result"]["tools"].is_array());
    assert_eq!(reader.get("/mcp/discover").await.status, 200);
    assert_eq!(reader.get("/openapi.json").await.status, 200);
}

#[tokio::test]
async fn a_message_with_two_methods_runs_nothing() {
    let setup = Setup::open().await;
    let reader = setup.caller(json!({"scope": "tools:read"}));
    let session = reader.session("2025-11-25").await;
    for (first, second) in [("tools/list", "tools/call"), ("tools/call", "tools/list")] {
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{first}\",\"method\":\"{second}\",\
             \"params\":{{\"name\":\"dice.roll\",\"arguments\":{{}}}}}}"
        );
        let request = reader
            .request(reqwest::Method::POST, "/mcp")
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-session-id", &session)
            .body(body);
        let answer = testkit::send(request).await;
        assert!(answer.body["result"].get("structuredContent").is_none(), "{answer:?}");
    }
}

#[tokio::test]
async fn unknown_scopes_are_refused_and_default_scopes_suffice() {
    let setup = Setup::open().await;
    for scope in [Value::Null, json!("email openid"), json!("TOOLS:READ tools:call/")] {
        let caller = setup.caller(json!({"scope": scope}));
        assert_refused(&caller.get("/mcp/discover").await, "discovery");
        assert_refused(&caller.modern("tools/list", json!({})).await, "MCP");
        assert_refused(&caller.call("demo.echo", &json!({})).await, "a call");
    }
    let ann = setup.caller(json!({}));
    let called = ann.call("demo.echo", &json!({"message": "x"})).await;
    assert_eq!(called.body["data"], json!({"message": "x"}));
    let params = json!({"name": "demo.echo", "arguments": {"message": "x"}});
    let called = ann.modern("tools/call", params).await;
    assert_eq!(called.body["result"]["structuredContent"], json!({"message": "x"}));
    for version in LEGACY {
        let session = ann.session(version).await;
        let mut message = call_message("demo.echo");
        message["params"]["arguments"] = json!({"message": "x"});
        let called = ann.legacy(version, &session, &message).await;
        assert_eq!(called.body["result"]["isError"], json!(false), "{version}: {called:?}");
    }
}

#[tokio::test]
async fn each_request_of_a_session_is_checked_by_its_own_token() {
    let setup = Setup::open().await;
    let ann = setup.caller(json!({}));
    let session = ann.session("2025-11-25").await;
    let called = ann.legacy("2025-11-25", &session, &call_message("demo.echo")).await;
    assert_eq!(called.status, 200);
    let narrowed = setup.caller(json!({"scope": "tools:read"}));
    assert_refused(
        &narrowed.legacy("2025-11-25", &session, &call_message("demo.echo")).await,
        "narrowed",
    );
    let expired = setup.caller(json!({"exp": 1}));
    let late = expired.legacy("2025-11-25", &session, &call_message("demo.echo")).await;
    assert_eq!(late.status, 401, "a session is no credential");
}

#[tokio::test]
async fn scopes_can_be_renamed_and_granted_by_role() {
    let more = "  scopes: { read: mcp.read, call: mcp.call }\n  roles_claim: realm.roles\n  \
        roles: { analyst: [tools:read, tools:call] }\n";
    let setup = Setup::with(more, |gateway| gateway).await;
    let usual = setup.caller(json!({}));
    let answer = usual.get("/mcp/discover").await;
    assert_eq!(answer.status, 403, "the default names have no effect");
    assert!(challenge(&answer).contains("scope=\"mcp.read mcp.call\""), "{answer:?}");
    let metadata = usual.get("/.well-known/oauth-protected-resource").await;
    assert_eq!(metadata.body["scopes_supported"], json!(["mcp.read", "mcp.call"]));
    for changes in [
        json!({"scope": "mcp.read mcp.call"}),
        json!({"scope": null, "scp": ["mcp.read", "mcp.call"]}),
        json!({"scope": null, "realm": {"roles": ["analyst"]}}),
    ] {
        let caller: Caller<'_> = setup.caller(changes.clone());
        assert_eq!(
            caller.call("demo.echo", &json!({"message": "x"})).await.status,
            200,
            "{changes}"
        );
    }
}

/// Requests that reach a server need more than the scope to list.
#[tokio::test]
async fn a_read_only_token_gets_no_prompt_or_resource_of_a_server() {
    let fixture = sibling_program("powerstrip-fixture");
    let servers = format!("servers:\n  far: {{ command: '{}' }}\n", fixture.display());
    let setup = Setup::with(&servers, |gateway| gateway).await;
    let (reader, ann) = (setup.caller(json!({"scope": "tools:read"})), setup.caller(json!({})));
    eventually("the server's lists are there", || async {
        let listed = reader.modern("prompts/list", json!({})).await.body.to_string();
        listed.contains("far__test_simple_prompt").then_some(())
    })
    .await;
    let prompt = json!({"type": "ref/prompt", "name": "far__test_prompt_with_arguments"});
    for (method, params, answered) in [
        ("prompts/get", json!({"name": "far__test_simple_prompt"}), "messages"),
        ("resources/read", json!({"uri": "test://static-text"}), "contents"),
        (
            "completion/complete",
            json!({"ref": prompt, "argument": {"name": "arg1", "value": "par"}}),
            "completion",
        ),
    ] {
        let refused = reader.modern(method, params.clone()).await.body;
        assert!(refused["result"].is_null(), "{method}: {refused}");
        assert!(
            refused.to_string().contains("the token does not cover this"),
            "{method}: {refused}"
        );
        let given = ann.modern(method, params.clone()).await.body;
        assert!(!given["result"][answered].is_null(), "{method}: {given}");
        for version in LEGACY {
            let session = reader.session(version).await;
            let message = json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params});
            let refused = reader.legacy(version, &session, &message).await.body;
            assert!(refused["result"].is_null(), "{version} {method}: {refused}");
        }
    }
}

/// The routes of operations that call a tool or make a plan, and what their audit rows are about.
const CALLING: [(&str, &str); 7] = [
    ("/v1/search", "web.search.query"),
    ("/v1/plan", "planner.multi_perspective"),
    ("/v1/research", "research.execute"),
    ("/v1/workflows", "powerstrip:execute_dag"),
    ("/v1/workflows/plan", "workflows/plan"),
    ("/v1/workflows/xx/continue", "powerstrip:continue"),
    ("/v1/workflows/xx/abort", "powerstrip:abort"),
];

/// Tool and outcome of the calls that are listed for a caller with the scope to see them, oldest first, once there are
/// `count`.
async fn recorded(auditor: &Caller<'_>, count: usize) -> Vec<(String, String)> {
    eventually("all refusals are recorded", || async {
        let listed = auditor.get("/v1/calls?order=oldest&limit=500").await.body;
        let text = |call: &Value, field: &str| call[field].as_str().unwrap().to_owned();
        let calls = listed["calls"].as_array()?.iter();
        let rows: Vec<_> = calls.map(|call| (text(call, "tool"), text(call, "code"))).collect();
        (rows.len() >= count).then_some(rows)
    })
    .await
}

#[tokio::test]
async fn refusals_of_routes_that_call_a_tool_leave_a_row() {
    let setup = Setup::open().await;
    let reader = setup.caller(json!({"scope": "tools:read"}));
    let caller = setup.caller(json!({"scope": "tools:read tools:call"}));
    let auditor = setup.caller(json!({"scope": "audit:read"}));
    let post = async |by: &Caller<'_>, path: &str, body: String| {
        let request = by.request(reqwest::Method::POST, path).body(body);
        testkit::send(request.header("content-type", "application/json")).await.status
    };
    let mut expected = Vec::new();
    for (path, about) in CALLING {
        assert_eq!(post(&reader, path, "{}".to_owned()).await, 403, "{path}");
        expected.push((about.to_owned(), "DENIED".to_owned()));
        assert_eq!(post(&caller, path, "{".to_owned()).await, 400, "{path}");
        expected.push((about.to_owned(), "INVALID_INPUT".to_owned()));
    }
    let large = json!({"query": "x".repeat(200_000)}).to_string();
    assert_eq!(post(&caller, "/v1/search", large).await, 400);
    expected.push(("web.search.query".to_owned(), "INVALID_INPUT".to_owned()));
    let bad_path = post(&caller, "/v1/workflows/xx/continue", "{}".to_owned()).await;
    let long_key = caller.request(reqwest::Method::POST, "/v1/workflows").json(&json!({}));
    let long_key = testkit::send(long_key.header("idempotency-key", "k".repeat(300))).await;
    assert_eq!((bad_path, long_key.status), (400, 400));
    for about in ["powerstrip:continue", "powerstrip:execute_dag"] {
        expected.push((about.to_owned(), "INVALID_INPUT".to_owned()));
    }
    // Refused by the guards of the call itself, which leaves one row and not two.
    let answer = post(&caller, "/v1/workflows", json!({"intent": 7}).to_string()).await;
    assert_eq!(answer, 400);
    expected.push(("powerstrip:execute_dag".to_owned(), "INVALID_INPUT".to_owned()));
    let plan = json!({"intent": "Echo the message 'hello'"}).to_string();
    assert_eq!(post(&caller, "/v1/workflows/plan", plan).await, 200);
    expected.push(("workflows/plan".to_owned(), "OK".to_owned()));
    // Rows are read again, because one too many would come late.
    recorded(&auditor, expected.len()).await;
    assert_eq!(post(&reader, "/v1/search", "{}".to_owned()).await, 403);
    expected.push(("web.search.query".to_owned(), "DENIED".to_owned()));
    assert_eq!(recorded(&auditor, expected.len()).await, expected);
}

#[tokio::test]
async fn refusals_and_plans_count_against_the_rate() {
    let gateway = Gateway::with().config("limits: { rate: { principal: 3/1h } }\n").start().await;
    let post = async |path: &str, body: &'static str| {
        let request = reqwest::Client::new().post(gateway.url(path)).body(body);
        testkit::send(request.header("content-type", "application/json")).await.status
    };
    let plan = r#"{"intent": "Echo the message 'hello'"}"#;
    assert_eq!(post("/v1/workflows/plan", plan).await, 200);
    assert_eq!(post("/v1/workflows", "{").await, 400);
    assert_eq!(post("/v1/workflows/xx/continue", "{}").await, 400);
    assert_eq!(post("/v1/search", "{").await, 429);
    assert_eq!(post("/v1/workflows/plan", plan).await, 429);
}
