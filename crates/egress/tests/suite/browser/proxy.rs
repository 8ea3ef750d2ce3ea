//! The checking proxy by itself.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use egress::http::{Client, FetchError, Refusal, Target};
use egress::proxy::{Pass, Proxy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::browser::support::Canary;
use crate::http::server::{Script, Server, client, get, policy, reply, scripted};

/// Sends a request to the proxy and reads until it closes the connection.
async fn ask(proxy: &Proxy, bytes: &str) -> String {
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    let bytes = bytes.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A connection that is cut off ends with an error.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

fn authorization(pass: &Pass) -> String {
    let pair = format!("{}:{}", pass.user(), pass.password());
    format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(pair))
}

#[tokio::test]
async fn only_the_holder_of_a_pass_is_served() {
    let server = Server::start(|_| reply(200, "hello")).await;
    let client = client(&[&server.address.to_string()]);
    let proxy = Proxy::start(&client).await.unwrap();
    let get = |header: &str| format!("GET {} HTTP/1.1\r\nHost: x\r\n{header}\r\n", server.url("/"));
    let connect = format!("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", server.address);
    let wrong = "Proxy-Authorization: Basic dXNlcjpwYXNzd29yZA==\r\n";
    for request in [get(""), get(wrong), connect, "GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_owned()] {
        let answer = ask(&proxy, &request).await;
        assert!(answer.starts_with("HTTP/1.1 407 "), "{request}: {answer}");
        assert!(answer.contains("proxy-authenticate: Basic"), "{answer}");
    }
    assert_eq!(server.connections(), 0);

    let pass = proxy.admit(1 << 20);
    let header = authorization(&pass);
    assert!(!pass.is_used());
    let answer = ask(&proxy, &get(&header)).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("hello"), "{answer}");
    assert!(pass.is_used() && server.seen()[0].header("proxy-authorization").is_none());
    assert_eq!(server.seen()[0].header("host"), Some(server.address.to_string().as_str()));
    drop(pass);
    assert!(ask(&proxy, &get(&header)).await.starts_with("HTTP/1.1 407 "));
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_tunnel_carries_bytes_both_ways_until_the_pass_ends() {
    let echo = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = echo.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = echo.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                tokio::io::copy(&mut from, &mut to).await
            });
        }
    });
    let proxy = Proxy::start(&client(&[&address.to_string()])).await.unwrap();
    let open = async |pass: &Pass| {
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        let head =
            format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n{}\r\n", authorization(pass));
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.unwrap());
        }
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
        stream
    };
    let pass = proxy.admit(100_000);
    let mut stream = open(&pass).await;
    stream.write_all(b"ping").await.unwrap();
    let mut back = [0; 4];
    stream.read_exact(&mut back).await.unwrap();
    assert_eq!((&back, pass.is_overdrawn()), (b"ping", false));
    drop(pass);
    assert!(matches!(stream.read(&mut back).await, Ok(0) | Err(_)), "the tunnel is closed");

    let pass = proxy.admit(100_000);
    let stream = open(&pass).await;
    let (mut from, mut to) = stream.into_split();
    let sending = async { while to.write_all(&[b'x'; 4096]).await.is_ok() {} };
    let mut echoed = Vec::new();
    let (_, received) = tokio::join!(sending, async {
        let _ = from.read_to_end(&mut echoed).await;
        echoed.len()
    });
    assert!(pass.is_overdrawn() && received <= 100_000, "{received}");
}

#[tokio::test]
async fn targets_are_checked_like_those_of_the_client() {
    let canary = Canary::start().await;
    let (address, port) = (canary.address, canary.port());
    let names = Script::default()
        .name("inside.test", &[&["127.0.0.1"]])
        .name("mixed.test", &[&["93.184.215.14", "127.0.0.1"]]);
    let client = scripted(&[], &Arc::new(names));
    let proxy = Proxy::start(&client).await.unwrap();
    let pass = proxy.admit(1 << 20);
    let header = authorization(&pass);
    for host in [
        address.to_string(),
        format!("localhost:{port}"),
        format!("inside.test:{port}"),
        format!("INSIDE.test.:{port}"),
        format!("mixed.test:{port}"),
        format!("2130706433:{port}"),
        format!("0x7f.1:{port}"),
        format!("0177.0.0.1:{port}"),
        format!("127.1:{port}"),
        format!("[::1]:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("[64:ff9b::7f00:1]:{port}"),
        format!("0.0.0.0:{port}"),
        format!("user@{address}"),
        proxy.address().to_string(),
        "169.254.169.254:80".to_owned(),
    ] {
        for request in [
            format!("CONNECT {host} HTTP/1.1\r\nHost: x\r\n{header}\r\n"),
            format!("GET http://{host}/ HTTP/1.1\r\nHost: x\r\n{header}\r\n"),
        ] {
            let answer = ask(&proxy, &request).await;
            let unknown = host.starts_with("localhost") && answer.starts_with("HTTP/1.1 502 ");
            // hyper itself refuses what is no authority.
            let unreadable = host.starts_with("user@") && answer.starts_with("HTTP/1.1 400 ");
            let refused = answer.starts_with("HTTP/1.1 403 ");
            assert!(refused || unknown || unreadable, "{request}: {answer}");
        }
    }
    assert_eq!(canary.hits(), 0);
    let target = Target::parse(&format!("http://inside.test:{port}/")).unwrap();
    let failure = pass.failure(&target).unwrap();
    assert!(matches!(failure, FetchError::Refused(Refusal::Address { .. })), "{failure:?}");

    for request in [
        format!("GET / HTTP/1.1\r\nHost: {address}\r\n{header}\r\n"),
        format!("GET https://{address}/ HTTP/1.1\r\nHost: {address}\r\n{header}\r\n"),
        format!("GET ftp://{address}/ HTTP/1.1\r\nHost: {address}\r\n{header}\r\n"),
        format!("CONNECT example.com HTTP/1.1\r\nHost: x\r\n{header}\r\n"),
    ] {
        let answer = ask(&proxy, &request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request}: {answer}");
    }
}

#[tokio::test]
async fn no_client_of_ours_reaches_the_proxy() {
    let client = Client::new(policy(&["127.0.0.1"])).unwrap();
    let proxy = Proxy::start(&client).await.unwrap();
    let url = format!("http://{}/", proxy.address());
    let refused = get(&client, &url).await.unwrap_err();
    assert!(matches!(refused, FetchError::Refused(Refusal::OwnListener { .. })), "{refused:?}");
    drop(proxy);
    for _ in 0..200 {
        if matches!(get(&client, &url).await, Err(FetchError::Connect { .. })) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the port is still open or still registered");
}

#[tokio::test]
async fn large_answers_and_headers_end_the_connection() {
    let server = Server::start(|_| reply(200, vec![b'x'; 500_000])).await;
    let proxy = Proxy::start(&client(&[&server.address.to_string()])).await.unwrap();
    let pass = proxy.admit(100_000);
    let request =
        format!("GET {} HTTP/1.1\r\nHost: x\r\n{}\r\n", server.url("/"), authorization(&pass));
    let answer = ask(&proxy, &request).await;
    assert!(pass.is_overdrawn() && answer.len() < 200_000, "{}", answer.len());
    let again = ask(&proxy, &request).await;
    assert!(again.starts_with("HTTP/1.1 403 ") || again.is_empty(), "{again}");

    let flood = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(200_000));
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    let _ = stream.write_all(flood.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 431 "));
}
