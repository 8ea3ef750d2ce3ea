//! Names, and the games that can be played with their answers.

use std::sync::Arc;

use egress::http::{Class, Client, FetchError, Refusal};

use crate::http::server::{Reply, Script, Server, get, policy, reply, scripted};

fn closing() -> Reply {
    let mut reply = reply(200, "hello");
    reply.headers_mut().insert("connection", "close".parse().unwrap());
    reply
}

fn address_refused(error: &FetchError, expected: Class) -> bool {
    matches!(error, FetchError::Refused(Refusal::Address { class, .. }) if *class == expected)
}

#[tokio::test]
async fn a_name_is_resolved_once_and_sent_as_host() {
    let server = Server::start(|_| closing()).await;
    let script = Arc::new(Script::default().name("site.test", &[&["127.0.0.1"]]));
    let client = scripted(&["127.0.0.1"], &script);
    let answer = get(&client, &format!("http://Site.TEST.:{}/", server.port())).await.unwrap();
    assert_eq!(answer.final_url.host_str(), Some("site.test"));
    assert_eq!(script.asked("site.test"), 1);
    assert_eq!(
        server.seen()[0].header("host"),
        Some(format!("site.test:{}", server.port()).as_str())
    );
}

/// Loopback on the server's port plays the public address: the rule makes the first answer fine.
/// The second answer of the name is checked again and never dialled.
#[tokio::test]
async fn a_name_that_flips_to_a_private_address_is_refused() {
    let server = Server::start(|_| closing()).await;
    for (flipped, class) in [
        ("127.0.0.2", Class::Loopback),
        ("::1", Class::Loopback),
        ("10.0.0.1", Class::Private),
        ("169.254.169.254", Class::LinkLocal),
        ("::ffff:127.0.0.1", Class::EmbeddedV4),
        ("64:ff9b::7f00:1", Class::Tunnel),
        ("2002:7f00:1::", Class::Tunnel),
        ("0.0.0.0", Class::Unspecified),
    ] {
        let script = Arc::new(Script::default().name("flip.test", &[&["127.0.0.1"], &[flipped]]));
        let client = scripted(&[&format!("127.0.0.1:{}", server.port())], &script);
        let url = format!("http://flip.test:{}/", server.port());
        assert!(get(&client, &url).await.is_ok(), "{flipped}");
        let refused = get(&client, &url).await.unwrap_err();
        assert!(address_refused(&refused, class), "{flipped}: {refused:?}");
        assert_eq!(script.asked("flip.test"), 2, "one lookup for each connection");
    }
}

/// The classic: good while checked, bad when dialled. With one lookup there is no second answer to dial.
#[tokio::test]
async fn a_name_cannot_change_between_check_and_connection() {
    let server = Server::start(|_| closing()).await;
    let script =
        Arc::new(Script::default().name("flip.test", &[&["127.0.0.1"], &["127.0.0.2"], &["::1"]]));
    let client = scripted(&[&format!("127.0.0.1:{}", server.port())], &script);
    let answer = get(&client, &format!("http://flip.test:{}/", server.port())).await.unwrap();
    assert_eq!(&answer.body[..], b"hello");
    assert_eq!((script.asked("flip.test"), server.connections()), (1, 1));
}

/// The good address is the server itself, so an answer would come if anyone looked at it alone.
#[tokio::test]
async fn one_bad_address_among_good_ones_refuses_the_name() {
    let server = Server::start(|_| reply(200, "reached")).await;
    for answer in [
        &["127.0.0.1", "127.0.0.2"][..],
        &["127.0.0.2", "127.0.0.1"],
        &["127.0.0.1", "::1"],
        &["127.0.0.1", "127.0.0.1", "127.0.0.1", "::ffff:127.0.0.1"],
    ] {
        let script = Arc::new(Script::default().name("mixed.test", &[answer]));
        let client = scripted(&[&format!("127.0.0.1:{}", server.port())], &script);
        let url = format!("http://mixed.test:{}/", server.port());
        let refused = get(&client, &url).await.unwrap_err();
        assert!(
            matches!(refused, FetchError::Refused(Refusal::Address { .. })),
            "{answer:?}: {refused:?}"
        );
    }
    assert_eq!(server.connections(), 0);
}

/// More addresses than are ever tried: the bad one at the end still refuses the name.
#[tokio::test]
async fn an_address_that_would_never_be_tried_is_checked_too() {
    let server = Server::start(|_| reply(200, "reached")).await;
    let mut answer = vec!["127.0.0.1"; 30];
    answer.push("127.0.0.2");
    let script = Arc::new(Script::default().name("long.test", &[&answer]));
    let client = scripted(&[&format!("127.0.0.1:{}", server.port())], &script);
    let refused = get(&client, &format!("http://long.test:{}/", server.port())).await.unwrap_err();
    assert!(address_refused(&refused, Class::Loopback), "{refused:?}");
}

#[tokio::test]
async fn metadata_names_are_refused_by_their_addresses() {
    let script = Arc::new(
        Script::default()
            .name("metadata.google.internal", &[&["169.254.169.254"]])
            .name("instance-data", &[&["169.254.169.254"]]),
    );
    // Even a rule that names the host opens no link-local address.
    let client = scripted(&["metadata.google.internal", "instance-data:80"], &script);
    for url in [
        "http://metadata.google.internal/",
        "http://METADATA.google.internal./",
        "http://instance-data/",
    ] {
        let refused = get(&client, url).await.unwrap_err();
        assert!(address_refused(&refused, Class::LinkLocal), "{url}: {refused:?}");
    }
}

#[tokio::test]
async fn unknown_and_empty_names_are_resolve_errors() {
    let script = Arc::new(Script::default().name("empty.test", &[&[]]));
    let client = scripted(&[], &script);
    for name in ["unknown.test", "empty.test"] {
        let error = get(&client, &format!("http://{name}/")).await.unwrap_err();
        assert_eq!(error, FetchError::Resolve { host: name.to_owned() });
        assert_eq!(error.to_string(), "the name cannot be resolved");
    }
}

#[tokio::test]
async fn the_machines_resolver_knows_localhost() {
    let server = Server::start(|_| reply(200, "hello")).await;
    let url = format!("http://localhost:{}/", server.port());
    let refused = get(&Client::new(policy(&[])).unwrap(), &url).await.unwrap_err();
    assert!(address_refused(&refused, Class::Loopback), "{refused:?}");
    assert!(get(&Client::new(policy(&["localhost"])).unwrap(), &url).await.is_ok());
}
