//! Connections are kept, and only those that would pass the checks today.

use std::net::Ipv4Addr;
use std::sync::Arc;

use egress::http::{
    AddressPolicy, Client, FetchError, Limits, OwnListeners, Refusal, Request, Resolve, Rule, Scope,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::http::server::{Script, Server, client, get, reply, scripted};

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let server = Server::start(|_| reply(200, "hello")).await;
    let client = client(&["127.0.0.1"]);
    for _ in 0..20 {
        get(&client, &server.url("/")).await.unwrap();
    }
    assert_eq!((server.seen().len(), server.connections()), (20, 1));
}

#[tokio::test]
async fn names_that_share_an_address_do_not_share_connections() {
    let server = Server::start(|_| reply(200, "hello")).await;
    let script = Arc::new(
        Script::default().name("a.test", &[&["127.0.0.1"]]).name("b.test", &[&["127.0.0.1"]]),
    );
    let client = scripted(&["127.0.0.1"], &script);
    for name in ["a.test", "b.test", "a.test", "b.test"] {
        get(&client, &format!("http://{name}:{}/", server.port())).await.unwrap();
    }
    assert_eq!((server.connections(), script.asked("a.test"), script.asked("b.test")), (2, 1, 1));
}

/// A name gives no address to check before the pool is asked, so the pool itself must forget.
#[tokio::test]
async fn a_new_listener_empties_the_pool() {
    let server = Server::start(|_| reply(200, "hello")).await;
    let script: Arc<dyn Resolve> = Arc::new(Script::default().name("a.test", &[&["127.0.0.1"]]));
    let own = OwnListeners::default();
    let policy = AddressPolicy::new(vec!["127.0.0.1".parse().unwrap()], own.clone());
    let client = Client::builder(policy).resolver(script).build().unwrap();
    let url = format!("http://a.test:{}/", server.port());
    get(&client, &url).await.unwrap();
    own.register(server.address);
    let refused = get(&client, &url).await.unwrap_err();
    assert_eq!(refused, FetchError::Refused(Refusal::OwnListener { address: server.address }));
    assert_eq!(server.seen().len(), 1);
}

/// Clients under policies that were made from another follow its rules, over open connections, too.
#[tokio::test]
async fn changed_rules_hold_for_all_clients_at_once() {
    let server = Server::start(|_| reply(200, "hello")).await;
    let script = Arc::new(Script::default().name("a.test", &[&["127.0.0.1"]]));
    let client = scripted(&["127.0.0.1"], &script);
    let own = client.policy().allowing(Rule::for_url("http://b.test:1/").unwrap());
    let other = client.with_policy(own);
    let url = format!("http://a.test:{}/", server.port());
    for (rules, reached) in [(None, true), (Some(vec![]), false), (Some(vec!["127.0.0.1"]), true)] {
        if let Some(rules) = rules {
            let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
            client.policy().set_allowed(rules);
        }
        for client in [&client, &other] {
            match get(client, &url).await {
                Err(FetchError::Refused(Refusal::Address { .. })) => assert!(!reached),
                answer => assert_eq!(answer.map(|answer| answer.status.as_u16()), Ok(200)),
            }
        }
    }
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn many_requests_at_once_keep_their_answers() {
    let server = Server::start(|seen| reply(200, seen.target.clone())).await;
    let client = client(&["127.0.0.1"]);
    let asking = (0..200).map(|n| {
        let (client, url) = (client.clone(), server.url(&format!("/{n}")));
        async move { (n, get(&client, &url).await.unwrap().body) }
    });
    for (n, body) in futures_util::future::join_all(asking).await {
        assert_eq!(body, format!("/{n}").as_bytes());
    }
}

#[tokio::test]
async fn many_callers_reuse_their_connections() {
    const CROWD: usize = 100;
    let server = Server::start(|_| reply(200, "hello")).await;
    let client = client(&["127.0.0.1"]);
    for _ in 0..5 {
        let url = server.url("/");
        let asking = (0..CROWD).map(|_| get(&client, &url));
        for answer in futures_util::future::join_all(asking).await {
            answer.unwrap();
        }
    }
    // A request that takes a pooled connection while it dials leaves the new connection to the next request.
    assert!(server.connections() < 2 * CROWD, "{} connections", server.connections());
}

#[tokio::test]
async fn an_empty_answer_returns_its_connection_to_the_pool() {
    let server = Server::start(|_| reply(204, "")).await;
    let client = client(&["127.0.0.1"]);
    for _ in 0..5 {
        get(&client, &server.url("/")).await.unwrap();
    }
    assert_eq!((server.seen().len(), server.connections()), (5, 1));
}

/// The unread rest of the first answer must not be read as the second.
#[tokio::test]
async fn an_unread_answer_closes_its_connection() {
    let server = Server::start(|_| reply(200, "x".repeat(1 << 20))).await;
    let client = client(&["127.0.0.1"]);
    for _ in 0..3 {
        let request = Request::get(server.url("/"));
        let answer = client.stream(request, &Limits::default(), &Scope::everything()).await;
        drop(answer.unwrap());
    }
    assert_eq!(get(&client, &server.url("/")).await.unwrap().body.len(), 1 << 20);
    assert_eq!(server.connections(), 4);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_not_used_again() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let closed = Arc::new(Notify::new());
    let closing = Arc::clone(&closed);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = [0; 1024];
            let _ = stream.read(&mut asked).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").await.unwrap();
            drop(stream);
            closing.notify_one();
        }
    });
    let other = Server::start(|_| reply(200, "hello")).await;
    let client = client(&["127.0.0.1"]);
    for _ in 0..20 {
        assert_eq!(get(&client, &url).await.unwrap().body, "hi");
        closed.notified().await;
        // News from this server come no later than that the first one has closed.
        get(&client, &other.url("/")).await.unwrap();
    }
}
