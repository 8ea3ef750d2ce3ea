//! What is refused before anything is dialled.

use std::net::SocketAddr;

use egress::http::{
    AddressPolicy, Client, FetchError, Limits, OwnListeners, Refusal, Request, Rule, Scope,
};
use http::{HeaderValue, Method};
use testkit::web::{METADATA_HOSTS, forbidden_hosts};
use tokio::net::{TcpListener, TcpSocket};

use crate::http::server::{Server, client, get, policy, reply};

#[tokio::test]
async fn loopback_is_closed_until_a_rule_opens_it() {
    let server = Server::start(|_| reply(200, "hello")).await;
    let refused = get(&client(&[]), &server.url("/")).await.unwrap_err();
    assert!(matches!(refused, FetchError::Refused(Refusal::Address { .. })), "{refused:?}");
    assert_eq!(server.connections(), 0);

    let answer = get(&client(&["127.0.0.1"]), &server.url("/x?y=1#z")).await.unwrap();
    assert_eq!((answer.status.as_u16(), &answer.body[..]), (200, &b"hello"[..]));
    assert_eq!(answer.final_url.as_str(), server.url("/x?y=1"));
    let seen = &server.seen()[0];
    assert_eq!(
        (seen.target.as_str(), seen.header("host")),
        ("/x?y=1", Some(server.address.to_string().as_str()))
    );
}

/// A client remembers how the last address reads, and nothing of what it was allowed.
#[tokio::test]
async fn an_address_that_was_just_reached_is_checked_again() {
    let server = Server::start(|_| reply(200, "hello")).await;
    let (client, url) = (client(&["127.0.0.1"]), server.url("/"));
    get(&client, &url).await.unwrap();
    let elsewhere = Scope::parse(["api.example.com"]).unwrap();
    let refused =
        client.send(Request::get(&url), &Limits::default(), &elsewhere).await.unwrap_err();
    assert!(matches!(refused, FetchError::Refused(Refusal::Scope { .. })), "{refused:?}");
    assert_eq!(server.seen().len(), 1);
    let other = Server::start(|_| reply(200, "other")).await;
    assert_eq!(get(&client, &other.url("/")).await.unwrap().body, "other");
    assert_eq!(get(&client, &url).await.unwrap().body, "hello");
}

/// Each spelling of loopback would reach the server if anyone dialled it; none may.
#[tokio::test]
async fn no_host_outside_the_public_internet_is_dialled() {
    let server = Server::start(|_| reply(200, "reached")).await;
    let client = client(&[]);
    for host in forbidden_hosts() {
        let refused = get(&client, &format!("http://{host}:{}/", server.port())).await.unwrap_err();
        assert!(
            matches!(refused, FetchError::Refused(Refusal::Address { .. })),
            "{host}: {refused:?}"
        );
    }
    assert_eq!(server.connections(), 0);
}

/// A rule for IPv4 loopback opens every spelling of that one address, and no address that embeds it.
#[tokio::test]
async fn a_rule_for_loopback_opens_the_address_and_not_its_disguises() {
    let server = Server::start(|_| reply(200, "reached")).await;
    let client = client(&["127.0.0.1"]);
    for host in ["127.0.0.1", "127.1", "0x7f000001", "127.0.0.1."] {
        assert!(get(&client, &format!("http://{host}:{}/", server.port())).await.is_ok(), "{host}");
    }
    for host in ["[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[::1]", "0.0.0.0", "127.0.0.2"] {
        let refused = get(&client, &format!("http://{host}:{}/", server.port())).await.unwrap_err();
        assert!(
            matches!(refused, FetchError::Refused(Refusal::Address { .. })),
            "{host}: {refused:?}"
        );
    }
}

