//! Every row of the guardrail table, tested from outside.

use serde_json::{Value, json};
use testkit::{Gateway, GatewayBuilder, eventually};

use crate::boundary::packs::python;

fn with_packs(packs: &[Vec<(String, String)>]) -> GatewayBuilder {
    packs.iter().flatten().fold(Gateway::with(), |gateway, (path, text)| gateway.file(path, text))
}

fn code(body: &Value) -> &Value {
    &body["errors"][0]["code"]
}

#[tokio::test]
async fn input_size_is_limited() {
    let gateway = Gateway::start().await;
    let fits = gateway.call("demo.echo", &json!({"message": "x".repeat(65_000)})).await;
    assert_eq!(fits.status, 200);
    let over = gateway.call("demo.echo", &json!({"message": "x".repeat(66_000)})).await;
    assert_eq!((over.status, code(&over.body)), (400, &json!("INVALID_INPUT")));
    let details = &over.body["errors"][0]["details"];
    assert_eq!((&details["size"], &details["limit"]), (&json!(66_014), &json!(65_536)));
}

#[tokio::test]
async fn input_is_validated_with_all_errors_and_paths() {
    let gateway = Gateway::start().await;
    let answer = gateway.call("demo.echo", &json!({"message": 7, "surprise": true})).await;
    assert_eq!((answer.status, code(&answer.body)), (400, &json!("INVALID_INPUT")));
    let violations = answer.body["errors"][0]["details"]["violations"].as_array().expect("a list");
    assert_eq!(violations.len(), 2, "{violations:?}");
    assert!(violations.iter().any(|violation| violation["path"] == "/message"));
}

#[tokio::test]
async fn an_empty_text_counts_as_left_out_where_a_built_in_tool_does_not_need_it() {
    let gateway = Gateway::start().await;
    let now = gateway.call("time.now", &json!({"offset": ""})).await;
    assert_eq!(now.status, 200, "{now:?}");
    let echoed = gateway.call("demo.echo", &json!({"message": ""})).await;
    assert_eq!(echoed.body["data"], json!({"message": ""}), "a required one stays");
}

#[tokio::test]
async fn calls_time_out() {
    let slow = python("t.slow", "import time\ntime.sleep(60)\n", "timeoutMs: 300");
    let gateway = with_packs(&[slow]).start().await;
    let answer = gateway.call("t.slow", &json!({})).await;
    assert_eq!((answer.status, code(&answer.body)), (504, &json!("TIMEOUT")));
}

