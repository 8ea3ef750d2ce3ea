//! Hostile uploads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use doors::Options;
use http::{Method, StatusCode};
use http_body_util::Full;
use http_server::ServerLimits;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{Gateway, bodies_within, connect, gateway, gateway_with, modern, settings};

/// Sends a request and then a filling again and again, until the gateway answers or disconnects. Returns how many bytes of
/// the filling were sent, and the answer.
async fn fill(
    gateway: &Gateway,
    request: &str,
    filling: &'static [u8],
    pause: Duration,
) -> (usize, String) {
    let (mut read, mut write) = connect(gateway.address).await.unwrap().into_split();
    write.write_all(request.as_bytes()).await.unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let sending = tokio::spawn(async move {
        while count.load(Ordering::Relaxed) < 64 << 20 && write.write_all(filling).await.is_ok() {
            count.fetch_add(filling.len(), Ordering::Relaxed);
            tokio::time::sleep(pause).await;
        }
        write
    });
    let mut said = vec![0; 4096];
    let answered = tokio::time::timeout(Duration::from_secs(30), read.read(&mut said)).await;
    let length = answered.expect("it does not read forever").unwrap_or(0);
    sending.abort();
    (sent.load(Ordering::Relaxed), String::from_utf8_lossy(&said[..length]).into_owned())
}

fn form(begins: &str) -> String {
    format!(
        "POST /v1/files HTTP/1.1\r\nHost: localhost\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 99999999\r\n\r\n{begins}"
    )
}

static FILLING: [u8; 64 << 10] = [b'x'; 64 << 10];

#[tokio::test]
async fn the_bytes_outside_the_fields_of_a_form_are_limited() {
    let gateway = gateway().await;
    let name = "Content-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n";
    for begins in [
        String::new(),
        format!("--b\r\n{name}X-Long: "),
        format!("--b\r\n{name}\r\nwhole\r\n--b\r\n{name}X-Long: "),
        format!("--b\r\n{name}\r\nwhole\r\n--b--\r\n"),
    ] {
        let (sent, said) = fill(&gateway, &form(&begins), &FILLING, Duration::ZERO).await;
        assert!(sent < 16 << 20, "{begins:?}: {sent} bytes were taken");
        // A reset is a disconnect, too.
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 "), "{begins:?}: {said}");
    }
    let files = gateway.get("/v1/files").await.json();
    assert_eq!(files["data"]["files"].as_array().map(Vec::len), Some(1), "{files}");
    // Long headers and large files are allowed.
    let body = format!("--b\r\nX-Long: {}\r\n{name}\r\n", "y".repeat(20_000));
    let whole = format!("{body}{}\r\n--b--\r\n", "z".repeat(3 << 20));
    let request = format!(
        "POST /v1/files HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {}\r\n\r\n{whole}",
        whole.len()
    );
    let mut stream = connect(gateway.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    assert!(said.starts_with("HTTP/1.1 201") && said.contains("\"size\":3145728"), "{said}");
}

#[tokio::test]
async fn the_fields_of_a_form_are_limited() {
    let gateway = gateway().await;
    let field = "--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\nv\r\n";
    let (_, said) = fill(&gateway, &form(&field.repeat(40)), b"x", Duration::from_secs(60)).await;
    assert!(said.starts_with("HTTP/1.1 400") && said.contains("32 fields"), "{said}");
}

#[tokio::test]
async fn a_file_that_arrives_too_slowly_is_refused() {
    let options =
        Options { bodies: bodies_within(Duration::from_millis(300)), ..Options::default() };
    let gateway = gateway_with(settings(), options, ServerLimits::default()).await;
    let plain = "POST /v1/files?name=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n";
    let begins = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n";
    for request in [plain.to_owned(), form(begins)] {
        let (_, said) = fill(&gateway, &request, b"x", Duration::from_millis(20)).await;
        assert!(said.starts_with("HTTP/1.1 400") && said.contains("too slow"), "{said}");
    }
    assert_eq!(gateway.get("/readyz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn every_use_of_a_file_leaves_one_audit_row() {
    let gateway = gateway().await;
    gateway.strip.files().set_public_url(format!("http://{}", gateway.address).parse().unwrap());
    let kept = gateway.post("/v1/files?name=a.txt", "hello").await.json();
    let id = kept["data"]["file_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/files/{id}");
    let send = async |method, path: &str| {
        gateway.send(gateway.request(method, path).body(Full::default()).unwrap()).await
    };
    let linked = gateway.get(&format!("{path}/link")).await.json();
    let url = linked["data"]["url"].as_str().unwrap_or_else(|| panic!("{linked}"));
    let (_, link) = url.split_once(&gateway.address.to_string()).unwrap();
    assert_eq!(gateway.get(&format!("{path}/content")).await.body, "hello");
    assert_eq!(gateway.get(link).await.body, "hello");
    // An invalid link leaves no audit row.
    assert_ne!(gateway.get(&link.replace("sig=", "sig=A")).await.status, StatusCode::OK);
    assert_eq!(gateway.get(&format!("{path}/text")).await.body, "hello");
    let uri = format!("powerstrip://files/{id}");
    let (mut headers, body) = modern(json!(1), "resources/read", json!({"uri": uri}));
    headers.insert("mcp-name", uri.clone());
    let read = gateway.send(gateway.mcp(&headers, &body)).await.messages().pop().unwrap();
    assert_eq!(read["result"]["contents"][0]["text"], "hello", "{read}");
    assert_eq!(send(Method::DELETE, &path).await.status, StatusCode::OK);
    assert_eq!(gateway.get(&format!("{path}/content")).await.status, StatusCode::NOT_FOUND);
    let seen: Vec<_> = (gateway.audit_rows(8).await.iter())
        .map(|row| {
            let action = row.tool.strip_suffix(&format!(":{id}")).unwrap_or(&row.tool).to_owned();
            let by = if row.caller.subject == "link" { "link" } else { "caller" };
            (action, by, row.outcome.to_string())
        })
        .collect();
    let expected = [
        ("files/upload", "caller", "OK"),
        ("files/link", "caller", "OK"),
        ("files/download", "caller", "OK"),
        ("files/download by link", "link", "OK"),
        ("files/text", "caller", "OK"),
        ("files/read", "caller", "OK"),
        ("files/delete", "caller", "OK"),
        ("files/download", "caller", "NOT_FOUND"),
    ];
    let expected = expected.map(|(tool, by, code)| (tool.to_owned(), by, code.to_owned()));
    assert_eq!(seen, expected);
}
