//! Limits on time and size, against servers that try to exceed them.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use egress::http::{FetchError, Limits, Part, Phase, Request, Scope};
use futures_util::{StreamExt, stream};
use http::Method;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::http::server::{Reply, Server, client, get_within, redirect, reply};

const BLOCK: &[u8] = &[b'x'; 1024];

fn endless() -> Reply {
    let blocks =
        stream::repeat_with(|| Ok::<_, Infallible>(Frame::data(Bytes::from_static(BLOCK))));
    http::Response::new(StreamBody::new(blocks).boxed_unsync())
}

/// One block, then silence.
fn stalling() -> Reply {
    let blocks =
        stream::once(async { Ok::<_, Infallible>(Frame::data(Bytes::from_static(BLOCK))) });
    http::Response::new(StreamBody::new(blocks.chain(stream::pending())).boxed_unsync())
}

fn small(max_body_bytes: u64) -> Limits {
    Limits { max_body_bytes, ..Limits::default() }
}

fn quick(milliseconds: u64) -> Limits {
    Limits { deadline: Some(Duration::from_millis(milliseconds)), ..Limits::default() }
}

#[tokio::test]
async fn the_cap_holds_for_known_and_unknown_lengths() {
    let server =
        Server::start(|seen| if seen.target == "/endless" { endless() } else { reply(200, BLOCK) })
            .await;
    let client = client(&["127.0.0.1"]);
    let too_large = |limit| FetchError::TooLarge { part: Part::Body, limit };
    assert_eq!(
        get_within(&client, &server.url("/"), &small(1023)).await.unwrap_err(),
        too_large(1023)
    );
    assert_eq!(get_within(&client, &server.url("/"), &small(1024)).await.unwrap().body.len(), 1024);
    assert_eq!(
        get_within(&client, &server.url("/endless"), &small(100_000)).await.unwrap_err(),
        too_large(100_000)
    );
}

#[tokio::test]
async fn the_length_of_an_answer_to_head_is_no_body() {
    let server = Server::start(|_| reply(200, BLOCK)).await;
    let mut request = Request::get(server.url("/"));
    request.method = Method::HEAD;
    let answer =
        client(&["127.0.0.1"]).send(request, &small(10), &Scope::everything()).await.unwrap();
    assert_eq!(
        (answer.body.len(), answer.headers["content-length"].to_str().unwrap()),
        (0, "1024")
    );
}

#[tokio::test]
async fn a_stream_delivers_up_to_the_cap_and_then_fails_once() {
    let server = Server::start(|_| endless()).await;
    let limits = small(10_000);
    let answer = client(&["127.0.0.1"])
        .stream(Request::get(server.url("/")), &limits, &Scope::everything())
        .await
        .unwrap();
    let chunks: Vec<_> = answer.body.collect::<Vec<_>>().await;
    let (last, good) = chunks.split_last().unwrap();
    assert_eq!(
        last.as_ref().unwrap_err(),
        &FetchError::TooLarge { part: Part::Body, limit: 10_000 }
    );
    let bytes: usize = good.iter().map(|chunk| chunk.as_ref().unwrap().len()).sum();
    assert!(bytes <= 10_000 && !good.is_empty(), "{bytes}");
}

#[tokio::test]
async fn a_stream_without_deadline_gives_what_has_come() {
    let server = Server::start(|_| stalling()).await;
    for deadline in [None, Some(Duration::MAX)] {
        let limits = Limits { deadline, ..Limits::default() };
        let mut answer = client(&["127.0.0.1"])
            .stream(Request::get(server.url("/")), &limits, &Scope::everything())
            .await
            .unwrap();
        assert_eq!(answer.body.next().await.unwrap().unwrap().len(), BLOCK.len());
        assert!(futures_util::poll!(answer.body.next()).is_pending());
    }
}

#[tokio::test]
async fn a_slow_body_meets_the_deadline() {
    let server =
        Server::start(|seen| if seen.target == "/endless" { endless() } else { stalling() }).await;
    let client = client(&["127.0.0.1"]);
    let missed = FetchError::Timeout { phase: Phase::Total, after: Duration::from_millis(200) };
    assert_eq!(get_within(&client, &server.url("/"), &quick(200)).await.unwrap_err(), missed);
    // A server that never pauses does not outrun the clock either.
    let unbounded = Limits { max_body_bytes: u64::MAX, ..quick(200) };
    assert_eq!(get_within(&client, &server.url("/endless"), &unbounded).await.unwrap_err(), missed);
}

