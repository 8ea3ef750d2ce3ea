//! Packed bodies.

use std::convert::Infallible;

use async_compression::Level;
use async_compression::tokio::write::{BrotliEncoder, GzipEncoder};
use bytes::Bytes;
use egress::http::{FetchError, Limits, Part, Request, Scope};
use futures_util::{StreamExt, stream};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tokio::io::AsyncWriteExt;

use crate::http::server::{Reply, Server, client, get_within, reply};

async fn gzip(plain: &[u8]) -> Bytes {
    let mut encoder = GzipEncoder::new(Vec::new());
    encoder.write_all(plain).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder.into_inner().into()
}

async fn brotli(plain: &[u8]) -> Bytes {
    let mut encoder = BrotliEncoder::with_quality(Vec::new(), Level::Fastest);
    encoder.write_all(plain).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder.into_inner().into()
}

fn packed(name: &str, body: Bytes) -> Reply {
    let mut reply = reply(200, body);
    reply.headers_mut().insert("content-encoding", name.parse().unwrap());
    reply
}

#[tokio::test]
async fn compressed_bodies_are_decompressed() {
    let plain = "many words ".repeat(1000);
    for (name, body) in
        [("gzip", gzip(plain.as_bytes()).await), ("br", brotli(plain.as_bytes()).await)]
    {
        let server = Server::start(move |_| packed(name, body.clone())).await;
        let answer = get_within(&client(&["127.0.0.1"]), &server.url("/"), &Limits::default())
            .await
            .unwrap();
        assert_eq!(answer.body, plain.as_bytes(), "{name}");
        assert!(
            !answer.headers.contains_key("content-encoding")
                && !answer.headers.contains_key("content-length")
        );
        assert_eq!(server.seen()[0].header("accept-encoding"), Some("gzip, br"));
    }
}

#[tokio::test]
async fn a_bomb_stops_at_the_cap() {
    let plain = vec![0; 4_000_000];
    for (name, body) in [("gzip", gzip(&plain).await), ("br", brotli(&plain).await)] {
        assert!(body.len() < 50_000, "{name} packs to {}", body.len());
        let server = Server::start(move |_| packed(name, body.clone())).await;
        let limits = Limits { max_body_bytes: 100_000, ..Limits::default() };
        let error =
            get_within(&client(&["127.0.0.1"]), &server.url("/"), &limits).await.unwrap_err();
        assert_eq!(error, FetchError::TooLarge { part: Part::Body, limit: 100_000 }, "{name}");
    }
}

#[tokio::test]
async fn a_broken_encoding_is_a_protocol_error_and_an_unknown_one_passes() {
    let whole = gzip("many words ".repeat(1000).as_bytes()).await;
    let half = whole.slice(..whole.len() / 2);
    for body in [half, Bytes::from_static(b"this is no gzip")] {
        let server = Server::start(move |_| packed("gzip", body.clone())).await;
        let error = get_within(&client(&["127.0.0.1"]), &server.url("/"), &Limits::default())
            .await
            .unwrap_err();
        assert!(matches!(error, FetchError::Protocol { .. }), "{error:?}");
    }
    let server = Server::start(|_| packed("rot13", Bytes::from_static(b"uryyb"))).await;
    let answer =
        get_within(&client(&["127.0.0.1"]), &server.url("/"), &Limits::default()).await.unwrap();
    assert_eq!(
        (&answer.body[..], answer.headers["content-encoding"].to_str().unwrap()),
        (&b"uryyb"[..], "rot13")
    );
}

#[tokio::test]
async fn an_empty_compressed_body_is_empty() {
    let server = Server::start(|_| packed("gzip", Bytes::new())).await;
    let answer =
        get_within(&client(&["127.0.0.1"]), &server.url("/"), &Limits::default()).await.unwrap();
    assert!(answer.body.is_empty());
}

#[tokio::test]
async fn a_caller_that_sets_accept_encoding_gets_the_encoded_body() {
    let body = gzip(b"hello").await;
    let sent = body.clone();
    let server = Server::start(move |_| packed("gzip", sent.clone())).await;
    let mut request = Request::get(server.url("/"));
    request.headers.insert("accept-encoding", "gzip".parse().unwrap());
    let answer = client(&["127.0.0.1"])
        .send(request, &Limits::default(), &Scope::everything())
        .await
        .unwrap();
    assert_eq!(answer.body, body);
    assert_eq!(answer.headers["content-encoding"], "gzip");
}

/// Packed nothing after packed nothing: the wire is long although what comes out of it is not.
#[tokio::test]
async fn an_endless_compressed_body_stops_at_the_limit() {
    let body = Bytes::from(gzip(b"").await.repeat(500));
    let chunked = move || {
        let blocks =
            stream::repeat(body.clone()).map(|block| Ok::<_, Infallible>(Frame::data(block)));
        let mut reply = http::Response::new(StreamBody::new(blocks).boxed_unsync());
        reply.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
        reply
    };
    let server = Server::start(move |_| chunked()).await;
    let limits = Limits { max_body_bytes: 100_000, ..Limits::default() };
    let error = get_within(&client(&["127.0.0.1"]), &server.url("/"), &limits).await.unwrap_err();
    assert_eq!(error, FetchError::TooLarge { part: Part::Body, limit: 100_000 });
}
