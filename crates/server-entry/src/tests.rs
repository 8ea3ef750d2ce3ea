use std::time::Duration;

use egress::http::Rule;

use super::*;

fn stdio(command: &str) -> ServerConfig {
    ServerConfig { command: Some(command.to_owned()), ..ServerConfig::default() }
}

fn at(url: &str) -> ServerConfig {
    ServerConfig { url: Some(url.to_owned()), ..ServerConfig::default() }
}

#[test]
fn a_bad_entry_names_its_key() {
    let headers = |name: &str, value: &str| ServerConfig {
        headers: [(name.to_owned(), value.to_owned())].into(),
        ..at("http://a.test/mcp")
    };
    let both = ServerConfig { command: Some("x".to_owned()), ..at("http://a.test/mcp") };
    let renamed =
        ServerConfig { rename: [("a".to_owned(), "two words".to_owned())].into(), ..stdio("x") };
    let hasty = ServerConfig { timeout: Some(Duration::ZERO), ..stdio("x") };
    let sse = |config: ServerConfig| ServerConfig { transport: UrlTransport::Sse, ..config };
    let modern = |config: ServerConfig| ServerConfig { era: EraChoice::Modern, ..config };
    let document = ServerConfig {
        kind: Kind::Openapi,
        document: Some("pets.json".to_owned()),
        ..ServerConfig::default()
    };
    for (server, config, key) in [
        ("a", sse(stdio("x")), "transport"),
        ("a", modern(sse(at("http://a.test/mcp"))), "era"),
        ("a", modern(document), "era"),
        ("a__b", stdio("x"), "name"),
        ("a b", stdio("x"), "name"),
        ("a:b", stdio("x"), "name"),
        ("", stdio("x"), "name"),
        ("a", ServerConfig::default(), "command"),
        ("a", stdio(" "), "command"),
        ("a", both, "url"),
        ("a", at("ftp://a.test"), "url"),
        ("a", at("http://user:pw@a.test"), "url"),
        ("a", at("nonsense"), "url"),
        ("a", headers("x y", "1"), "headers"),
        ("a", headers("x", "s3cret\n"), "headers"),
        ("a", headers("Mcp-Session-Id", "1"), "headers"),
        ("a", renamed, "rename"),
        ("a", hasty, "timeout"),
    ] {
        let fault = config.check(server).unwrap_err();
        assert_eq!(fault.key, key, "{fault}");
        assert!(!fault.to_string().contains("s3cret"), "{fault}");
    }
    assert_eq!(stdio("x").check("a"), Ok(()));
    assert_eq!(at("http://127.0.0.1:1/mcp").check("doc-parser-mcp"), Ok(()));
}

#[test]
fn secrets_are_not_shown() {
    let config = ServerConfig {
        headers: [("x-api-key".to_owned(), "canary".to_owned())].into(),
        env: [("TOKEN".to_owned(), "canary".to_owned())].into(),
        args: vec!["--key=canary".to_owned()],
        ..at("https://canary.test/mcp")
    };
    let shown = format!("{config:?}");
    assert!(shown.contains("x-api-key") && !shown.contains("canary"), "{shown}");
}

#[test]
fn another_program_is_another_origin() {
    let with = |args: &[&str]| ServerConfig {
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        ..stdio("x")
    };
    assert_ne!(with(&["a", "b"]).origin(), with(&["ab"]).origin());
    assert_eq!(with(&["a"]).origin(), ServerConfig { shared: true, ..with(&["a"]) }.origin());
}

#[test]
fn a_server_that_named_itself_opens_the_way_to_this_machine_at_most() {
    let urls = ["http://127.0.0.1:8080/mcp", "http://[::1]:8080/", "http://localhost:8080/mcp"];
    let others = [
        "http://10.1.2.3/mcp",
        "http://169.254.169.254/",
        "http://127.0.0.1.evil.com/",
        "http://evil.com/",
    ];
    let config = |reach| ServerConfig {
        urls: urls.iter().chain(&others).map(|url| (*url).to_owned()).collect(),
        reach,
        ..ServerConfig::default()
    };
    assert_eq!(config(Reach::Named).rules().len(), urls.len() + others.len());
    let opened = urls.iter().map(|url| Rule::for_url(url).expect("a rule")).collect::<Vec<_>>();
    assert_eq!(config(Reach::Loopback).rules(), opened);
    assert_eq!(config(Reach::Policy).rules(), []);
}
