//! Redirects: followed by hand, each checked like a first request.

use std::sync::Arc;

use bytes::Bytes;
use egress::http::{FetchError, Limits, Refusal, Request, Scope};
use http::{HeaderValue, Method};

use crate::http::server::{Script, Server, client, get, get_within, redirect, reply, scripted};

/// `/301/to/<anything>` redirects with that status to that place, the rest says hello.
async fn signpost() -> Server {
    Server::start(|seen| match seen.target[1..].split_once("/to/") {
        Some((status, place)) => redirect(status.parse().unwrap(), place),
        None => reply(200, "arrived"),
    })
    .await
}

#[tokio::test]
async fn redirects_are_followed_to_where_they_lead() {
    let server = signpost().await;
    let client = client(&["127.0.0.1"]);
    for status in [301, 302, 303, 307, 308] {
        let answer = get(&client, &server.url(&format!("/{status}/to//end?x=1"))).await.unwrap();
        assert_eq!(
            (&answer.body[..], answer.final_url.as_str()),
            (&b"arrived"[..], server.url("/end?x=1").as_str())
        );
    }
}

#[tokio::test]
async fn a_redirect_hides_what_a_post_has_done() {
    let server = signpost().await;
    let client = client(&["127.0.0.1"]);
    let send = async |method: Method, path: &str| {
        let request = Request { method, ..Request::get(server.url(path)) };
        client.send(request, &Limits::default(), &Scope::everything()).await
    };
    for (status, taken) in [(301, true), (302, true), (303, true), (307, false), (308, false)] {
        let (arrives, fails) = (format!("/{status}/to//end"), format!("/{status}/to/ftp://x/"));
        assert_eq!(send(Method::POST, &arrives).await.unwrap().redirected, taken, "{status}");
        assert!(!send(Method::GET, &arrives).await.unwrap().redirected, "{status}");
        let refused = FetchError::Refused(Refusal::Scheme("ftp".to_owned()));
        assert_eq!(send(Method::GET, &fails).await.unwrap_err(), refused, "{status}");
        let expected = if taken { FetchError::Redirected(Box::new(refused)) } else { refused };
        assert_eq!(send(Method::POST, &fails).await.unwrap_err(), expected, "{status}");
    }
}

