//! Integers beyond 64 bits are refused where they would be rounded.

use serde_json::{Value, json};
use testkit::Gateway;

const BIG: &str = "123456789012345678901234567890";

async fn post(gateway: &Gateway, path: &str, body: String) -> (u16, Value) {
    let request = reqwest::Client::new().post(gateway.url(path)).body(body);
    let request = request.header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream");
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap())
}

#[tokio::test]
async fn a_call_with_an_integer_beyond_64_bits_is_refused_at_every_door() {
    let gateway = Gateway::start().await;
    let big = format!("{{\"message\": \"x\", \"amount\": [1, {BIG}]}}");
    let (status, answer) = post(&gateway, "/mcp/tool/demo.echo", big.clone()).await;
    assert_eq!((status, &answer["errors"][0]["code"]), (400, &json!("INVALID_INPUT")), "{answer}");
    assert_eq!(answer["errors"][0]["details"]["violations"][0]["path"], json!("/amount/1"));

    let batch = format!("{{\"calls\": [{{\"tool\": \"demo.echo\", \"input\": {big}}}]}}");
    assert_eq!(post(&gateway, "/v1/calls", batch).await.0, 400);

    let call = format!(
        "{{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"tools/call\", \
         \"params\": {{\"name\": \"demo_echo\", \"arguments\": {big}}}}}"
    );
    let (status, answer) = post(&gateway, "/mcp", call.clone()).await;
    assert_eq!((status, &answer["error"]["data"]["code"]), (400, &json!("INVALID_INPUT")));
    assert!(answer["error"]["message"].to_string().contains("/params/arguments/amount/1"));

    let printed = gateway.run(&["call", "demo.echo", "--input", &big]).await;
    assert_ne!(printed.code, Some(0), "{printed:?}");
    assert!(printed.stderr.contains("/amount/1"), "{printed:?}");

    let exact = format!("{{\"message\": \"{BIG}\"}}");
    assert_eq!(post(&gateway, "/mcp/tool/demo.echo", exact).await.0, 200);
}
