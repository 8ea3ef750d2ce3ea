use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use doors::Options;
use http::StatusCode;
use http_server::ServerLimits;
use serde_json::{Value, json};
use strip::catalog::NameStyle;

use crate::support::{
    Gateway, Reply, TIMEOUT, echo, gateway, gateway_with, modern, next_event, open, settings,
    shared,
};

async fn ask(gateway: &Gateway, method: &str, params: Value) -> Reply {
    let (headers, body) = modern(json!(1), method, params);
    gateway.send(gateway.mcp(&headers, &body)).await
}

async fn result(gateway: &Gateway, method: &str, params: Value) -> Value {
    let reply = ask(gateway, method, params).await;
    let message = reply.messages().pop().unwrap();
    assert!(message.get("error").is_none(), "{message}");
    message["result"].clone()
}

#[tokio::test]
async fn discovery_describes_the_server() {
    let gateway = gateway().await;
    let discovered = result(&gateway, "server/discover", json!({})).await;
    let versions = discovered["supportedVersions"].as_array().unwrap();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        assert!(versions.contains(&json!(version)), "{versions:?}");
    }
    let capabilities = &discovered["capabilities"];
    assert_eq!(capabilities["tools"]["listChanged"], json!(true));
    assert_eq!(capabilities["prompts"]["listChanged"], json!(true));
    assert!(capabilities["completions"].is_object());
    let resources = &capabilities["resources"];
    assert!(resources.is_object() && resources.get("subscribe").is_none(), "files alone");
    assert!(discovered["instructions"].as_str().unwrap().contains("INVALID_INPUT"));
    for method in ["ping", "no/such"] {
        let reply = ask(&gateway, method, json!({})).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{method}");
        assert_eq!(reply.json()["error"]["code"], json!(-32601), "{method}");
    }
}

#[tokio::test]
async fn tools_are_listed_as_the_strip_knows_them() {
    let gateway = gateway().await;
    let listed = result(&gateway, "tools/list", json!({})).await;
    assert_eq!(listed["cacheScope"], json!("private"));
    assert!(listed["ttlMs"].is_u64());
    assert!(listed.get("nextCursor").is_none());
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted());
    let find = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    let echo = find("test_echo");
    assert_eq!(echo["_meta"]["powerstrip/tool"], json!("test.echo"));
    assert_eq!(echo["_meta"]["powerstrip/version"], json!("2.1.0"));
    assert_eq!(echo["annotations"], json!({"readOnlyHint": true}));
    assert_eq!(echo["inputSchema"]["type"], json!("object"));
    let older = find("test_echo_v1");
    assert_eq!(older["_meta"]["powerstrip/deprecated"], json!(true));
    assert!(older["description"].as_str().unwrap().starts_with("Deprecated"));
    // This revision allows any JSON as structured content, so the schema is unchanged.
    assert_eq!(find("test_list")["outputSchema"]["type"], json!("array"));

    let bad = ask(&gateway, "tools/list", json!({"cursor": "made up"})).await.json();
    assert_eq!(bad["error"]["code"], json!(-32602));
}

#[tokio::test]
async fn long_lists_are_paged_without_gaps() {
    let gateway = gateway().await;
    let many = (0..2_500).map(|n| echo(&format!("many.tool{n:04}"))).collect();
    gateway.strip.catalog().publish("many", shared(many));
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let page = result(&gateway, "tools/list", params).await;
        let tools = page["tools"].as_array().unwrap();
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        match page.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    assert_eq!(names.len(), gateway.strip.catalog().snapshot().entries().len());
    assert!(names.is_sorted_by(|a, b| a < b));
}

#[tokio::test]
async fn a_tool_that_takes_anything_is_listed_as_taking_objects() {
    let gateway = gateway().await;
    let any = echo("odd.any").with(|d| d.input_schema = json!(true));
    gateway.strip.catalog().publish("odd", shared(vec![any]));
    let listed = result(&gateway, "tools/list", json!({})).await;
    let tools = listed["tools"].as_array().unwrap();
    let any = tools.iter().find(|tool| tool["name"] == "odd_any").unwrap();
    assert_eq!(any["inputSchema"], json!({"type": "object"}));
}

