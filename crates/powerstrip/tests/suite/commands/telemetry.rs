use serde_json::{Value, json};
use testkit::{Gateway, ReservedPort, eventually};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Accepts requests like a collector and returns their heads and bodies.
async fn collector() -> (String, tokio::sync::mpsc::UnboundedReceiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sent, received) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let sent = sent.clone();
            tokio::spawn(async move {
                let mut bytes = Vec::new();
                while stream.read_buf(&mut bytes).await.is_ok_and(|read| read > 0) {
                    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n")
                    else {
                        continue;
                    };
                    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
                    let length =
                        head.lines().find_map(|line| line.strip_prefix("content-length: "));
                    let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
                    if bytes.len() < end + 4 + length {
                        continue;
                    }
                    let rest = bytes.split_off(end + 4 + length);
                    let _ = sent.send((head, bytes.split_off(end + 4)));
                    bytes = rest;
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
                }
            });
        }
    });
    (url, received)
}

#[tokio::test]
async fn traces_are_sent_to_the_collector_with_its_secret() {
    let (url, mut received) = collector().await;
    let gateway = Gateway::with()
        .config(&format!(
            "telemetry: {{ otlp: {{ endpoint: '{url}', headers: {{ authorization: {{ env: OTLP_TOKEN }} }} }} }}"
        ))
        .env("OTLP_TOKEN", "Bearer s3cret")
        .start()
        .await;
    gateway.call("demo.echo", &json!({"message": "hi"})).await;
    let log = gateway.log();
    assert_eq!(gateway.stop().await, Some(0), "remaining traces are sent at shutdown");
    let (head, body) = received.recv().await.unwrap();
    assert!(head.starts_with("post /v1/traces"), "{head}");
    assert!(head.contains("authorization: bearer s3cret"), "{head}");
    assert!(String::from_utf8_lossy(&body).contains("powerstrip"), "the service is named");
    assert!(!log.contains("s3cret"));
}

#[tokio::test]
async fn an_unreachable_collector_does_not_affect_calls() {
    let unused = ReservedPort::reserve();
    let config = format!("telemetry: {{ otlp: 'http://{}' }}", unused.address());
    let gateway = Gateway::with().config(&config).start().await;
    assert_eq!(gateway.call("demo.echo", &json!({"message": "hi"})).await.status, 200);
    assert_eq!(gateway.stop().await, Some(0));
}

#[tokio::test]
async fn logs_can_be_written_as_json() {
    let gateway = Gateway::with().config("telemetry: { logs: json }").start().await;
    gateway.write("tools/broken.tool.yaml", "id: [");
    let line = eventually("a log line", || async {
        gateway.log().lines().find(|line| line.contains("broken.tool.yaml")).map(str::to_owned)
    })
    .await;
    let line: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
    assert_eq!(line["level"], "WARN");
}