#[tokio::test]
async fn a_server_that_never_answers_meets_the_deadline() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let error = get_within(&client(&["127.0.0.1"]), &url, &quick(100)).await.unwrap_err();
    assert_eq!(
        error,
        FetchError::Timeout { phase: Phase::Total, after: Duration::from_millis(100) }
    );
}

#[tokio::test]
async fn the_deadline_covers_all_redirects_together() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = format!("http://{}/", silent.local_addr().unwrap());
    let server = Server::start(move |_| redirect(302, &place)).await;
    let error =
        get_within(&client(&["127.0.0.1"]), &server.url("/"), &quick(150)).await.unwrap_err();
    assert_eq!(
        error,
        FetchError::Timeout { phase: Phase::Total, after: Duration::from_millis(150) }
    );
}

/// A server that takes the connection and never answers the handshake: to the caller it has not connected.
#[tokio::test]
async fn a_stuck_handshake_meets_the_connect_limit() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let limits = Limits { connect: Duration::from_millis(100), ..Limits::default() };
    let error = get_within(&client(&["127.0.0.1"]), &url, &limits).await.unwrap_err();
    assert_eq!(
        error,
        FetchError::Timeout { phase: Phase::Connect, after: Duration::from_millis(100) }
    );
}

/// The connect limit ends with the connection: a slow answer has the whole deadline.
#[tokio::test]
async fn a_slow_answer_is_not_a_slow_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 1024]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(800)).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
    });
    // Long enough to connect on a busy machine.
    let limits = Limits { connect: Duration::from_millis(600), ..Limits::default() };
    let answer = get_within(&client(&["127.0.0.1"]), &url, &limits).await.unwrap();
    assert_eq!(&answer.body[..], b"ok");
}

/// Answers each connection with these bytes and hangs up.
async fn raw(answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 1024]).await.unwrap();
            // The client may have hung up half-way: that is the point of some of these answers.
            let _ = stream.write_all(&answer).await;
            let _ = stream.shutdown().await;
        }
    });
    url
}

#[tokio::test]
async fn headers_have_a_cap_per_request_and_a_ceiling_for_all() {
    let client = client(&["127.0.0.1"]);
    let flood = |bytes: usize| {
        let value = "v".repeat(bytes);
        raw(format!("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-flood: {value}\r\n\r\n")
            .into_bytes())
    };
    let limits = Limits { max_header_bytes: 1000, ..Limits::default() };
    let error = get_within(&client, &flood(1000).await, &limits).await.unwrap_err();
    assert_eq!(error, FetchError::TooLarge { part: Part::Headers, limit: 1000 });
    assert!(get_within(&client, &flood(800).await, &limits).await.is_ok());
    let generous = Limits { max_header_bytes: u64::MAX, ..Limits::default() };
    let error = get_within(&client, &flood(1_000_000).await, &generous).await.unwrap_err();
    assert_eq!(error, FetchError::TooLarge { part: Part::Headers, limit: 64 * 1024 });
}

#[tokio::test]
async fn nonsense_and_broken_answers_are_protocol_errors() {
    let client = client(&["127.0.0.1"]);
    for answer in [
        &b""[..],
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
    ] {
        let error =
            get_within(&client, &raw(answer.to_vec()).await, &Limits::default()).await.unwrap_err();
        assert!(matches!(error, FetchError::Protocol { .. }), "{answer:?}: {error:?}");
    }
}

#[tokio::test]
async fn dropping_a_request_hangs_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let client = client(&["127.0.0.1"]);
    let fetch =
        tokio::spawn(
            async move { get_within(&client, &url, &Limits::default()).await.map(|_| ()) },
        );
    let (mut stream, _) = listener.accept().await.unwrap();
    assert!(stream.read(&mut [0; 1024]).await.unwrap() > 0);
    fetch.abort();
    // End of file: the other side has closed.
    assert_eq!(stream.read(&mut [0; 1024]).await.unwrap(), 0);
}