#[tokio::test]
async fn a_chain_that_ends_in_a_private_place_is_refused() {
    let server = signpost().await;
    let private = Server::start(|_| reply(200, "secret")).await;
    let client = client(&[&format!("127.0.0.1:{}", server.port())]);
    let port = private.port();
    for place in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("//127.1:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[64:ff9b::a9fe:a9fe]/".to_owned(),
        "http://10.0.0.1/".to_owned(),
    ] {
        for status in [301, 302, 303, 307, 308] {
            let hop =
                server.url(&format!("/302/to/{}", server.url(&format!("/{status}/to/{place}"))));
            let refused = get(&client, &hop).await.unwrap_err();
            assert!(
                matches!(refused, FetchError::Refused(Refusal::Address { .. })),
                "{place}: {refused:?}"
            );
        }
    }
    for (place, expected) in [
        ("file:///etc/passwd", Refusal::Scheme("file".to_owned())),
        ("gopher://127.0.0.1/", Refusal::Scheme("gopher".to_owned())),
        ("http://user:pw@127.0.0.1/", Refusal::Userinfo),
    ] {
        let refused = get(&client, &server.url(&format!("/302/to/{place}"))).await.unwrap_err();
        assert_eq!(refused, FetchError::Refused(expected), "{place}");
    }
    assert_eq!(private.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_a_name_with_a_private_address_is_refused() {
    let server = signpost().await;
    let script = Arc::new(Script::default().name("inner.test", &[&["10.0.0.1"]]));
    let client = scripted(&["127.0.0.1"], &script);
    let refused = get(&client, &server.url("/302/to/http://inner.test/")).await.unwrap_err();
    assert!(matches!(refused, FetchError::Refused(Refusal::Address { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_redirect_out_of_the_tools_scope_is_refused() {
    let (server, other) = (signpost().await, signpost().await);
    let scope = Scope::parse([server.address.to_string()]).unwrap();
    let request = Request::get(server.url(&format!("/307/to/{}", other.url("/"))));
    let refused =
        client(&["127.0.0.1"]).send(request, &Limits::default(), &scope).await.unwrap_err();
    assert!(matches!(refused, FetchError::Refused(Refusal::Scope { .. })), "{refused:?}");
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn endless_redirects_end_after_five() {
    let server = Server::start(|_| redirect(302, "/again")).await;
    let client = client(&["127.0.0.1"]);
    let refused = get(&client, &server.url("/")).await.unwrap_err();
    assert_eq!(refused, FetchError::Refused(Refusal::Redirects { limit: 5 }));
    assert_eq!(server.seen().len(), 6);
    // A caller can ask for fewer, not for more.
    for (asked, limit) in [(0, 0), (2, 2), (200, 5)] {
        let limits = Limits { max_redirects: asked, ..Limits::default() };
        let refused = get_within(&client, &server.url("/"), &limits).await.unwrap_err();
        assert_eq!(refused, FetchError::Refused(Refusal::Redirects { limit }));
    }
}

fn with_credentials(url: String) -> Request {
    let mut request = Request::get(url);
    for name in ["authorization", "cookie", "proxy-authorization", "x-api-key", "x-plain"] {
        request.headers.insert(name, HeaderValue::from_static("canary"));
    }
    let mut secret = HeaderValue::from_static("canary");
    secret.set_sensitive(true);
    request.headers.insert("x-shop-token", secret);
    request
}

const SECRETS: [&str; 5] =
    ["authorization", "cookie", "proxy-authorization", "x-api-key", "x-shop-token"];

#[tokio::test]
async fn credentials_stay_within_one_origin() {
    let server = signpost().await;
    let request = with_credentials(server.url("/302/to//end"));
    client(&["127.0.0.1"]).send(request, &Limits::default(), &Scope::everything()).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    for name in SECRETS {
        assert_eq!(seen[1].header(name), Some("canary"), "{name}");
    }
}

#[tokio::test]
async fn credentials_are_dropped_across_origins_and_never_come_back() {
    let (server, other) = (signpost().await, signpost().await);
    let script = Arc::new(Script::default().name("home.test", &[&["127.0.0.1"]]));
    let client = scripted(&["127.0.0.1"], &script);
    let home = format!("http://home.test:{}", server.port());
    let elsewhere =
        [other.url(&format!("/307/to/{home}/back")), server.url(&format!("/307/to/{home}/back"))];
    for (round, away) in elsewhere.into_iter().enumerate() {
        let request = with_credentials(format!("{home}/307/to/{away}"));
        client.send(request, &Limits::default(), &Scope::everything()).await.unwrap();
        let back = server.seen().pop().unwrap();
        assert_eq!(back.target, "/back");
        let mut later = vec![back];
        later.extend(other.seen());
        for (seen, name) in
            later.iter().flat_map(|seen| SECRETS.iter().map(move |name| (seen, name)))
        {
            assert_eq!(seen.header(name), None, "{name} at {} in round {round}", seen.target);
        }
        assert!(later.iter().all(|seen| seen.header("x-plain") == Some("canary")));
    }
    assert_eq!(
        server.seen()[0].header("authorization"),
        Some("canary"),
        "the first origin gets them"
    );
}

#[tokio::test]
async fn a_post_turns_into_a_get_where_browsers_do_it() {
    let server = signpost().await;
    let client = client(&["127.0.0.1"]);
    for (status, method, body) in [
        (302, Method::GET, ""),
        (303, Method::GET, ""),
        (307, Method::POST, "body"),
        (308, Method::POST, "body"),
    ] {
        let mut request = Request::get(server.url(&format!("/{status}/to//end")));
        request.method = Method::POST;
        request.body = Bytes::from_static(b"body").into();
        client.send(request, &Limits::default(), &Scope::everything()).await.unwrap();
        let seen = server.seen().pop().unwrap();
        assert_eq!((seen.method, &seen.body[..]), (method, body.as_bytes()), "{status}");
    }
}
