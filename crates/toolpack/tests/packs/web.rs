//! Kind `http` against a real server on loopback.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use proto::{Blame, Code};
use serde_json::{Value, json};
use strip::{Job, Tool};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};
use toolpack::Toolpacks;

use crate::support::{Options, Setup, assert_code, call, request, runtime};

/// A server that answers by path and records its requests.
struct Server {
    base: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                tokio::spawn(async move {
                    let request = read_request(&mut stream).await;
                    let answer = answer(&request).await;
                    kept.lock().unwrap().push(request);
                    let _ = stream.write_all(answer.as_bytes()).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { base, requests }
    }

    fn last(&self) -> String {
        self.requests.lock().unwrap().last().cloned().unwrap()
    }
}

async fn read_request(stream: &mut tokio::net::TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
                })
                .unwrap_or(0);
            if body.len() >= length {
                return text;
            }
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return text,
            Ok(length) => bytes.extend_from_slice(&piece[..length]),
        }
    }
}

async fn answer(request: &str) -> String {
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, more, body) = match path {
        "/text" => ("200 OK", "", "<html>hello</html>".to_owned()),
        "/empty" => ("204 No Content", "", String::new()),
        "/envelope" => ("200 OK", "", r#"{"ok":true,"data":{"a":1}}"#.to_owned()),
        "/failed" => (
            "200 OK",
            "",
            r#"{"ok":false,"errors":[{"code":"NOT_FOUND","message":"no row"}]}"#.to_owned(),
        ),
        "/large" => ("200 OK", "", "1".repeat(400_000)),
        "/slow" => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            ("200 OK", "", "1".to_owned())
        }
        path if path.starts_with("/status/") => {
            return format!(
                "HTTP/1.1 {} X\r\nretry-after: 7\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
                &path[8..]
            );
        }
        path if path.starts_with("/search") => {
            ("200 OK", "", json!({"results": [{"path": path}]}).to_string())
        }
        path => ("200 OK", "", json!({"path": path}).to_string()),
    };
    format!(
        "HTTP/1.1 {status}\r\n{more}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn setup(server: &Server) -> Setup {
    Setup::with(Options {
        env: vec![("BASE", server.base.clone()), ("TOKEN", "s3cret-t0ken".to_owned())],
        allow: vec!["127.0.0.1"],
        ..Options::default()
    })
    .await
}

fn pack(setup: &Setup, execution: &str) {
    setup.pack("x", &format!("caps: {{network: [http]}}\nenv: {{passthrough: [BASE, TOKEN]}}\ndeterministic: false\nexecution:\n  kind: http\n{execution}"));
}