#[tokio::test]
async fn canonical_names_can_be_listed_instead() {
    let mut settings = settings();
    settings.name_style = NameStyle::Canonical;
    let gateway = gateway_with(settings, Options::default(), ServerLimits::default()).await;
    let listed = result(&gateway, "tools/list", json!({})).await;
    let names: Vec<_> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for name in ["test.echo", "test.echo@1", "srv:odd/name"] {
        assert!(names.contains(&name), "{names:?}");
        let called = result(&gateway, "tools/call", json!({"name": name, "arguments": {}})).await;
        assert_eq!(called["isError"], json!(false), "{name}");
    }
}

#[tokio::test]
async fn results_have_data_text_and_metadata() {
    let gateway = gateway().await;
    for name in ["test_echo", "test.echo", "test.echo@2"] {
        let reply = ask(&gateway, "tools/call", json!({"name": name, "arguments": {"a": 1}})).await;
        assert_eq!(reply.headers["content-type"], "application/json");
        let result = &reply.json()["result"];
        assert_eq!(result["resultType"], json!("complete"));
        assert_eq!(result["structuredContent"], json!({"a": 1}));
        assert_eq!(result["content"][0]["text"], json!("{\"a\":1}"));
        let facts = &result["_meta"]["powerstrip/call"];
        assert_eq!(facts["tool"], json!("test.echo"));
        assert_eq!(facts["version"], json!("2.1.0"));
        assert_eq!(facts["traceId"], reply.headers["x-trace-id"].to_str().unwrap());
        assert!(facts["durationMs"].is_u64() && facts["warnings"].is_array());
    }
    let bare = result(&gateway, "tools/call", json!({"name": "test_list"})).await;
    assert_eq!(bare["structuredContent"], json!([1, 2, 3]));
    let who = result(&gateway, "tools/call", json!({"name": "test_whoami"})).await;
    assert_eq!(who["structuredContent"]["door"], json!("mcp-http"));
}

#[tokio::test]
async fn failures_are_results_and_faults_are_errors() {
    let gateway = gateway().await;
    let failed =
        result(&gateway, "tools/call", json!({"name": "test_strict", "arguments": {"n": "x"}}))
            .await;
    assert_eq!(failed["isError"], json!(true));
    let text = failed["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("INVALID_INPUT: ") && text.contains("/n"), "{text}");
    assert_eq!(failed["_meta"]["powerstrip/error"]["code"], json!("INVALID_INPUT"));
    assert!(failed.get("structuredContent").is_none());

    // NOT_FOUND from a tool is a result; an unknown tool is an error of the request.
    let missing = result(&gateway, "tools/call", json!({"name": "test_missing"})).await;
    assert_eq!(missing["isError"], json!(true));
    let unknown = ask(&gateway, "tools/call", json!({"name": "test_ecko"})).await.json();
    assert_eq!(unknown["error"]["code"], json!(-32602));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("test_ecko"));

    let panicked = ask(&gateway, "tools/call", json!({"name": "test_panic"})).await.json();
    assert!(
        panicked["result"]["isError"] == json!(true) || panicked["error"]["code"] == json!(-32603)
    );
}

#[tokio::test]
async fn options_are_read_from_meta() {
    let gateway = gateway().await;
    let call = |meta: Value| json!({"name": "test_key", "_meta": meta});
    let wished = result(
        &gateway,
        "tools/call",
        call(json!({"powerstrip/idempotency-key": "k", "powerstrip/timeout-ms": 20_000})),
    )
    .await;
    assert_eq!(wished["structuredContent"]["key"], json!("k"));
    assert_eq!(wished["structuredContent"]["timeout"], json!(20_000));
    for bad in [
        json!({"powerstrip/idempotency-key": 7}),
        json!({"powerstrip/idempotency-key": ""}),
        json!({"powerstrip/verify": "yes"}),
        json!({"powerstrip/timeout-ms": 0}),
    ] {
        let reply = ask(&gateway, "tools/call", call(bad.clone())).await.json();
        assert_eq!(reply["error"]["code"], json!(-32602), "{bad}");
    }
}