#[tokio::test]
async fn output_size_is_limited() {
    let loud = python("t.loud", "import json\nprint(json.dumps({'x': list(range(60000))}))\n", "");
    let gateway = with_packs(&[loud]).start().await;
    let answer = gateway.call("t.loud", &json!({})).await;
    assert_eq!((answer.status, code(&answer.body)), (500, &json!("INTERNAL")));
    assert!(
        answer.body["errors"][0]["details"]["size"].as_u64().is_some_and(|size| size >= 262_144),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn output_is_validated() {
    let script = "print('{\"n\": \"seven\"}')\n";
    let mut liar = python("t.liar", script, "");
    liar[1].1 = liar[1].1.replace(
        "outputSchema: { type: object }",
        "outputSchema: { type: object, properties: { n: { type: integer } } }",
    );
    let gateway = with_packs(&[liar]).start().await;
    let answer = gateway.call("t.liar", &json!({})).await;
    assert_eq!((answer.status, code(&answer.body)), (500, &json!("INTERNAL")));
    assert_eq!(answer.body["errors"][0]["details"]["violations"][0]["path"], "/n");
}

const RANDOM: &str = "import json, uuid\nprint(json.dumps({'id': str(uuid.uuid4())}))\n";

#[tokio::test]
async fn answers_are_reused_within_the_idempotency_window() {
    let stable = python("t.stable", RANDOM, "");
    let acting = python("t.acting", RANDOM, "deterministic: false");
    // Long enough for two calls in a row on a busy machine.
    let gateway = with_packs(&[stable, acting]).config("limits: { idempotency: 6s }").start().await;
    let id = async |tool: &str, headers: &[(&str, &str)]| {
        gateway.call_with(tool, &json!({"q": 1}), headers).await.body["data"]["id"].clone()
    };
    let first = id("t.stable", &[]).await;
    assert_eq!(id("t.stable", &[]).await, first);
    eventually("the record expires", || async {
        (id("t.stable", &[]).await != first).then_some(())
    })
    .await;

    assert_ne!(id("t.acting", &[]).await, id("t.acting", &[]).await);
    let key = [("idempotency-key", "order-17")];
    assert_eq!(id("t.acting", &key).await, id("t.acting", &key).await);
    let other = gateway.call_with("t.acting", &json!({"q": 2}), &key).await;
    assert_eq!(code(&other.body), "INVALID_INPUT");
}

#[tokio::test]
async fn a_callers_key_reaches_the_tool() {
    let script = "import json, sys\nprint(json.dumps({'saw': json.loads(sys.stdin.readline()).get('meta')}))\n";
    let gateway = with_packs(&[python("t.meta", script, "deterministic: false")]).start().await;
    let answer = gateway.call_with("t.meta", &json!({}), &[("idempotency-key", "order-18")]).await;
    assert_eq!(answer.body["data"]["saw"]["idempotencyKey"], "order-18", "{}", answer.body);
}

#[tokio::test]
async fn equal_calls_in_flight_run_once() {
    // Each run creates a file, which shows how often the tool ran.
    let script = "import json, os, sys, time, uuid\nroot = json.loads(sys.stdin.readline())['input']['root']\n\
        open(os.path.join(root, str(uuid.uuid4())), 'w').close()\ntime.sleep(0.5)\nprint('{}')\n";
    let marks = tempfile::tempdir().expect("a folder");
    let root = marks.path().display().to_string();
    let more = format!("caps: {{ files: {{ write: ['{root}'] }} }}");
    let gateway = with_packs(&[python("t.slow", script, &more)]).start().await;
    let input = json!({"root": root});
    let calls = (0..8).map(|_| gateway.call("t.slow", &input));
    for answer in futures_util::future::join_all(calls).await {
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    assert_eq!(std::fs::read_dir(marks.path()).expect("the folder").count(), 1);
}

#[tokio::test]
async fn verify_detects_nondeterminism() {
    let gateway = with_packs(&[python("t.random", RANDOM, "")]).start().await;
    let verify = [("powerstrip-verify", "true")];
    let answer = gateway.call_with("t.random", &json!({}), &verify).await;
    assert_eq!((answer.status, code(&answer.body)), (409, &json!("NONDETERMINISTIC")));
    let honest = gateway.call_with("demo.echo", &json!({"message": "x"}), &verify).await;
    assert_eq!(honest.status, 200);
}

#[tokio::test]
async fn calls_are_rate_limited() {
    let limits = "limits: { rate: { tools: { demo.echo: 2/h } } }";
    let gateway = Gateway::with().config(limits).start().await;
    for n in 0..2 {
        assert_eq!(gateway.call("demo.echo", &json!({"message": n.to_string()})).await.status, 200);
    }
    let refused = gateway.call("demo.echo", &json!({"message": "2"})).await;
    assert_eq!((refused.status, code(&refused.body)), (429, &json!("RATE_LIMIT")));
    assert_eq!(refused.body["errors"][0]["retryable"], true);
    let wait: u64 =
        refused.headers["retry-after"].to_str().expect("text").parse().expect("seconds");
    assert!((60..=3600).contains(&wait), "{wait}");
}

#[tokio::test]
async fn the_envelope_has_all_fields() {
    let gateway = Gateway::start().await;
    let body = gateway.call("demo.echo", &json!({"message": "hi"})).await.body;
    assert_eq!((&body["ok"], &body["errors"]), (&json!(true), &json!([])));
    let meta = body["meta"].as_object().expect("an object");
    assert_eq!(
        meta.keys().map(String::as_str).collect::<std::collections::BTreeSet<_>>(),
        ["tool", "version", "durationMs", "traceId", "warnings"].into()
    );
    let trace = meta["traceId"].as_str().expect("text");
    assert_eq!((trace.len(), &trace[14..15]), (36, "4"), "a UUID v4: {trace}");
}