#[tokio::test]
async fn the_input_is_the_body() {
    let server = Server::start().await;
    let setup = setup(&server).await;
    pack(
        &setup,
        "  url: '{{env.BASE}}/run'\n  headers: {Authorization: 'Bearer {{env.TOKEN}}', X-Q: '{{input.q}}'}",
    );
    let mut request = request(json!({"q": "x"}));
    request.idempotency_key = Some("k-1".to_owned());
    let output = setup.tool("x").run(&Job::new(request)).await.unwrap();
    assert_eq!(*output.data, json!({"path": "/run"}));
    let request = server.last();
    assert!(request.starts_with("POST /run "));
    for part in [
        "authorization: Bearer s3cret-t0ken",
        "x-q: x",
        "idempotency-key: k-1",
        "content-type: application/json",
    ] {
        assert!(request.contains(part), "{request}");
    }
    assert!(request.ends_with(r#"{"q":"x"}"#));
}

#[tokio::test]
async fn get_has_no_body_and_encodes_values() {
    let server = Server::start().await;
    let setup = setup(&server).await;
    pack(&setup, "  url: '{{env.BASE}}/find?q={{ input.q | urlencode }}'\n  method: get");
    let data = setup.data("x", json!({"q": "a&b=c d#é"})).await;
    assert_eq!(data, json!({"path": "/find?q=a%26b%3Dc%20d%23%C3%A9"}));
    assert!(server.last().ends_with("\r\n\r\n"));
}

#[tokio::test]
async fn statuses_become_codes() {
    let server = Server::start().await;
    let setup = setup(&server).await;
    for (status, code) in [
        (400, Code::InvalidInput),
        (401, Code::InvalidInput),
        (404, Code::NotFound),
        (408, Code::Timeout),
        (422, Code::InvalidInput),
        (429, Code::RateLimit),
        (500, Code::Unavailable),
        (503, Code::Unavailable),
    ] {
        pack(&setup, &format!("  url: '{{{{env.BASE}}}}/status/{status}'"));
        let failure = setup.failure("x", json!({})).await;
        assert_eq!(failure.code, code, "{status}");
        assert_eq!(failure.details, Some(json!({"status": status})));
        assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
        assert_ne!(failure.blame, Blame::Gateway);
    }
}

#[tokio::test]
async fn answers_follow_the_same_contract() {
    let server = Server::start().await;
    let setup = setup(&server).await;
    pack(&setup, "  url: '{{env.BASE}}/{{input.path}}'");
    assert_eq!(setup.data("x", json!({"path": "envelope"})).await, json!({"a": 1}));
    assert_eq!(setup.data("x", json!({"path": "empty"})).await, Value::Null);
    assert_code(&setup.failure("x", json!({"path": "failed"})).await, Code::NotFound, "no row");
    assert_code(&setup.failure("x", json!({"path": "text"})).await, Code::Internal, "<html>");
    assert_code(&setup.failure("x", json!({"path": "large"})).await, Code::Internal, "more than");
    let mut call = call(json!({"path": "slow"}));
    call.timeout = Some(Duration::from_millis(100));
    assert_eq!(setup.tool("x").run(&call).await.unwrap_err().code, Code::Timeout);
}

#[tokio::test]
async fn forbidden_addresses_are_refused() {
    let server = Server::start().await;
    let setup = setup(&server).await;
    // The caller chose the host: it is the caller's fault.
    pack(&setup, "  url: '{{input.url}}'");
    for url in [
        "http://169.254.169.254/latest",
        "http://[::1]/",
        "file:///etc/passwd",
        "http://10.0.0.1/",
        "nonsense",
    ] {
        let failure = setup.failure("x", json!({"url": url})).await;
        assert_eq!(
            (failure.code, failure.blame),
            (Code::InvalidInput, Blame::Caller),
            "{url}: {failure}"
        );
    }
    // The pack chose it: the pack cannot run here.
    pack(&setup, "  url: 'http://192.168.1.1/'");
    assert_eq!(setup.failure("x", json!({})).await.code, Code::Unsupported);
    setup.pack("x", "env: {passthrough: [BASE]}\nexecution: {kind: http, url: '{{env.BASE}}/x'}");
    assert_code(&setup.failure("x", json!({})).await, Code::Unsupported, "declared network");
    setup.pack("x", "caps: {network: [https]}\nenv: {passthrough: [BASE]}\nexecution: {kind: http, url: '{{env.BASE}}/x'}");
    assert_code(&setup.failure("x", json!({})).await, Code::Unsupported, "declared network");
    assert!(server.requests.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_service_that_is_not_there_is_unavailable() {
    let server = Server::start().await;
    let setup = setup(&server).await;
    // Bound and not listening: no other process can listen there.
    let silent = TcpSocket::new_v4().unwrap();
    silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = silent.local_addr().unwrap();
    pack(&setup, &format!("  url: 'http://{address}/'"));
    let failure = setup.failure("x", json!({})).await;
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, true), "{failure}");
}

#[tokio::test]
async fn the_shipped_example_works() {
    let server = Server::start().await;
    let options = Options {
        env: vec![("SERVICE_URL", server.base.clone()), ("SERVICE_TOKEN", "t0ken-x".to_owned())],
        allow: vec!["127.0.0.1"],
        ..Options::default()
    };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tools");
    let loaded = Toolpacks::new(vec![folder.into()], runtime(options).await).load();
    let mut tools = loaded.tools.iter();
    let tool = tools.find(|tool| tool.descriptor().id.as_str() == "service.search.query").unwrap();
    let output = tool.run(&call(json!({"q": "a&b"}))).await.unwrap();
    assert_eq!(*output.data, json!([{"path": "/search?q=a%26b&limit=10"}]));
    assert!(server.last().contains("authorization: Bearer t0ken-x"));
}

#[tokio::test]
async fn header_values_cannot_add_headers() {
    let server = Server::start().await;
    let setup = setup(&server).await;
    pack(&setup, "  url: '{{env.BASE}}/x'\n  headers: {X-Q: '{{input.q}}'}");
    for value in ["a\r\nX-Evil: 1", "a\nb", "nul\0"] {
        let failure = setup.failure("x", json!({"q": value})).await;
        assert_eq!(failure.code, Code::InvalidInput, "{value:?}");
    }
    assert!(server.requests.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_value_cannot_leave_its_segment() {
    let server = Server::start().await;
    let setup = setup(&server).await;
    for value in ["{{ input.id | urlencode }}", "{{ input.id }}"] {
        pack(
            &setup,
            &format!(
                "  url: '{{{{env.BASE}}}}/users/{value}/mail?x={value}'\n  method: get\n  \
                 headers: {{Authorization: 'Bearer {{{{env.TOKEN}}}}'}}"
            ),
        );
        for (id, sent) in [("a/b", "a%2Fb"), ("a?b#c", "a%3Fb%23c"), ("%2fa\r\n", "%252fa%0D%0A")] {
            let data = setup.data("x", json!({"id": id})).await;
            assert_eq!(data, json!({"path": format!("/users/{sent}/mail?x={sent}")}), "{value}");
        }
        let before = server.requests.lock().unwrap().len();
        for id in ["../../admin/users", "..", ".", "%2e%2e", "x/../../admin", "..\\admin", ""] {
            let failure = setup.failure("x", json!({"id": id})).await;
            assert_eq!(failure.code, Code::InvalidInput, "{id}: {failure}");
        }
        assert_eq!(server.requests.lock().unwrap().len(), before, "nothing was sent");
    }
}
