use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use doors::{Metrics, Options};
use http::{Method, StatusCode};
use http_body_util::Full;
use http_server::ServerLimits;
use serde_json::{Value, json};
use strip::Rate;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{
    TIMEOUT, connect, echo, gateway, gateway_with, modern, open, put_prompt, settings, shared,
};

#[tokio::test]
async fn a_tool_can_be_called_by_any_of_its_names() {
    let gateway = gateway().await;
    for name in [
        "test.echo",
        "test_echo",
        "test.echo@2",
        "mcp.tool:test.echo",
        "test%2Eecho",
        "test.echo%402",
    ] {
        let reply = gateway.call(name, json!({"a": [1, "ä"]})).await;
        assert_eq!(reply.status, StatusCode::OK, "{name}");
        let envelope = reply.json();
        assert_eq!(envelope["ok"], json!(true));
        assert_eq!(envelope["data"], json!({"a": [1, "ä"]}));
        assert_eq!(envelope["errors"], json!([]));
        assert_eq!(envelope["meta"]["tool"], json!("test.echo"));
        assert_eq!(envelope["meta"]["version"], json!("2.1.0"));
        assert_eq!(reply.headers["x-trace-id"].to_str().unwrap(), envelope["meta"]["traceId"]);
    }
    let older = gateway.call("test.echo@1", json!({})).await.json();
    assert_eq!(older["meta"]["version"], json!("1.0.0"));
    assert!(older["meta"]["warnings"][0].as_str().unwrap().contains("deprecated"));
    for name in ["srv:odd/name", "srv%3Aodd%2Fname", "srv__odd_name"] {
        assert_eq!(
            gateway.call(name, json!({})).await.json()["meta"]["tool"],
            json!("srv:odd/name")
        );
    }
    let short = gateway.call("mcp.tool:web.search", json!({})).await.json();
    assert_eq!(short["meta"]["tool"], json!("web.search.query"));
}

