//! Bodies that end early and are kept.

use std::convert::Infallible;
use std::time::Duration;

use async_compression::tokio::write::GzipEncoder;
use bytes::Bytes;
use egress::http::{Cut, FetchError, Limits, Partial, Phase, Request, Scope};
use futures_util::{StreamExt, stream};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tokio::io::AsyncWriteExt;

use crate::http::server::{Reply, Server, client, reply};

const BLOCK: &[u8] = &[b'x'; 1024];

/// These bytes, then silence.
fn stalling(start: impl Into<Bytes>) -> Reply {
    let start = Ok::<_, Infallible>(Frame::data(start.into()));
    let frames = stream::iter([start]).chain(stream::pending());
    http::Response::new(StreamBody::new(frames).boxed_unsync())
}

async fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzipEncoder::new(Vec::new());
    encoder.write_all(bytes).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder.into_inner()
}

fn as_gzip(mut reply: Reply) -> Reply {
    reply.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
    reply
}

async fn fetch(server: &Server, max_body_bytes: u64, ms: u64) -> Result<Partial, FetchError> {
    let deadline = Some(Duration::from_millis(ms));
    let limits = Limits { max_body_bytes, deadline, ..Limits::default() };
    let request = Request::get(server.url("/"));
    client(&["127.0.0.1"]).fetch_partial(request, &limits, &Scope::everything()).await
}

#[tokio::test]
async fn a_whole_body_has_no_cut() {
    let server = Server::start(|_| reply(203, BLOCK)).await;
    let answer = fetch(&server, 1024, 10_000).await.unwrap();
    assert_eq!((answer.status.as_u16(), &answer.body[..], answer.cut), (203, BLOCK, None));
    assert_eq!(answer.final_url.as_str(), server.url("/"));
}

#[tokio::test]
async fn a_large_body_is_cut_at_the_limit() {
    let known = Server::start(|_| reply(200, BLOCK)).await;
    let endless = Server::start(|_| {
        let blocks = stream::repeat_with(|| Ok::<_, Infallible>(Frame::data(BLOCK.into())));
        http::Response::new(StreamBody::new(blocks).boxed_unsync())
    })
    .await;
    for (server, limit) in [(&known, 1023), (&known, 1), (&endless, 100_000)] {
        let answer = fetch(server, limit, 10_000).await.unwrap();
        assert_eq!((answer.body.len() as u64, answer.cut), (limit, Some(Cut::TooLarge)));
    }
}

#[tokio::test]
async fn a_slow_body_is_cut_at_the_deadline() {
    let server = Server::start(|_| stalling(BLOCK)).await;
    let answer = fetch(&server, 1 << 20, 300).await.unwrap();
    assert_eq!((&answer.body[..], answer.cut), (BLOCK, Some(Cut::Deadline)));
}

#[tokio::test]
async fn compressed_bodies_keep_what_could_be_unpacked() {
    let bomb = packed(&vec![b'z'; 4 << 20]).await;
    assert!(bomb.len() < 100_000);
    let whole = bomb.clone();
    let server = Server::start(move |_| as_gzip(reply(200, whole.clone()))).await;
    let answer = fetch(&server, 100_000, 10_000).await.unwrap();
    assert_eq!((answer.body.len(), answer.cut), (100_000, Some(Cut::TooLarge)));

    let half = bomb[..bomb.len() / 2].to_vec();
    let broken = half.clone();
    let server = Server::start(move |_| as_gzip(reply(200, broken.clone()))).await;
    let answer = fetch(&server, 8 << 20, 10_000).await.unwrap();
    assert_eq!(answer.cut, Some(Cut::Broken));
    assert!(answer.body.len() > 1 << 20, "{}", answer.body.len());

    let server = Server::start(move |_| as_gzip(stalling(half.clone()))).await;
    let answer = fetch(&server, 8 << 20, 500).await.unwrap();
    assert_eq!(answer.cut, Some(Cut::Deadline));
    assert!(answer.body.len() > 1 << 20, "{}", answer.body.len());
}

#[tokio::test]
async fn without_headers_there_is_no_answer() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let after = Duration::from_millis(100);
    let limits = Limits { deadline: Some(after), ..Limits::default() };
    let client = client(&["127.0.0.1"]);
    let missed = client.fetch_partial(Request::get(url), &limits, &Scope::everything()).await;
    assert_eq!(missed.unwrap_err(), FetchError::Timeout { phase: Phase::Total, after });
}
