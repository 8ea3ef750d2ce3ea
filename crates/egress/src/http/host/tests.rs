use url::Host;

use super::{HostPattern, normal};

fn matches(pattern: &str, host: &str, port: u16) -> bool {
    let host = normal(Host::parse(host).unwrap()).unwrap();
    HostPattern::parse(pattern).unwrap().matches(&host, port)
}

#[test]
fn hosts_match_in_any_spelling_and_only_on_their_port() {
    assert!(matches("api.example.com", "API.example.com", 443));
    assert!(matches("api.example.com.", "api.example.com", 443));
    assert!(matches("api.example.com", "api.example.com.", 80));
    assert!(matches("bücher.example", "xn--bcher-kva.example", 80));
    assert!(matches("host:8080", "host", 8080));
    assert!(!matches("host:8080", "host", 8081));
    assert!(!matches("example.com", "api.example.com", 443));
    assert!(!matches("example.com", "example.com.evil.net", 443));
    assert!(matches("::1", "[::1]", 80));
    assert!(matches("[::1]", "[::1]", 80));
    assert!(matches("[::1]:80", "[::1]", 80));
    assert!(!matches("[::1]:80", "[::1]", 81));
    assert!(matches("127.0.0.1:80", "2130706433", 80));
}

#[test]
fn a_wildcard_matches_names_below_and_nothing_else() {
    assert!(matches("*.example.com", "api.example.com", 443));
    assert!(matches("*.example.com", "a.b.example.com", 443));
    assert!(!matches("*.example.com", "example.com", 443));
    assert!(!matches("*.example.com", "evilexample.com", 443));
    assert!(!matches("*.example.com", "api.example.com.evil.net", 443));
    assert!(!matches("*.example.com:443", "api.example.com", 80));
}

#[test]
fn unusable_patterns_are_named() {
    for entry in [
        "",
        "*",
        "*.",
        "a*.example.com",
        "*.*.com",
        "*.10.0.0.1",
        "host:",
        "host:0",
        "host:65536",
        "host:+80",
        "host:x",
        "a b",
        "a/b",
        "user@host",
        "host?x",
        "[::1",
        "[::1]x",
        "http:",
        "a..b",
        "..",
        "1.2.3.4.5",
        "0x100000000",
    ] {
        let error = HostPattern::parse(entry).unwrap_err();
        assert_eq!(error.entry, entry);
    }
}