#[tokio::test]
async fn headers_must_agree_with_the_body() {
    let gateway = gateway().await;
    let with = |change: fn(&mut HashMap<&'static str, String>)| {
        let (mut headers, body) = modern(json!(1), "tools/call", json!({"name": "test_echo"}));
        change(&mut headers);
        gateway.send(gateway.mcp(&headers, &body))
    };
    for change in [
        (|h| drop(h.insert("mcp-name", "test_fail".to_owned())))
            as fn(&mut HashMap<&'static str, String>),
        |h| drop(h.remove("mcp-name")),
        |h| drop(h.insert("mcp-method", "tools/list".to_owned())),
        |h| drop(h.insert("mcp-protocol-version", "2025-11-25".to_owned())),
    ] {
        let reply = with(change).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST);
        assert_eq!(reply.json()["error"]["code"], json!(-32020));
    }
}

#[tokio::test]
async fn parameters_in_headers_are_checked_too() {
    let gateway = gateway().await;
    let tool = echo("region.echo").with(|d| {
        d.input_schema = json!({"type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    });
    gateway.strip.catalog().publish("regions", shared(vec![tool]));
    let send = |region: &'static str| {
        let params = json!({"name": "region_echo", "arguments": {"region": "eu"}});
        let (mut headers, body) = modern(json!(1), "tools/call", params);
        headers.insert("mcp-param-region", region.to_owned());
        gateway.send(gateway.mcp(&headers, &body))
    };
    assert_eq!(send("eu").await.status, StatusCode::OK);
    let forged = send("us").await;
    assert_eq!(forged.status, StatusCode::BAD_REQUEST);
    assert_eq!(forged.json()["error"]["code"], json!(-32020));
}

#[tokio::test]
async fn invalid_messages_are_refused_in_json_rpc() {
    let gateway = gateway().await;
    let send = |body: &'static str| async {
        let request = gateway.mcp(&HashMap::new(), &Value::Null).map(|_| body.into());
        gateway.send(request).await
    };
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        ("7", -32600),
        (r#"{"id":3,"method":5}"#, -32600),
    ] {
        let reply = send(body).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{body}");
        assert_eq!(reply.json()["error"]["code"], json!(code), "{body}");
    }
    let no_accept = gateway.post("/mcp", "{}").await;
    assert_eq!(no_accept.status, StatusCode::NOT_ACCEPTABLE);
    assert_eq!(no_accept.json()["error"]["code"], json!(-32600));
}

#[tokio::test]
async fn subscribers_are_notified_of_changes() {
    let gateway = gateway().await;
    let filter = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    let (headers, body) = modern(json!("sub"), "subscriptions/listen", filter);
    let response = gateway.open(gateway.mcp(&headers, &body)).await.unwrap();
    let mut stream = response.into_body();
    let acknowledged =
        next_event(&mut stream, |m| m["method"] == "notifications/subscriptions/acknowledged")
            .await;
    assert_eq!(acknowledged["params"]["notifications"]["toolsListChanged"], json!(true));
    // The subscription begins just after its acknowledgment.
    let publishing = {
        let strip = Arc::clone(&gateway.strip);
        tokio::spawn(async move {
            loop {
                strip.catalog().publish("later", shared(vec![echo("later.echo")]));
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
    };
    let changed =
        next_event(&mut stream, |m| m["method"] == "notifications/tools/list_changed").await;
    publishing.abort();
    assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], json!("sub"));
}

#[tokio::test]
async fn a_disconnected_client_cancels_its_call() {
    let mut gateway = gateway().await;
    let (headers, body) = modern(json!(1), "tools/call", json!({"name": "test_slow"}));
    let request = gateway.mcp(&headers, &body);
    tokio::select! {
        _ = open(gateway.address, request) => panic!("the call is still waiting"),
        begun = gateway.gate.begun.recv() => begun.unwrap(),
    }
    let cancelled = tokio::time::timeout(TIMEOUT, gateway.gate.cancelled.recv());
    cancelled.await.expect("the call is cancelled").unwrap();
}

#[tokio::test]
async fn two_hundred_clients_with_the_same_ids_get_their_own_answers() {
    let gateway = Arc::new(gateway().await);
    let clients = (0..200).map(|client| {
        let gateway = Arc::clone(&gateway);
        tokio::spawn(async move {
            for id in 1..=3 {
                let arguments = json!({"client": client, "id": id});
                let params = json!({"name": "test_echo", "arguments": arguments});
                let (headers, body) = modern(json!(id), "tools/call", params);
                let message = gateway.send(gateway.mcp(&headers, &body)).await.json();
                assert_eq!(message["id"], json!(id));
                assert_eq!(message["result"]["structuredContent"], arguments);
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
}

/// An unknown field in `_meta` sends a call through the protocol library.
#[tokio::test]
async fn the_direct_path_and_the_library_answer_calls_alike() {
    let gateway = gateway().await;
    for params in [
        json!({"name": "test_echo", "arguments": {"message": "\u{1f980} \"hi\""}}),
        json!({"name": "test_list", "arguments": {}}),
        json!({"name": "test_echo", "arguments": {"message": 7}}),
        json!({"name": "test_echo"}),
        json!({"name": "no_such", "arguments": {}}),
        json!({"name": "test_echo", "arguments": {"message": "x"}, "_meta": {"powerstrip/timeout-ms": "soon"}}),
    ] {
        for id in [json!(7), json!("seven")] {
            let (headers, body) = modern(id.clone(), "tools/call", params.clone());
            let short = gateway.send(gateway.mcp(&headers, &body)).await;
            let mut long_params = params.clone();
            long_params["_meta"]["long/way"] = json!(true);
            let (headers, body) = modern(id, "tools/call", long_params);
            let long = gateway.send(gateway.mcp(&headers, &body)).await;
            assert_eq!(short.status, long.status, "{params}");
            let answer_of = |reply: &Reply| {
                let mut message = reply.messages().pop().unwrap();
                if let Some(call) = message.pointer_mut("/result/_meta/powerstrip~1call") {
                    call["traceId"] = json!(null);
                    call["durationMs"] = json!(null);
                }
                message
            };
            assert_eq!(answer_of(&short), answer_of(&long), "{params}");
        }
    }
}

#[tokio::test]
async fn the_direct_path_and_the_library_answer_lists_alike() {
    let gateway = gateway().await;
    let many = (0..1_500).map(|n| echo(&format!("many.tool{n:04}"))).collect();
    gateway.strip.catalog().publish("many", shared(many));
    let mut cursors =
        vec![json!(null), json!("after:many_tool0003"), json!("after:zzz"), json!("x")];
    let first = result(&gateway, "tools/list", json!({})).await;
    cursors.push(first["nextCursor"].clone());
    for cursor in cursors {
        let mut params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let short = ask(&gateway, "tools/list", params.clone()).await;
        params["_meta"]["long/way"] = json!(true);
        let long = ask(&gateway, "tools/list", params).await;
        assert_eq!((short.status, short.messages()), (long.status, long.messages()), "{cursor}");
    }
    gateway.strip.catalog().publish("many", Vec::new());
    let fewer = result(&gateway, "tools/list", json!({})).await;
    assert!(
        fewer["tools"].as_array().unwrap().len() < 100,
        "a written page does not outlive its list"
    );
}