#[tokio::test]
async fn half_a_character_in_a_body_is_replaced() {
    let gateway = gateway().await;
    let input = r#"{"t":"\ud83d x \ud83d\ude00 \\ud83d"}"#;
    let expected = json!({"t": "\u{fffd} x \u{1f600} \\ud83d"});
    let reply = gateway.post("/mcp/tool/test.echo", input).await;
    assert_eq!(reply.json()["data"], expected, "{}", reply.json());

    let (headers, call) = modern(json!(1), "tools/call", json!({"name": "test_echo"}));
    // Answered directly, and by the library.
    for meta in ["", r#""progressToken":1,"#] {
        let call = call.to_string().replacen(r#""_meta":{"#, &format!(r#""_meta":{{{meta}"#), 1);
        let call = call.replacen(r#""name":"#, &format!(r#""arguments":{input},"name":"#), 1);
        let mut request = gateway.mcp(&headers, &Value::Null);
        *request.body_mut() = Full::new(Bytes::from(call));
        let answer = gateway.send(request).await.messages().pop().unwrap();
        assert_eq!(answer["result"]["structuredContent"], expected, "{meta}: {answer}");
    }
}

#[tokio::test]
async fn inputs_may_be_absent_and_mislabelled_but_must_be_json() {
    let gateway = gateway().await;
    for empty in ["", "  \r\n"] {
        let reply = gateway.post("/mcp/tool/test.echo", empty).await;
        assert_eq!(reply.json()["data"], json!({}), "{empty:?}");
    }
    let request =
        gateway.request(Method::POST, "/mcp/tool/test.echo").header("content-type", "text/plain");
    let reply =
        gateway.send(request.body(Full::new(Bytes::from_static(b"{\"a\":1}"))).unwrap()).await;
    assert_eq!(reply.json()["data"], json!({"a": 1}));

    for (bad, line, column) in
        [("{\"a\":\n  tru}", 2, 6), ("{", 1, 1), ("\u{1}", 1, 1), ("{} {}", 1, 4)]
    {
        let reply = gateway.post("/mcp/tool/test.echo", bad).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{bad:?}");
        let envelope = reply.json();
        let error = &envelope["errors"][0];
        assert_eq!(error["code"], json!("INVALID_INPUT"));
        assert_eq!(error["details"], json!({"line": line, "column": column}), "{bad:?}");
        assert_eq!(envelope["meta"]["tool"], json!("test.echo"));
        assert_eq!(envelope["meta"]["version"], json!("2.1.0"));
        assert_eq!(envelope["data"], Value::Null);
    }
    let deep = "[".repeat(10_000);
    assert_eq!(gateway.post("/mcp/tool/test.echo", deep).await.code(), json!("INVALID_INPUT"));
    let not_utf8 = gateway.post("/mcp/tool/test.echo", &b"\"\xff\""[..]).await;
    assert_eq!(not_utf8.code(), json!("INVALID_INPUT"));
    // Any JSON value is an input; the schema of the tool decides whether it is valid.
    let number = gateway.post("/mcp/tool/test.echo", "7").await.json();
    assert_eq!(number["errors"][0]["code"], json!("INVALID_INPUT"));
    assert!(number["errors"][0]["details"].get("line").is_none());
}

#[tokio::test]
async fn failures_have_the_status_of_their_code() {
    let gateway = gateway().await;
    let failed = gateway.call("test.fail", json!({})).await;
    assert_eq!(failed.status, StatusCode::SERVICE_UNAVAILABLE);
    let error = &failed.json()["errors"][0];
    assert_eq!(error["message"], json!("the far side is down"));
    assert_eq!(error["details"], json!({"peer": "x"}));
    assert_eq!(error["retryable"], json!(true));

    let unknown = gateway.call("test.ecko", json!({})).await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert_eq!(unknown.json()["meta"]["tool"], json!("test.ecko"));
    assert!(unknown.json()["errors"][0]["message"].as_str().unwrap().contains("test.echo"));

    let panicked = gateway.call("test.panic", json!({})).await;
    assert_eq!(panicked.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(panicked.code(), json!("INTERNAL"));
    assert!(!String::from_utf8_lossy(&panicked.body).contains("on purpose"));

    let bad = gateway.call("test.strict", json!({"n": "x"})).await;
    assert_eq!(bad.status, StatusCode::BAD_REQUEST);
    assert_eq!(gateway.call("test.echo", json!({})).await.status, StatusCode::OK);
}

#[tokio::test]
async fn bad_paths_are_refused_with_an_envelope() {
    let gateway = gateway().await;
    for path in ["/mcp/tool/%FF", "/mcp/tool/a%C3%28", "/mcp/schema/%FF/input"] {
        let reply = if path.contains("tool") {
            gateway.post(path, "{}").await
        } else {
            gateway.get(path).await
        };
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{path}");
        assert_eq!(reply.code(), json!("INVALID_INPUT"), "{path}");
    }
    for path in ["/mcp/tool/%zz", "/mcp/tool/%00", "/mcp/tool/..%2F..%2Fetc", "/mcp/tool/x@y"] {
        assert_eq!(gateway.post(path, "{}").await.code(), json!("NOT_FOUND"), "{path}");
    }
    for (path, method) in [("/mcp/tool/test.echo", Method::GET), ("/mcp/discover", Method::POST)] {
        let request = gateway.request(method, path).body(Full::default()).unwrap();
        let reply = gateway.send(request).await;
        assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert!(reply.headers.contains_key("allow"), "{path}");
        assert!(reply.json()["errors"][0]["details"]["routes"].is_array());
    }
    for path in ["/", "/nothing", "/mcp/tool", "/mcp/tool/", "/mcp/prompt/a/b"] {
        let reply = gateway.get(path).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}");
        let routes = reply.json()["errors"][0]["details"]["routes"].as_array().unwrap().len();
        assert!(routes > 5);
    }
}

#[tokio::test]
async fn options_reach_the_call_and_invalid_ones_are_refused() {
    let gateway = gateway().await;
    let send = |path: &'static str, header: Option<(&'static str, &'static str)>| {
        let mut request = gateway.request(Method::POST, path);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        gateway.send(request.body(Full::default()).unwrap())
    };
    let key = send("/mcp/tool/test.key", Some(("Idempotency-Key", "k1"))).await.json();
    assert_eq!(key["data"]["key"], json!("k1"));
    let patient = send("/mcp/tool/test.key", Some(("Powerstrip-Timeout-Ms", "20000"))).await.json();
    assert_eq!(patient["data"]["timeout"], json!(20_000));
    // Only deterministic tools can be verified; the refusal shows that the option arrived.
    for (path, header) in [
        ("/mcp/tool/test.key?verify=true", None),
        ("/mcp/tool/test.key?verify", None),
        ("/mcp/tool/test.key", Some(("Powerstrip-Verify", "true"))),
    ] {
        assert_ne!(send(path, header).await.status, StatusCode::OK, "{path}");
    }
    for (path, header) in [
        ("/mcp/tool/test.key?verify=maybe", None),
        ("/mcp/tool/test.key", Some(("Powerstrip-Verify", "maybe"))),
        ("/mcp/tool/test.key", Some(("Powerstrip-Timeout-Ms", "-1"))),
        ("/mcp/tool/test.key", Some(("Powerstrip-Timeout-Ms", "0"))),
        ("/mcp/tool/test.key", Some(("Idempotency-Key", ""))),
    ] {
        let reply = send(path, header).await;
        assert_eq!(reply.code(), json!("INVALID_INPUT"), "{path} {header:?}");
    }
    let timed_out = send("/mcp/tool/test.slow", Some(("Powerstrip-Timeout-Ms", "20"))).await;
    assert_eq!(timed_out.status, StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn rate_limits_have_a_retry_time() {
    let mut settings = settings();
    settings.rate.tool =
        Some(Rate { count: NonZeroU32::new(1).unwrap(), per: Duration::from_secs(60) });
    let gateway = gateway_with(settings, Options::default(), ServerLimits::default()).await;
    assert_eq!(gateway.call("test.echo", json!({})).await.status, StatusCode::OK);
    let limited = gateway.call("test.echo", json!({"b": 2})).await;
    assert_eq!(limited.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(limited.code(), json!("RATE_LIMIT"));
    let wait: u64 = limited.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
}

#[tokio::test]
async fn bodies_over_the_limit_are_refused_unread() {
    let options = Options { max_body_bytes: 2_000_000, ..Options::default() };
    let gateway = gateway_with(settings(), options, ServerLimits::default()).await;
    let reply = gateway.post("/mcp/tool/test.echo", vec![b' '; 2_000_001]).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    let error = &reply.json()["errors"][0];
    assert_eq!(error["code"], json!("INVALID_INPUT"));
    assert_eq!(error["details"], json!({"size": 2_000_001, "limit": 2_000_000}));
    assert_eq!(
        gateway.post("/mcp", vec![b' '; 2_000_001]).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );

    // `Content-Length` alone is enough: no byte of the body is sent.
    for path in ["/mcp/tool/test.echo", "/mcp"] {
        let mut stream = connect(gateway.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 4"), "{path}");
    }

    // An endless body is refused at the limit.
    let mut stream = connect(gateway.address).await.unwrap();
    let head = "POST /mcp/tool/test.echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("40000\r\n{}\r\n", " ".repeat(0x40000));
    // It may disconnect before everything is sent.
    let _ = stream.write_all(chunk.as_bytes()).await;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 400");
}

#[tokio::test]
async fn bodies_may_be_as_large_as_the_largest_tool_input() {
    let mut settings = settings();
    settings.limits.max.max_input_bytes = 6_000_000;
    let gateway = gateway_with(settings, Options::default(), ServerLimits::default()).await;
    let input = json!({"text": "x".repeat(5_000_000)});
    let refused = gateway.call("test.echo", input.clone()).await;
    assert_eq!(refused.json()["errors"][0]["details"]["limit"], json!(4 << 20));
    // Also for a tool that is added while the gateway runs.
    let large = echo("test.large").with(|d| d.limits.max_input_bytes = Some(6_000_000));
    gateway.strip.catalog().publish("large", shared(vec![large]));
    // The answer is stored as a file, because it is large.
    let kept = gateway.call("test.large", input.clone()).await;
    assert_eq!(kept.json()["data"]["text"]["size"], json!(5_000_000));
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "test.large", "arguments": input}});
    let reply = gateway.post("/mcp", message.to_string().into_bytes()).await;
    assert_ne!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
    let refused = gateway.call("test.echo", input).await;
    assert_eq!(
        refused.json()["errors"][0]["details"]["limit"],
        json!(65_536),
        "the tool's own limit"
    );
}

#[tokio::test]
async fn discovery_leads_to_every_schema() {
    let gateway = gateway().await;
    let discovery = gateway.get("/mcp/discover").await.json();
    assert_eq!(discovery["server"]["name"], json!("powerstrip"));
    assert_eq!(discovery["health"]["status"], json!("ok"));
    let tools = discovery["tools"].as_array().unwrap();
    assert!(tools.len() >= 10);
    for tool in tools {
        for side in ["inputSchemaRef", "outputSchemaRef"] {
            if let Some(path) = tool[side].as_str() {
                assert!(path.starts_with('/'));
                let reply = gateway.get(path).await;
                assert_eq!(reply.status, StatusCode::OK, "{path}");
                assert!(reply.json().is_object());
            }
        }
    }
    let encoded = gateway.get("/mcp/schema/srv%3Aodd%2Fname%401/input").await;
    assert_eq!(encoded.json(), json!({"type": "object"}));
    for path in [
        "/mcp/schema/test.echo@9/input",
        "/mcp/schema/test.echo@2/output",
        "/mcp/schema/test.echo@2/both",
        "/mcp/schema/test.echo",
    ] {
        assert_eq!(gateway.get(path).await.code(), json!("NOT_FOUND"), "{path}");
    }
}

#[tokio::test]
async fn prompts_are_served_with_their_specs() {
    let gateway = gateway().await;
    let _prompts = put_prompt(&gateway.strip);
    let discovery = gateway.get("/mcp/discover").await.json();
    let path = discovery["prompts"][0]["versions"][0]["specRef"].as_str().unwrap();
    let prompt = gateway.get(path).await.json();
    assert_eq!(prompt["body"], json!("Outline {{ topic }} {{ tone }}."));
    assert_eq!(prompt["spec"]["description"], json!("Outline a report."));
    for (path, code) in [
        ("/mcp/prompt/research/outline/2", "NOT_FOUND"),
        ("/mcp/prompt/research/nothing/1", "NOT_FOUND"),
        ("/mcp/prompt/research/outline/one", "INVALID_INPUT"),
        ("/mcp/prompt/research/outline/-1", "INVALID_INPUT"),
        ("/mcp/prompt/%FF/outline/1", "INVALID_INPUT"),
    ] {
        assert_eq!(gateway.get(path).await.code(), json!(code), "{path}");
    }
}

#[tokio::test]
async fn health_readiness_and_metrics_are_served() {
    let options = Options { metrics: Some(Metrics::install().unwrap()), ..Options::default() };
    let gateway = gateway_with(settings(), options, ServerLimits::default()).await;
    assert_eq!(gateway.get("/healthz").await.json(), json!({"status": "ok"}));
    let ready = gateway.get("/readyz").await;
    assert_eq!(
        (ready.status, ready.json()),
        (StatusCode::OK, json!({"ready": true, "problems": []}))
    );
    gateway.call("test.echo", json!({})).await;
    let metrics = gateway.get("/metrics").await;
    assert!(metrics.headers["content-type"].to_str().unwrap().starts_with("text/plain"));
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    assert!(
        text.contains("powerstrip_http_requests_total{route=\"/mcp/tool/{*tool}\",status=\"2xx\"}"),
        "{text}"
    );
    assert!(text.contains("powerstrip_calls_total{"), "{text}");
}

#[tokio::test]
async fn a_disconnected_client_cancels_its_call() {
    let mut gateway = gateway().await;
    let request =
        gateway.request(Method::POST, "/mcp/tool/test.slow").body(Full::default()).unwrap();
    let response = open(gateway.address, request);
    tokio::select! {
        _ = response => panic!("the call is still waiting"),
        begun = gateway.gate.begun.recv() => begun.unwrap(),
    }
    let cancelled = tokio::time::timeout(TIMEOUT, gateway.gate.cancelled.recv());
    cancelled.await.expect("the call is cancelled").unwrap();
}