/// The networks around a metadata service may be open.
#[tokio::test]
async fn metadata_services_are_refused() {
    let client = client(&["127.0.0.1", "10.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "fd00::/8"]);
    for host in METADATA_HOSTS {
        let refused = get(&client, &format!("http://{host}/latest/meta-data/")).await.unwrap_err();
        assert!(
            matches!(refused, FetchError::Refused(Refusal::Address { .. })),
            "{host}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn userinfo_and_other_schemes_are_refused() {
    let client = client(&["127.0.0.1"]);
    for url in ["http://user:secret@127.0.0.1/", "http://user@127.0.0.1/"] {
        assert_eq!(get(&client, url).await.unwrap_err(), FetchError::Refused(Refusal::Userinfo));
    }
    for url in [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "gopher://127.0.0.1:6379/_x",
        "data:,x",
        "ws://127.0.0.1/",
    ] {
        let refused = get(&client, url).await.unwrap_err();
        assert!(matches!(refused, FetchError::Refused(Refusal::Scheme(_))), "{url}: {refused:?}");
    }
    assert!(matches!(get(&client, "not a url").await, Err(FetchError::Refused(Refusal::Url(_)))));
}

#[tokio::test]
async fn a_request_outside_the_tools_scope_is_refused() {
    let server = Server::start(|_| reply(200, "hello")).await;
    let client = client(&["127.0.0.1"]);
    let limits = Limits::default();
    let port = server.port();
    let send = async |entries: &[&str]| {
        let scope = Scope::parse(entries).unwrap();
        client.send(Request::get(server.url("/")), &limits, &scope).await
    };
    for entries in
        [&[][..], &["https"], &["api.example.com"], &["127.0.0.1:1"], &["https", "127.0.0.1"]]
    {
        let refused = send(entries).await.unwrap_err();
        let expected = Refusal::Scope { scheme: "http".into(), host: "127.0.0.1".into(), port };
        assert_eq!(refused, FetchError::Refused(expected), "{entries:?}");
    }
    assert_eq!(server.connections(), 0);
    for entries in [
        &["http"][..],
        &["127.0.0.1"],
        &[format!("127.0.0.1:{port}").as_str()],
        &["http", "127.0.0.1"],
    ] {
        assert!(send(entries).await.is_ok(), "{entries:?}");
    }
}

#[tokio::test]
async fn callers_cannot_set_framing_headers() {
    let server = Server::start(|_| reply(200, "hello")).await;
    let client = client(&["127.0.0.1"]);
    for name in [
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "upgrade",
        "te",
        "proxy-connection",
    ] {
        let mut request = Request::get(server.url("/"));
        request.headers.insert(name, HeaderValue::from_static("evil.test"));
        let refused =
            client.send(request, &Limits::default(), &Scope::everything()).await.unwrap_err();
        assert_eq!(refused, FetchError::Refused(Refusal::Header(name.to_owned())));
    }
    let mut request = Request::get(server.url("/"));
    request.method = Method::CONNECT;
    let refused = client.send(request, &Limits::default(), &Scope::everything()).await.unwrap_err();
    assert_eq!(refused, FetchError::Refused(Refusal::Method("CONNECT".to_owned())));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn our_own_listener_is_refused_even_where_loopback_is_open() {
    let server = Server::start(|_| reply(200, "the gateway itself")).await;
    let own = OwnListeners::default();
    let policy = AddressPolicy::new(
        vec!["127.0.0.0/8".parse().unwrap(), "localhost".parse().unwrap()],
        own.clone(),
    );
    let client = Client::new(policy).unwrap();
    assert!(get(&client, &server.url("/")).await.is_ok());

    own.register(server.address);
    let before = server.seen().len();
    let refused = FetchError::Refused(Refusal::OwnListener { address: server.address });
    assert_eq!(get(&client, &server.url("/")).await.unwrap_err(), refused);
    own.forget(server.address);
    own.register(SocketAddr::from(([0, 0, 0, 0], server.port())));
    assert_eq!(get(&client, &server.url("/")).await.unwrap_err(), refused);
    let other = get(&client, &format!("http://127.0.0.77:{}/", server.port())).await.unwrap_err();
    assert!(matches!(other, FetchError::Refused(Refusal::OwnListener { .. })), "{other:?}");
    assert_eq!(server.seen().len(), before);
}

#[tokio::test]
async fn a_configured_server_is_reached_under_a_policy_of_its_own() {
    let server = Server::start(|_| reply(200, "hello")).await;
    let other = Server::start(|_| reply(200, "hello")).await;
    let tools = client(&[]);
    let upstream =
        tools.with_policy(policy(&[]).allowing(Rule::for_url(&server.url("/mcp")).unwrap()));
    assert!(get(&upstream, &server.url("/mcp")).await.is_ok());
    assert!(matches!(get(&upstream, &other.url("/mcp")).await, Err(FetchError::Refused(_))));
    // The connection that the upstream's client left open is not for tools.
    assert!(matches!(get(&tools, &server.url("/mcp")).await, Err(FetchError::Refused(_))));
}

#[tokio::test]
async fn a_closed_port_is_a_connect_error() {
    // Bound and not listening: no other process can listen there.
    let silent = TcpSocket::new_v4().unwrap();
    silent.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = silent.local_addr().unwrap();
    let error =
        get(&client(&["127.0.0.1"]), &format!("http://{address}/?token=hush")).await.unwrap_err();
    assert!(matches!(&error, FetchError::Connect { host, .. } if host == "127.0.0.1"), "{error:?}");
    assert!(!error.to_string().contains("hush"));
}

#[tokio::test]
async fn proxy_variables_have_no_effect() {
    let trap = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://{}", trap.local_addr().unwrap());
    // Another process runs a plain test under the variables, because a test must not change its own environment.
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "http::guard::loopback_is_closed_until_a_rule_opens_it"]);
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    {
        child.env(name, &proxy);
    }
    child.env_remove("NO_PROXY").env_remove("no_proxy");
    let output = child.output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    let caught = std::pin::pin!(trap.accept());
    assert!(futures_util::poll!(caught).is_pending(), "someone called the proxy");
}
